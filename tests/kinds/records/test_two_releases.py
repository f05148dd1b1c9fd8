"""What statements of nested records say about two releases is what the benchmark measured."""

from __future__ import annotations

import json

from project import ROOT

from hedgerow import Domain, KAnonymity, LDiversity


def test_statements_quote_the_benchmark():
    results = json.loads((ROOT / "docs" / "results" / "two-releases.json").read_text())
    [run] = results["1,461 patients, l = 2"]["runs"]
    left, right = (run[f"linked: {what}"] / run["patients in both"] for what in ("one candidate", "the right one"))
    quoted = f"left one candidate for {left:.0%}, and it was the right one for {right:.0%}".replace("%", " %")
    for promise in (KAnonymity(k=2), LDiversity(l=2)):
        [said] = [limit for limit in promise.limits(Domain.declare()) if "Another release" in limit]
        assert quoted in said
        assert f"{results['1,461 patients, l = 2']['patients']:,} made-up patients" in said
    guide = " ".join((ROOT / "docs" / "records.md").read_text().split())
    assert f"left one candidate for {left:.0%}".replace("%", " %") in guide
