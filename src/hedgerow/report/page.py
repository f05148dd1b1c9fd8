"""The report page: releases, and scores for the owner, in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import msgspec

from hedgerow.errors import EngineError, ParameterError
from hedgerow.release import Release, version
from hedgerow.report.charts import Chart, budget_chart, data_charts, score_charts
from hedgerow.score import Score
from hedgerow.statement import limits_of

__all__ = ["report"]

_SCRIPTS = ("vega", "vega-lite", "vega-embed")


def report(releases: Sequence[tuple[str, Release[Any]]], scores: Sequence[Sequence[Score]] = ()) -> str:
    """Make the page.

    Parameters
    ----------
    releases
        Each release with the name it is shown under.
    scores
        The scores of each, in the same order; with them the page is for the owner only.
    """
    import jinja2  # noqa: PLC0415 - only a report needs it

    if scores and len(scores) != len(releases):
        msg = f"{len(releases)} releases need as many score files, in their order; got {len(scores)}"
        raise ParameterError(msg)
    charts: list[Chart] = []
    pages = [
        _page(name, release, scores[number] if scores else (), charts)
        for number, (name, release) in enumerate(releases)
    ]
    owner = bool(scores)
    files = resources.files("hedgerow.report")
    scripts = [*map(_vendored, _SCRIPTS), files.joinpath("page.js").read_text("utf-8")]
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        files.joinpath("page.html").read_text("utf-8")
    )
    return page.render(
        title=_title(releases),
        owner=owner,
        pages=pages,
        version=version(),
        style=_Safe(files.joinpath("page.css").read_text("utf-8")),
        scripts=[_Safe(script) for script in scripts],
        allowed=_Safe(" ".join(map(_hashed, scripts))),
        charts=_Safe(_json([chart["spec"] for chart in charts])),
    )


class _Safe(str):
    """Text of our own that stands in the page as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def _vendored(name: str) -> str:
    """Read a script of somebody else's, if it is the one that was looked at when it came in."""
    vendor = resources.files("hedgerow.report").joinpath("vendor")
    content = vendor.joinpath(f"{name}.min.js").read_bytes()
    line = f"{hashlib.sha256(content).hexdigest()}  {name}.min.js"
    if line not in vendor.joinpath("SHA256SUMS").read_text("utf-8").splitlines():
        msg = f"the script {name}.min.js of the report was changed; install Hedgerow again"
        raise EngineError(msg)
    return _closed(content.decode())


def _hashed(script: str) -> str:
    """Name a script in the page's policy: nothing else is run, whatever gets into the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _closed(script: str) -> str:
    """Keep a script from ending its element early, and from naming a file that is not there."""
    script = re.sub(r"//# sourceMappingURL=.*", "", script)
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _json(value: Any) -> str:
    """Write JSON that cannot end its element, whatever the data is called."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _title(releases: Sequence[tuple[str, Release[Any]]]) -> str:
    if len(releases) > 1:
        return f"{len(releases)} releases compared"
    _, release = releases[0]
    return f"A release of {release.kind} by {release.recipe.method}"


def _page(name: str, release: Release[Any], scores: Sequence[Score], charts: list[Chart]) -> dict[str, Any]:
    """Gather what the page says of one release; its pictures are added to `charts`."""
    promises = " + ".join(part.name for part in release.guarantee.parts())
    parameters = ", ".join(f"{key} = {value}" for key, value in release.recipe.parameters)
    compared = bool(score_charts(scores))
    public = [chart for data in release.outputs.values() for chart in data_charts(data, compared=compared)]
    budget = budget_chart(release.evidence)
    plain = [score for score in scores if not score.chart or score.better != "neither"]
    return {
        # a name of a file may be no text
        "name": name.encode("utf-8", "backslashreplace").decode(),
        "publishable": release.publishable,
        "unchecked": _unchecked(release),
        "figures": [("promise", promises), *release.guarantee.figures()],
        "sentence": release.guarantee.sentence(),
        "limits": limits_of(release.guarantee, release.domain),
        "budget": _numbered(budget, charts) if budget else None,
        "summary": [_figure(score) for score in scores if not score.chart],
        "charts": [_numbered(chart, charts) for chart in public],
        "score_charts": [_numbered(chart, charts) for chart in score_charts(scores)],
        "controls": (named := list(dict.fromkeys(n for score in plain for n, _ in score.controls))),
        "scores": [_row(score, named) for score in plain],
        "facts": [
            ("method", release.recipe.method),
            ("parameters", parameters or "none"),
            ("domain", release.domain.source.value),
            ("verification", release.verdict.checked),
        ],
    }


def _unchecked(release: Release[Any]) -> str:
    """Say that another version made it: what that one writes is not known to this one."""
    if release.version == version():
        return ""
    return (
        f"It was made by Hedgerow {release.version}, and this page by {version()}. The promise was checked on the "
        "data, as far as it can be; that the folder is just what that version wrote was not. Verify it with that one."
    )


def _numbered(chart: Chart, charts: list[Chart]) -> dict[str, Any]:
    charts.append(chart)
    return {"title": chart["title"], "id": len(charts) - 1}


def _figure(score: Score) -> tuple[str, str, str]:
    beside = ", ".join(f"{name} {_number(value)}" for name, value in score.controls)
    return score.name, _number(score.value), beside


def _row(score: Score, named: list[str]) -> dict[str, Any]:
    """Lay out a score; a control it does not have leaves a gap."""
    wide, beside = score.low < score.high, dict(score.controls)
    return {
        "name": score.name,
        "value": _number(score.value),
        "interval": f"{_number(score.low)} to {_number(score.high)}" if wide else "",
        "controls": [(name, _number(beside[name]) if name in beside else "") for name in named],
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.3g}"
