"""Statements and `release.json` as they are read, rewritten by `make golden` only."""

from __future__ import annotations

import json
import os

import pytest
from project import GOLDEN
from toys import MinimumSupport, PassOn, TokenTree

from hedgerow import Domain, FlatLaplace, PureDP, Sets

RECORDS = [["tea"]] * 83 + [["bread", "milk"]] * 64
OWNERS = [number // 3 for number in range(147)]
DOMAIN = Domain.declare(item=["bread", "milk", "tea"], records_per_person=2)


def flat(unit, **source):
    data = Sets.from_records(RECORDS, persons=OWNERS, **(source or {"domain": DOMAIN}))
    return FlatLaplace().publish(data, PureDP(epsilon="0.5", unit=unit), seed=1)


def tree():
    data = Sets.from_records(RECORDS, domain=DOMAIN)
    return TokenTree().publish(data, PureDP(epsilon=3, unit="record"))


def syntactic():
    return PassOn().publish(Sets.from_records(RECORDS), MinimumSupport(5))


CASES = {
    "flat-laplace-record": lambda: flat("record"),
    "flat-laplace-person": lambda: flat("person"),
    "flat-laplace-asserted": lambda: flat("record", assert_public_domain=True),
    "toy-tree": tree,
    "toy-criterion": syntactic,
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_receiver_reads(name):
    release = CASES[name]()
    for path, text in (
        (GOLDEN / f"{name}.md", release.statement()),
        (GOLDEN / f"{name}.json", release.to_json().decode()),
    ):
        if os.environ.get("HEDGEROW_GOLDEN"):
            path.write_text(text)
        assert path.read_text() == text, "look at the change; make golden accepts it"


def test_a_publication_says_nothing_about_its_input():
    release = tree()
    held = json.loads(release.to_json())
    assert held.pop("domain")["source"] == "declared"  # the domain is public
    assert len(held.pop("statement_sha256")) == 64  # of what is published
    text = release.statement() + json.dumps(held)
    assert "Not for publication" not in text
    for private in ("147", "83", "64", "tea", "bread"):  # sizes, exact counts, items
        assert private not in text
