"""The registry of promises: one row per promise, with its options and the location of its class.

Nothing heavy is imported here: help texts and the interpretation of options do not need the classes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A field of a promise, as it is typed on the command line and in recipes."""

    help: str
    required: bool = True
    #: whether it may be given several times
    repeated: bool = False
    #: where the function is that reads the file that is typed; a promise itself, which anyone may send, opens none
    reads: str = ""


class Promise(NamedTuple):
    """A row: the location of the class, its options, example values, and the kinds of data it is about, () if all."""

    place: str
    options: Mapping[str, Option]
    example: Mapping[str, Any]
    kinds: tuple[str, ...] = ()
    #: the promises that must be made with it
    beside: tuple[str, ...] = ()

    @property
    def required(self) -> frozenset[str]:
        """The names of the required options."""
        return frozenset(name for name, option in self.options.items() if option.required)

    def fits(self, names: Collection[str]) -> bool:
        """Whether these are options of the promise, with all required ones among them."""
        return self.required <= set(names) <= set(self.options)


_UNIT = Option("who or what is protected, such as record or person; `hedgerow methods NAME` lists them")
#: classes are imported on demand, so that listing imports nothing; several promises may share an option
PROMISES: dict[str, Promise] = {
    "PureDP": Promise(
        "hedgerow.privacy.differential_privacy:PureDP",
        {
            "epsilon": Option("how much any outcome may depend on one unit; smaller protects more"),
            "unit": _UNIT,
        },
        example={"epsilon": "1", "unit": "record"},
    ),
    "CorrelatedDP": Promise(
        "hedgerow.privacy.differential_privacy:CorrelatedDP",
        {
            "epsilon": Option("how much any outcome may depend on k edges together; on one edge it is epsilon / k"),
            "k": Option("how many edges are protected together"),
            "unit": _UNIT,
        },
        example={"epsilon": "1", "k": "2", "unit": "edge"},
        kinds=("graphs",),
    ),
    "KCL": Promise(
        "hedgerow.kinds.trajectories.criterion:KCL",
        {
            "k": Option("how many records must match what an attacker knows, if any match"),
            "c": Option(
                "how frequent a sensitive value may be among the matching records, such as 60%", required=False
            ),
            "l": Option("how many visits of a person an attacker may know"),
            "sensitive": Option("a sensitive value, as COLUMN=VALUE; may be repeated", required=False, repeated=True),
            "unit": Option(_UNIT.help, required=False),
        },
        example={"k": "2", "c": "60%", "l": "2", "sensitive": ["diagnosis=flu"]},
        kinds=("trajectories",),
    ),
    "KAnonymity": Promise(
        "hedgerow.kinds.records.criterion:KAnonymity",
        {"k": Option("how many published records must look alike")},
        example={"k": "3"},
        kinds=("records",),
    ),
    "LDiversity": Promise(
        "hedgerow.kinds.records.criterion:LDiversity",
        {"l": Option("of how many values at a position a sensitive value may be one, at most")},
        example={"l": "2"},
        kinds=("records",),
    ),
    "MuWeightedKAnonymity": Promise(
        "hedgerow.kinds.graphs.criterion:MuWeightedKAnonymity",
        {
            "mu": Option("how far apart weights may be to count as alike"),
            "k": Option("how many arcs beside an arc, itself included, must have weights like its own"),
            "share": Option("which share of all arcs is anonymous at least, such as 90%"),
            "neighbourhood": Option(
                "beside which arcs an arc is hidden: out (those that leave the same vertex), in or both", required=False
            ),
            "relative": Option("yes if mu is about the logarithms of weights", required=False),
            "small_degree": Option(
                "no if arcs of a vertex with fewer than k of them do not count as anonymous", required=False
            ),
        },
        example={"mu": "1", "k": "2", "share": "1/2"},
        kinds=("graphs",),
    ),
    "PM": Promise(
        "hedgerow.kinds.records.rule_promise:PM",
        {
            "rules": Option(
                "a file (TOML) of rules that say how often a sensitive value may be linked with a person",
                reads="hedgerow.kinds.records.rules_file:read_rules",
            )
        },
        example={"rules": [{"attribute": "course.grade", "all": "true", "m": "2", "p": "1/2"}]},
        kinds=("records",),
        beside=("LDiversity",),
    ),
    # no promise at all, and so no options: methods that only distort numbers publish under it
    "Distortion": Promise("hedgerow.privacy.distortion:Distortion", {}, example={}, kinds=("matrices", "graphs")),
}


def find_promise(name: str) -> Any:
    """Return the class of a promise by its name.

    Examples
    --------
    >>> find_promise("PureDP").__name__
    'PureDP'
    """
    module, _, cls = PROMISES[name].place.partition(":")
    return getattr(import_module(module), cls)


def describe_options(name: str) -> str:
    """Show the options of a promise as they are typed, and which promises it must be made with.

    Examples
    --------
    >>> describe_options("PureDP"), describe_options("PM")
    ('PureDP: --epsilon --unit', 'PM (with LDiversity): --rules')
    """
    row = PROMISES[name]
    beside = f" (with {', '.join(row.beside)})" if row.beside else ""
    return f"{name}{beside}: {' '.join(f'--{option}' for option in row.options) or 'no options'}"


def list_options() -> dict[str, Option]:
    """List the options of all promises; the help of a shared option gives each meaning."""
    owners: dict[str, dict[str, Option]] = {}
    for promise, row in PROMISES.items():
        for name, option in row.options.items():
            owners.setdefault(name, {})[promise] = option
    return {name: _merge(meanings) for name, meanings in owners.items()}


def _merge(meanings: Mapping[str, Option]) -> Option:
    helps = {option.help for option in meanings.values()}
    text = helps.pop() if len(helps) == 1 else "; ".join(f"{name}: {option.help}" for name, option in meanings.items())
    repeated = any(option.repeated for option in meanings.values())
    reads = next((option.reads for option in meanings.values() if option.reads), "")
    return Option(text, required=False, repeated=repeated, reads=reads)


def interpret_options(
    options: Collection[str], promises: Sequence[str], *, kind: str | None = None
) -> list[tuple[str, ...]]:
    """List the minimal combinations of these promises that have exactly these options.

    In each combination all required options are among `options`, no promise of it can be left out, none lacks what must
    be beside it, and there is a kind of data that all its promises are about: this kind, if it is given.

    Examples
    --------
    >>> interpret_options({"epsilon", "unit"}, list(PROMISES))
    [('PureDP',)]
    >>> interpret_options({"epsilon", "unit", "k"}, list(PROMISES), kind="graphs")
    [('CorrelatedDP',)]
    >>> interpret_options({"epsilon", "unit", "k", "l"}, list(PROMISES), kind="trajectories")
    [('PureDP', 'KCL')]
    >>> interpret_options({"k", "l"}, list(PROMISES), kind="records")
    [('KAnonymity', 'LDiversity')]
    """
    names = set(options)
    known = [promise for promise in promises if promise in PROMISES]
    about = [name for name in known if kind is None or kind in (PROMISES[name].kinds or (kind,))]
    possible = [promise for promise in about if PROMISES[promise].required <= names]
    covers = [
        combination
        for size in range(1, len(possible) + 1)
        for combination in combinations(possible, size)
        if names <= {option for promise in combination for option in PROMISES[promise].options}
        and _have_common_kind(combination)
        and all({*PROMISES[promise].beside} <= {*combination} for promise in combination)
    ]
    return [cover for cover in covers if not any(set(other) < set(cover) for other in covers)]


def _have_common_kind(promises: Collection[str]) -> bool:
    limited = [PROMISES[promise].kinds for promise in promises if PROMISES[promise].kinds]
    return not limited or any(all(kind in kinds for kinds in limited) for kind in limited[0])
