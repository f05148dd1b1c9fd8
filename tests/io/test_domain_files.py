"""Domain files: what is public, as people write it down."""

from __future__ import annotations

import pytest

from hedgerow import Domain
from hedgerow.errors import DomainError, ReadError, UndeclaredDomain
from hedgerow.io.domains import draft_domain, read_domain


def test_domain_files(tmp_path):
    path = tmp_path / "domain.toml"
    (tmp_path / "items.txt").write_text("tea\tdrinks\nbread\tfood\tbaked\n")
    for text, values, paths in (
        ('[item]\nvalues = ["tea", "bread"]\n', ("tea", "bread"), ()),
        ("[item]\nlow = 1\nhigh = 5\nstep = 2\n", (1, 3, 5), ()),
        ('[item]\nfile = "items.txt"\n', ("tea", "bread"), (("drinks",), ("food", "baked"))),
        ('[item]\nvalues = [1, 2]\npaths = ["a/b", "a"]\n', (1, 2), (("a", "b"), ("a",))),
    ):
        path.write_text(f"records_per_person = 3\n{text}")
        domain = read_domain(path)
        assert domain.values("item") == values
        assert domain.axis("item").paths == paths
        assert domain.records_per_person == 3


@pytest.mark.parametrize("values", [["tea", 'br"ea\\d', "ü\n"], [1, 2, 3], [3, 1], [-4]])
def test_a_draft_is_a_domain_file(tmp_path, values):
    path = tmp_path / "domain.toml"
    draft = draft_domain(Domain.declare(item=values))
    path.write_text(draft)
    with pytest.raises(UndeclaredDomain, match="is a draft that was read from private data; make"):
        read_domain(path)
    path.write_text(draft.replace("read_from_private_data = true\n", ""))
    assert read_domain(path).values("item") == tuple(values)


def test_a_draft_may_have_any_name_and_value(tmp_path):
    path = tmp_path / "domain.toml"
    domain = Domain.declare(**{"blood type": ["A+", "\x7f"], "a.b": ["x"], "é": ["y"]})
    path.write_text(draft_domain(domain).replace("read_from_private_data = true\n", ""))
    assert read_domain(path).axes == domain.axes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[item", "is not a TOML file"),
        ("", "declares no axis; write a section such as"),
        ("item = 3\n", "'item' must be a section"),
        ("[item]\nlow = 1\n", "low, high and step must be whole numbers"),
        ("[item]\nlow = 1\nhigh = 0\n", "must hold between 1 and"),
        ("[item]\nlow = 1\nhigh = 99999999999\n", "must hold between 1 and"),
        ("[item]\nvalues = 3\n", "values must be a list"),
        ("[item]\nvalues = [1.5]\n", "must be all text or all whole numbers"),
        ("[item]\nvalues = [1, 1]\n", "must be distinct"),
        ("[item]\nvalues = [1]\nlow = 1\n", "needs one of values, file, gtfs, or low and high"),
        ("[item]\nvalue = [1]\n", "has an unknown field 'value'"),
        (f"x = {'[' * 9999}", "is not a TOML file"),
        (f"[item]\nlow = {'9' * 5000}\nhigh = 1\n", "is not a TOML file"),
        (f"[item]\nlow = 1\nhigh = {'9' * 30}\n", "must hold between 1 and"),
        ("[item]\nvalues = [1]\nstep = 2\n", "step needs low and high"),
        ('[item]\nfile = "nowhere"\n', "there is no file"),
        ("[item]\nvalues = [1]\npaths = [1]\n", "paths must be a list of texts"),
        ('[item]\nvalues = [1]\npaths = ["a", "b"]\n', "needs as many paths"),
        ("records_per_person = 0\n[item]\nvalues = [1]\n", "records_per_person must be a whole"),
    ],
)
def test_bad_domain_files(tmp_path, text, message):
    path = tmp_path / "domain.toml"
    path.write_text(text)
    with pytest.raises((DomainError, ReadError), match=message):
        read_domain(path)
