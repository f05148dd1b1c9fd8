"""The report page without a browser: its policy, and the scripts of others inside it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from importlib import resources

import pytest

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.charts import score_charts
from hedgerow.errors import EngineError
from hedgerow.report import page as page_module
from hedgerow.report import report
from hedgerow.score import Score

VENDOR = resources.files("hedgerow.report").joinpath("vendor")


def drawn() -> str:
    data = Sets.from_records([["tea"]] * 50, domain=Domain.declare(item=["tea", "milk"]))
    return report([("R", FlatLaplace().publish(data, PureDP(epsilon=1, unit="record")))])


def test_every_script_of_others_is_the_one_that_was_looked_at():
    sums = dict(reversed(line.split()) for line in VENDOR.joinpath("SHA256SUMS").read_text().splitlines())
    scripts = {held.name for held in VENDOR.iterdir() if held.name.endswith(".js")}
    assert set(sums) == scripts == {f"{name}.min.js" for name in page_module._SCRIPTS}
    for name, wanted in sums.items():
        assert hashlib.sha256(VENDOR.joinpath(name).read_bytes()).hexdigest() == wanted
        assert VENDOR.joinpath(name.replace(".min.js", ".LICENSE")).is_file()


def test_a_script_that_was_changed_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "vendor").mkdir()
    for held in VENDOR.iterdir():
        (tmp_path / "vendor" / held.name).write_bytes(held.read_bytes())
    with (tmp_path / "vendor" / "vega.min.js").open("a") as script:
        script.write("alert(1)")
    monkeypatch.setattr(page_module.resources, "files", lambda _: tmp_path)
    with pytest.raises(EngineError, match=r"vega\.min\.js of the report was changed; install"):
        page_module._vendored("vega")


def test_the_policy_allows_our_scripts_by_their_hash_and_nothing_else():
    text = drawn()
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert "unsafe-eval" not in policy
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert len(scripts) == 4
    hashes = [base64.b64encode(hashlib.sha256(held.encode()).digest()) for held in scripts]
    assert rules["script-src"].split() == [f"'sha256-{held.decode()}'" for held in hashes]


def test_a_release_of_another_version_says_that_it_was_not_checked():
    data = Sets.from_records([["tea"]] * 50, domain=Domain.declare(item=["tea", "milk"]))
    release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    assert "Not checked" not in report([("R", release)])
    text = report([("R", release), ("S", dataclasses.replace(release, version="0.0.9"))])
    assert (
        text.count("<strong>Not fully checked.</strong> The release was made by Hedgerow 0.0.9, this page by 0.1.0.")
        == 1
    )
    assert "Made by Hedgerow 0.1.0. This page is self-contained" in text


def test_tiles_of_a_changed_file_without_the_original_are_left_out():
    tile = Score(name="n", value=1.0, low=1.0, high=1.0, better="neither", scope="owner", chart="c", at="a", across="b")
    whole = dataclasses.replace(tile, controls=(("original", 2.0),))
    assert [len(chart["spec"]["data"]["values"]) for chart in score_charts([tile, whole], kind="sets")] == [1, 1]
    assert [len(chart["spec"]["data"]["values"]) for chart in score_charts([tile], kind="sets")] == [0, 0]
