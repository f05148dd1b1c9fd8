"""An attacker who knows a few facts of somebody and reads every published line whole, by brute force.

For any syntactic method: the test says what lines there are, what may be known, and how a line is explained. A line is
left if *some* private record that holds all that is known would be published as just this line: its labels, their
order, their positions and what stands beside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any


def count_exposed(
    lines: Sequence[Hashable],
    knowledge: Iterable[Any],
    explain: Callable[[Any, Any], Hashable | None],
    breaks: Callable[[Sequence[int]], bool],
) -> int:
    """Count what may be known that leaves a group of lines which breaks the promise.

    `explain(line, known)` is None if no private record that holds `known` would be published as the line, else how it
    would be: an attacker may guess that, so each part of the lines that are left is a group, and so are all together.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        alike[line].append(number)
    exposed = 0
    for known in knowledge:
        parts: dict[Hashable, list[int]] = defaultdict(list)
        for line, numbers in alike.items():
            how = explain(line, known)
            if how is not None:
                parts[how] += numbers
        together = [number for part in parts.values() for number in part]
        exposed += any(breaks(group) for group in (*parts.values(), together))
    return exposed
