"""Current names of scores in results that were measured under earlier names."""

from __future__ import annotations

import re
from typing import Any

#: earlier name, as a regular expression, and current name; applied in this order
RENAMED = (
    (
        r"^(mean relative error(?: of sets of items)?), queries of records, (.*) of all",
        r"\1, queries drawn from records, support \2",
    ),
    (r"queries of records, (.*) of all", r"queries drawn from records, frequency \1"),
    (r"^top (\d+) (.+) no longer among them$", r"top \1 \2 missing from the released top \1"),
    (r"^released (records|sequences) over original ones$", r"ratio of released to original \1"),
    (r"origins and destinations$", "origin-destination pairs"),
    (r"^visits that were suppressed$", "share of visits suppressed"),
    (r"^one visit a record$", "one visit per record"),
    (r" linkage by (\d+) visits", r" linkage, \1 known visits"),
    (r", knowing of suppression$", ", aware of suppression"),
)


def with_current_names(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Rename the keys of a JSON object; for `object_pairs_hook` of `json.loads`."""
    return {current_name(name): value for name, value in members}


def current_name(name: str) -> str:
    """Return the current name of a score."""
    for earlier, current in RENAMED:
        name = re.sub(earlier, current, name)
    return name
