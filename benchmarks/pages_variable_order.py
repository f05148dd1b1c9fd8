"""The result page of variable-order-markov."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from tables import growth_table, table

Scores: TypeAlias = dict[str, dict[str, list[float]]]

OURS = "variable-order-markov"
#: measures, and whether more is better; number and items are best at 1
MEASURES = {
    "top 100": "more",
    "top 100 of >= 2": "more",
    "query error": "less",
    "length TV": "less",
    "bigram TV": "less",
    "number": "one",
    "items": "one",
}
#: differences of fewer standard errors are called equal
CLEAR = 2.0
EPSILON = ", epsilon "
#: why others are better, where they are
REASONS = tomllib.loads(Path(__file__).with_name("variable_order_reasons.toml").read_text())["reason"]


def variable_order_page(results: dict[str, Any]) -> dict[str, str]:
    """Write the page."""
    runs = {name: run for name, run in results.items() if "scores" in run}
    sources = list(dict.fromkeys(name.rsplit(EPSILON, 1)[0] for name in runs))
    parts = [_head(), _summary(runs)]
    for chosen, title in ((False, "Data on which nothing was chosen"), (True, "Data on which constants were chosen")):
        mine = [name for name in sources if next(iter(_of(runs, name).values()))["chosen on"] == chosen]
        parts += [f"## {title}", *(_source(name, _of(runs, name)) for name in mine)]
    parts.append(_losses(runs))
    if "speed" in results:
        parts.append(_speed(results))
    return {"variable-order-markov.md": "\n\n".join(parts) + "\n"}


def _head() -> str:
    return (
        "# Results: variable-order-markov\n\nMade by `benchmarks/pages.py` from `variable-order-markov.json`; do not "
        "edit. Mean and standard error over runs, all against the whole original. *Top 100*: how many of the 100 most "
        "frequent runs of one to five neighbouring items are among the 100 most frequent of the release; *of >= 2*: "
        "the same of runs of two items and more. *Query error*: 4,000 runs of up to eight items drawn from records, "
        "mean relative error of their counts, with a sanity bound of 0.1 % of the sequences. *TV*: total variation "
        "distance of lengths, and of bigrams. *Number*, *items*: released over original. *CPU seconds*: publishing "
        "alone, on a busy machine with two cores; see *Speed* for methods in turn.\n\n`ngram` and "
        "`ngram-markov` as they come (l_max 20, n_max 5), `prefix-tree` of height 12, on journeys "
        "`continued-prefix-tree` too. *First-order chain*: noisy pairs with start and end, of the first 10 transitions "
        "of a sequence, those above the noise, walks of up to 60 items. *Independent items*: noisy lengths and "
        "noisy single items, half of epsilon each, of the first 20 items."
        "\n\nAll methods have their default settings on all data. The constants of `variable-order-markov` were chosen "
        "on MSNBC, SUBE, BMS-WebView-1, Kosarak, FIFA, Bible and Leviathan, and on parts of them, with other seeds. "
        "Two data sets showed that something was wrong, and are counted with these: Singapore bikes (flows were not "
        "balanced, later: single items were not asked for) and Complete Journey (noisy rows were worse than "
        "independent items). On the others nothing was chosen, and what they show was not repaired."
    )


def _of(runs: dict[str, Any], source: str) -> dict[str, Any]:
    """The runs of one source by epsilon."""
    parts = {name.rsplit(EPSILON, 1)[1]: run for name, run in runs.items() if name.rsplit(EPSILON, 1)[0] == source}
    return dict(sorted(parts.items(), key=lambda part: float(part[0])))


def _source(name: str, runs: dict[str, Any]) -> str:
    first = next(iter(runs.values()))
    rows = [
        [
            epsilon,
            f"**{way}**" if way == OURS else way,
            *(_cell(*scores[measure]) for measure in MEASURES),
            f"{scores['CPU seconds'][0]:.2f}",
        ]
        for epsilon, run in runs.items()
        for way, scores in run["scores"].items()
    ]
    return (
        f"### {name}\n\n{first['records']:,} sequences over {first['items']:,} items, {first['mean length']:.1f} items "
        f"on average; {first['runs']} runs.\n\n{table(['epsilon', 'method', *MEASURES, 'CPU seconds'], rows)}"
    )


def _cell(value: float, error: float) -> str:
    digits = 1 if value > 10 else 3
    return f"{value:.{digits}f}" + (f" +- {error:.{digits}f}" if error else "")


def _wins(scores: Scores, way: str, measure: str) -> int:
    """1 if ours is clearly better than another way, -1 if it is clearly worse, else 0."""
    (ours, error), (theirs, other) = scores[OURS][measure], scores[way][measure]
    kind = MEASURES[measure]
    gain = {"more": ours - theirs, "less": theirs - ours, "one": abs(theirs - 1) - abs(ours - 1)}[kind]
    return 0 if abs(gain) <= CLEAR * (error**2 + other**2) ** 0.5 else (1 if gain > 0 else -1)


def _summary(runs: dict[str, Any]) -> str:
    """In how many settings it is better, equal or worse than each other way."""
    ways = list(dict.fromkeys(way for run in runs.values() for way in run["scores"] if way != OURS))
    rows = []
    for chosen in (False, True):
        scores = [run["scores"] for run in runs.values() if run["chosen on"] == chosen]
        for way in ways:
            cells = []
            for measure in MEASURES:
                results = [_wins(each, way, measure) for each in scores if way in each]
                cells.append(" / ".join(str(results.count(result)) for result in (1, 0, -1)))
            rows.append(["chosen on" if chosen else "not chosen on", way, *cells])
    return (
        "## Summary\n\nSettings (data and epsilon) in which `variable-order-markov` is better / equal / worse than "
        f"another method, by more than {CLEAR:g} standard errors.\n\n{table(['data', 'than', *MEASURES], rows)}"
    )


def _losses(runs: dict[str, Any]) -> str:
    """Everything that another method does better, and why."""
    rows, reasons = [], dict[str, int]()
    for name, run in runs.items():
        for way, scores in run["scores"].items():
            worse = [measure for measure in MEASURES if way != OURS and _wins(run["scores"], way, measure) < 0]
            by_reason: dict[int, list[str]] = {}
            for m in worse:
                text = f"{m}: {_cell(*scores[m])} (ours {_cell(*run['scores'][OURS][m])})"
                number = reasons.setdefault(_reason(name, way, m), len(reasons) + 1)
                by_reason.setdefault(number, []).append(text)
            rows += [[name, way, "; ".join(figures), str(number)] for number, figures in by_reason.items()]
    why = "\n".join(f"{number}. {text[:1].upper()}{text[1:]}." for text, number in reasons.items())
    head = ["data", "method", "measures", "reason"]
    return f"## What others do better, and why\n\n{why}\n\n{table(head, rows)}"


def _reason(name: str, way: str, measure: str) -> str:
    for reason in REASONS:
        fits = name.startswith(reason.get("data", "")) and reason.get("method", way) == way
        if fits and measure in reason.get("measures", MEASURES):
            return " ".join(reason["text"].split())
    msg = f"no reason is given why {way} is better on {name} by {measure}"
    raise LookupError(msg)


def _speed(results: dict[str, Any]) -> str:
    rows = []
    for name, run in sorted(results["speed"].items(), key=lambda part: float(part[0].rsplit(maxsplit=1)[1])):
        way, epsilon = name.rsplit(maxsplit=1)
        seconds, items = run["CPU seconds"], run["items released"]
        ratio = seconds / results["speed"][f"ngram {epsilon}"]["CPU seconds"]
        rows.append(
            [epsilon, way, f"{seconds:.2f}", f"{ratio:.2f}", f"{items / 1e6:.2f}", f"{items / seconds / 1e6:.1f}"]
        )
    head = ["epsilon", "method", "CPU seconds", "times `ngram`", "million items released", "million items per second"]
    growth = growth_table(results) if any("gigabytes" in run for run in results.values()) else ""
    return (
        "## Speed\n\nAll of MSNBC, publishing alone, processor time, median of five runs, methods in turn.\n\n"
        f"{table(head, rows)}" + (f"\n\nSynthetic walks of mean length 5, epsilon 1:\n\n{growth}" if growth else "")
    )
