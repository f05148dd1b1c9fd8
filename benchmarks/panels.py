"""Draw several small charts in one SVG: a logarithmic axis across, a linear one up from 0, one key for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plots import COLOURS, text_at

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT, COLUMNS = 380, 240, 2
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 34, 42
HEAD, FOOT = 30, 30
STEPS = (1, 2, 2.5, 5, 10)


def panels(title: str, across: str, charts: Mapping[str, Mapping[str, Points]]) -> str:
    """Draw one chart per entry, each with one line per series."""
    rows = -(-len(charts) // COLUMNS)
    parts = [text_at(LEFT, 20, title, "start", "bold")]
    for number, (name, series) in enumerate(charts.items()):
        right, down = number % COLUMNS * WIDTH, HEAD + number // COLUMNS * HEIGHT
        parts.append(f'<g transform="translate({right} {down})">{_chart(name, across, series)}</g>')
    wide, high = COLUMNS * WIDTH, HEAD + rows * HEIGHT + FOOT
    names = list(next(iter(charts.values())))
    parts += [_key(name, number, high - 12) for number, name in enumerate(names)]
    body = "\n".join(['<rect width="100%" height="100%" fill="#fff"/>', *parts])
    box = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif">\n{body}\n</svg>\n'


def _chart(name: str, across: str, series: Mapping[str, Points]) -> str:
    xs = sorted({x for points in series.values() for x, _ in points})
    highest = max(y for points in series.values() for _, y in points)
    step = _step(highest)
    top = step * math.ceil(highest / step)

    def place(x: float, y: float) -> tuple[float, float]:
        right = math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
        wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return round(LEFT + right * wide, 1), round(HEIGHT - BOTTOM - y / top * high, 1)

    parts = [text_at(LEFT, TOP - 12, name, "start")]
    for number in range(round(top / step) + 1):
        _, y = place(xs[0], number * step)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#888" stroke-opacity=".3"/>')
        parts.append(text_at(LEFT - 6, y + 4, f"{number * step:g}", "end"))
    parts += [text_at(place(x, 0)[0], HEIGHT - BOTTOM + 16, f"{x:g}", "middle") for x in xs]
    parts.append(text_at((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle"))
    for number, points in enumerate(series.values()):
        parts.append(_line([place(x, y) for x, y in points], COLOURS[number]))
    return "\n".join(parts)


def _step(highest: float) -> float:
    """A round distance between lines, such that there are three to six of them."""
    power = 10 ** math.floor(math.log10(highest / 5))
    return next(step * power for step in STEPS if highest / (step * power) <= 5)


def _line(points: Points, colour: str) -> str:
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points)
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'


def _key(name: str, number: int, y: int) -> str:
    x = LEFT + number * 175
    bar = f'<path d="M{x} {y - 4}h18" stroke="{COLOURS[number]}" stroke-width="3"/>'
    return bar + text_at(x + 24, y, name, "start")
