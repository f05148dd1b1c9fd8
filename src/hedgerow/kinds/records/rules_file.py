"""Files of discriminatory rules (TOML).

There is one section `[[rule]]` per rule, with `attribute = "visit.diagnosis"`, one of `value = "AIDS"`,
`values = [...]`, `bucket = "..."` and `all = true`, and `m = 2`, `p = "1/3"`.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hedgerow.errors import ParameterError
from hedgerow.formats.toml import read_toml
from hedgerow.kinds.records.rules import Rule


def read_rules(path: str | Path) -> list[Rule]:
    """Read a file of rules (TOML). It is the owner's: nothing that a release contains makes us open one."""
    content = read_toml(Path(path), ParameterError)
    sections = content.get("rule")
    if set(content) != {"rule"} or not isinstance(sections, list) or not sections:
        msg = f"{path} must have one section [[rule]] or more, and nothing else"
        raise ParameterError(msg)
    listed = cast("list[object]", sections)
    return [Rule.read(each, f"rule {number} of {path}") for number, each in enumerate(listed, start=1)]
