"""Domain files: what is public, as people write it down."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import pytest
from terminal import run

from hedgerow import Domain, read
from hedgerow.errors import DomainError, ReadError, UndeclaredDomain
from hedgerow.formats.domains import draft_domain, read_domain
from hedgerow.kinds.records.schema_file import read_hierarchy


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


def test_values_of_a_file_are_taken_exactly(tmp_path):
    """An item of a shop is `cream cheese` with a blank behind it: stripped, it was never found."""
    path, items = tmp_path / "domain.toml", tmp_path / "items.txt"
    path.write_text('[item]\nfile = "items.txt"\n')
    values = ("cream cheese ", " tea", "tea", "tea\x85", "\x0bmilk", "a\u2028b")
    for end in ("\n", "\r\n"):
        items.write_bytes("".join(value + end for value in values).encode())
        assert read_domain(path).values("item") == values
    (tmp_path / "a.csv").write_text("unit,item\n" + "".join(f"{unit},cream cheese \n" for unit in range(200)))
    items.write_text("cream cheese \nmilk\n")
    publish = "publish a.csv --kind sets --method noisy-singletons --epsilon 1 --unit record --domain domain.toml"
    assert run(f"{publish} --out R", tmp_path).code == 0
    assert "cream cheese \n" in (tmp_path / "R" / "data.csv").read_text()
    items.write_text("cream cheese\nmilk\n")
    ran = run(f"{publish} --out S", tmp_path)
    assert (ran.code, "declare it (blanks around it count)" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tea\n  \nmilk\n", "items.txt:2: the line has blanks and no value; remove them"),
        ("tea\n\tfood\n", "items.txt:2: the line has blanks and no value; remove them"),
        ("1\n2\n\n 3\n", "items.txt:4: there are blanks around the number; remove them"),
        ("1\t10\n2 \t10\n", "items.txt:2: there are blanks around the number; remove them"),
        ("tea\tdrinks\nmilk\tdrinks \n", "items.txt:2: a group has blanks around it, or no name; remove the blanks"),
        ("tea\nmilk \t\n", "items.txt:2: a group has blanks around it, or no name; .* the tab before it"),
    ],
)
def test_blanks_that_nobody_means_are_refused_with_their_line(tmp_path, text, message):
    (tmp_path / "domain.toml").write_text('[item]\nfile = "items.txt"\n')
    (tmp_path / "items.txt").write_text(text)
    with pytest.raises(DomainError, match=message):
        read_domain(tmp_path / "domain.toml")


def test_stops_and_values_of_hierarchies_are_taken_exactly(tmp_path):
    (tmp_path / "domain.toml").write_text('[place]\ngtfs = "stops.txt"\n')
    (tmp_path / "stops.txt").write_text("stop_id, stop_lat, stop_lon\nA ,1.5, 2\nB,1, 3\n")
    axis = read_domain(tmp_path / "domain.toml").axis("place")
    assert (axis.values, axis.coordinates) == (("A ", "B"), ((2.0, 1.5), (3.0, 1.0)))
    (tmp_path / "course.csv").write_text("CS1 ; CS ;*\r\nCS2;CS;*\r\n")
    axis = read_hierarchy({"file": "course.csv"}, tmp_path, "course")
    assert (axis.values, axis.paths) == (("CS1 ", "CS2"), (("CS",), ("CS",)))
    (tmp_path / "course.csv").write_text("1993;199*\n1994 ;199*\n")
    with pytest.raises(DomainError, match=r"course\.csv:2: there are blanks around the number; remove them \(course\)"):
        read_hierarchy({"file": "course.csv"}, tmp_path, "course")
    (tmp_path / "course.csv").write_text("CS1;CS\n ;CS\n")
    with pytest.raises(DomainError, match=r"course\.csv:2: the line has no value"):
        read_hierarchy({"file": "course.csv"}, tmp_path, "course")


@pytest.mark.slow
def test_the_items_of_groceries_are_found_as_they_are_written(tmp_path):
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    place = Path(folder) / "groceries"
    baskets = gzip.decompress((place / "groceries.csv.gz").read_bytes()).decode().splitlines()
    items = [row[0] for row in csv.reader((place / "taxonomy.csv").read_text().splitlines())][1:]
    (tmp_path / "items.txt").write_text("".join(f"{item}\n" for item in items))
    (tmp_path / "d.toml").write_text('[item]\nfile = "items.txt"\n')
    domain = read_domain(tmp_path / "d.toml")
    data = read([basket.split(",") for basket in baskets], kind="sets", domain=domain)
    assert "cream cheese " in domain.values("item")
    assert len(data) == 9_835
