"""Long accounts: our own entries are read by a pattern, and mean what the library reads."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction

import pytest
from terminal import run

from hedgerow.formats import toml
from hedgerow.releases import account as epsilon_account
from hedgerow.releases.account import Account, settle_account, with_fields
from hedgerow.testing.mutants import changed

HEAD = 'total = "9000"\nunit = "record"\n'
ENTRY = (
    '\n[[releases]]\nid = "k{0}"\nstate = "{1}"\nepsilon = "1/{0}"\nmade = "2026-01-01"\nmethod = "m"\nout = "R{0}"\n'
)


def long(entries: int, state: str = "out") -> str:
    return HEAD + "".join(ENTRY.format(number + 1, state) for number in range(entries))


AWKWARD = [
    HEAD,
    long(3),
    long(2) + "\n\n# the end\n",
    long(2).replace('"k1"', "'k1'"),
    long(2).replace('"R1"', '"R\\"1"'),
    long(2).replace('"R1"', '"""\n[[releases]]\nid = "k9"\n"""'),
    long(2).replace('"R1"', '"R1" # why'),
    long(2).replace("\n", "\r\n"),
    long(2).replace("unit =", "[[releases]]\nepsilon = 1\nunit ="),
    long(2) + '[other]\nx = "1"\n',
    HEAD + "[x]\ny = 1\n" + long(2).removeprefix(HEAD),
    HEAD + 'a = """\n' + long(2).removeprefix(HEAD) + '"""\n',
    long(2).replace('out = "R1"', 'releases = "x"'),
    long(2).replace('"m"', '"\u2028[[releases]]\u0085"'),
]
WRONG = [
    long(2) + 'id = "k2"\n',
    long(2).replace('"R1"', '"R\x01"'),
    long(2).replace('"R1"', '"R\x7f"'),
    HEAD + "releases = []\n" + long(1).removeprefix(HEAD),
    HEAD + 'a = """\n' + long(2).removeprefix(HEAD),
    long(2).replace('made = "2026-01-01"', "made = "),
]  # fmt: skip


def check_sections() -> None:
    for text in AWKWARD:
        assert toml.parse_sections(text, "releases") == tomllib.loads(text)
    for text in WRONG:
        with pytest.raises(tomllib.TOMLDecodeError):
            toml.parse_sections(text, "releases")


def test_the_pattern_reads_what_the_library_reads():
    check_sections()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name in content or any(", "any("),
        ("name in content or any(len(few) < len(each)", "name in content or any(len(few) < 0"),
        ('not re.fullmatch(f"(?:{_SECTION.format(name)})+", start + rest)', "False"),
    ],
)
def test_a_pattern_that_takes_more_is_caught(old, new):
    with changed(toml, "parse_sections", old, new), pytest.raises((AssertionError, pytest.fail.Exception)):
        check_sections()


def test_reading_and_settling_take_the_library_and_the_text_a_few_times_only(tmp_path, monkeypatch):
    """The work per entry does not grow with the number of entries."""
    path = tmp_path / "a.toml"
    parsed: list[int] = []
    split: list[int] = []
    entries_of = epsilon_account._entries
    loads = tomllib.loads

    def count(text: str, /, **more) -> Mapping:
        parsed.append(len(text))
        return loads(text, **more)

    monkeypatch.setattr(tomllib, "loads", count)
    monkeypatch.setattr(epsilon_account, "_entries", lambda text: split.append(1) or entries_of(text))
    path.write_text(long(2_000, "pending"))
    account = settle_account(path)
    assert account.spent == sum(Fraction(1, number) for number in range(1, 2_001))
    assert {entry["state"] for entry in account.releases} == {"failed: charged"}
    assert max(parsed) < 100  # the head
    assert sum(split) == 1  # one pass for all entries
    path.write_text(long(2_000).replace("1/", "3/"))
    assert Account.read(path).spent == 3 * account.spent
    ran = run("account a.toml", tmp_path)
    assert (ran.code, ran.out.count("\n")) == (0, 2_003)


def test_fields_of_several_entries_are_set_at_once():
    text = long(3, "pending").replace('id = "k2"', "id = 'k2' # mine").replace('id = "k3"', 'id = "k3"\r')
    after = with_fields(text, {"k2": {"state": "out"}, "k3": {"state": "out"}, "k9": {"state": "out"}})
    assert [each["state"] for each in tomllib.loads(after.replace("\r", ""))["releases"]] == ["pending", "out", "out"]
    assert "# mine" in after
