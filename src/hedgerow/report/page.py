"""The report page: releases, and scores for the owner, in one file that works offline."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import msgspec

from hedgerow.charts import Chart, budget_chart, release_charts, score_charts
from hedgerow.errors import EngineError, ParameterError
from hedgerow.release import Release, version
from hedgerow.score import Score
from hedgerow.statement import limits_of

_SCRIPTS = ("vega", "vega-lite", "vega-embed")


def report(releases: Sequence[tuple[str, Release[Any]]], scores: Sequence[Sequence[Score]] = ()) -> str:
    """Make the report page.

    Parameters
    ----------
    releases
        Each release with its name on the page.
    scores
        The scores of each release, in the same order; with scores the page is for the owner only.
    """
    import jinja2  # noqa: PLC0415 - used here only

    if scores and len(scores) != len(releases):
        msg = f"give one score file per release, in the same order; got {len(scores)} for {len(releases)} releases"
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
        allowed=_Safe(" ".join(map(_script_hash, scripts))),
        charts=_Safe(_json([chart["spec"] for chart in charts])),
    )


class _Safe(str):
    """Our own text, which is put into the page without escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def _vendored(name: str) -> str:
    """Read a third-party script, and check that it is the one that was reviewed."""
    vendor = resources.files("hedgerow.report").joinpath("vendor")
    content = vendor.joinpath(f"{name}.min.js").read_bytes()
    line = f"{hashlib.sha256(content).hexdigest()}  {name}.min.js"
    if line not in vendor.joinpath("SHA256SUMS").read_text("utf-8").splitlines():
        msg = f"the script {name}.min.js of the report was changed; install Hedgerow again"
        raise EngineError(msg)
    return _make_embeddable(content.decode())


def _script_hash(script: str) -> str:
    """The hash of a script for the content security policy of the page, which runs no other script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _make_embeddable(script: str) -> str:
    """Keep a script from closing its element early, and from naming a source map that does not exist."""
    script = re.sub(r"//# sourceMappingURL=.*", "", script)
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _json(value: Any) -> str:
    """Write JSON that cannot close its element, whatever texts it contains."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _title(releases: Sequence[tuple[str, Release[Any]]]) -> str:
    if len(releases) > 1:
        return f"{len(releases)} releases compared"
    _, release = releases[0]
    return f"A release of {release.kind} by {release.recipe.method}"


def _page(name: str, release: Release[Any], scores: Sequence[Score], charts: list[Chart]) -> dict[str, Any]:
    """Collect the content of the page for one release; its charts are appended to `charts`."""
    promises = " + ".join(part.name for part in release.guarantee.parts())
    parameters = ", ".join(f"{key} = {value}" for key, value in release.recipe.parameters)
    compared = score_charts(scores, kind=release.kind)
    public = release_charts(release.outputs, compared=bool(compared))
    budget = budget_chart(release.evidence, release.guarantee.budget_name)
    listed = [score for score in scores if not score.chart or score.better != "neither"]
    return {
        # a file name may not be valid text
        "name": name.encode("utf-8", "backslashreplace").decode(),
        "publishable": release.publishable,
        "unchecked": _unchecked(release),
        "figures": [("promise", promises), *release.guarantee.figures()],
        "sentence": release.promise.sentence(),
        "limits": limits_of(release.promise, release.domain, release.verdict, release.declared_axes),
        "budget": _add_chart(budget, charts) if budget else None,
        "summary": [_figure(score) for score in scores if not score.chart],
        "charts": [_add_chart(chart, charts) for chart in public],
        "score_charts": [_add_chart(chart, charts) for chart in compared],
        "controls": (names := list(dict.fromkeys(name for score in listed for name, _ in score.controls))),
        "scores": [_row(score, names) for score in listed],
        "facts": [
            ("method", release.recipe.method),
            ("parameters", parameters or "none"),
            ("domain", release.domain.source.value),
            ("verification", release.verdict.checked),
            *([("rests on", use)] if (use := release.describe_use()) else []),
            *((label, f"{value:,}") for label, value in release.evidence.notes),
        ],
    }


def _unchecked(release: Release[Any]) -> str:
    """The warning about a release of another version, whose files this version cannot fully check."""
    if release.version == version():
        return ""
    return (
        f"The release was made by Hedgerow {release.version}, this page by {version()}. The promise was checked on the "
        "data, as far as that is possible, but not that the folder is exactly what that version wrote. Verify the "
        f"release with Hedgerow {release.version}."
    )


def _add_chart(chart: Chart, charts: list[Chart]) -> dict[str, Any]:
    charts.append(chart)
    return {"title": chart["title"], "id": len(charts) - 1}


def _figure(score: Score) -> tuple[str, str, str]:
    controls = ", ".join(f"{name} {_number(value)}" for name, value in score.controls)
    return score.name, _number(score.value), controls


def _row(score: Score, names: list[str]) -> dict[str, Any]:
    """Make the table row of a score; a control that it does not have is an empty cell."""
    has_interval, controls = score.low < score.high, dict(score.controls)
    return {
        "name": score.name,
        "value": _number(score.value),
        "interval": f"{_number(score.low)} to {_number(score.high)}" if has_interval else "",
        "controls": [(name, _number(controls[name]) if name in controls else "") for name in names],
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.3g}"
