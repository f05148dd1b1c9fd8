"""Draw growth as SVG: lines on two logarithmic axes, readable in light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 45, 40, 45
COLOURS = ("#2a9d5c", "#e0a030", "#5b8def", "#d1495b", "#a066c9")

Points = Sequence[tuple[float, float]]


def growth(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """Draw one line per series; both axes are logarithmic."""
    xs = [math.log10(x) for points in series.values() for x, _ in points]
    ys = [math.log10(y) for points in series.values() for _, y in points]
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - min(xs)) / max(max(xs) - min(xs), 1e-9)
        rise = (math.log10(y) - low) / max(high - low, 1)
        return (
            round(LEFT + right * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - rise * (HEIGHT - TOP - BOTTOM), 1),
        )

    parts = [text_at(LEFT, 18, title, "start", "bold")]
    for power in range(low, high + 1):
        _, y = place(10 ** min(xs), 10**power)
        parts.append(
            f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#888" stroke-opacity=".3"/>'
            + text_at(LEFT - 6, y + 4, f"{10**power:g}", "end")
        )
    ticks = sorted({x for points in series.values() for x, _ in points})
    below = HEIGHT - BOTTOM + 16
    parts += [text_at(place(x, 1)[0], below, f"{x:,.0f}", "middle") for x in ticks]
    parts.append(text_at((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle"))
    parts.append(text_at(LEFT - 6, TOP - 8, up, "end"))
    for number, (name, points) in enumerate(series.items()):
        parts.append(_line(name, [place(x, y) for x, y in points], number))
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    body = "\n".join([background, *parts])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif">\n{body}\n</svg>\n'


def _line(name: str, points: Points, number: int) -> str:
    colour = COLOURS[number % len(COLOURS)]
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points)
    y = TOP + 14 + 16 * number
    key = f'<path d="M{LEFT + 12} {y - 4}h18" stroke="{colour}" stroke-width="3"/>'
    line = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    return line + dots + key + text_at(LEFT + 36, y, name, "start")


def growth_along(name: str, axis: str, results: Mapping[str, Any]) -> str:
    """Draw how the time of runs on synthetic data grows with their records, or items."""
    other, chosen = ("items", 1_000) if axis == "records" else ("records", 1_000_000)
    runs = [run for run in results.values() if "gigabytes" in run and run[other] == chosen]
    points = sorted({(run[axis], run["seconds"]) for run in runs})
    title = f"{name}: growth with {axis} ({chosen:,} {other})"
    return growth(title, axis, "seconds", {"publishing": points})


def text_at(x: float, y: float, text: str, anchor: str, weight: str = "normal") -> str:
    """Write a text at a position."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    style = f'font-size="12" fill="#444" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escaped}</text>'
