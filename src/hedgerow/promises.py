"""Every promise there is: one row each, with its options and where its class lives.

Nothing heavy is imported here: help texts, and what the options given can mean, are told without the classes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import Any, NamedTuple

__all__ = ["PROMISES", "Option", "Promise", "find_promise", "interpret_options", "list_options"]


class Option(NamedTuple):
    """A field of a promise, as it is given on the command line and in recipes."""

    help: str
    required: bool = True
    #: whether it may be given several times
    repeated: bool = False


class Promise(NamedTuple):
    """A row: where the class is, its options, and one such promise to try things with."""

    place: str
    options: Mapping[str, Option]
    example: Mapping[str, str | list[str]]

    @property
    def required(self) -> frozenset[str]:
        """The options without which there is no such promise."""
        return frozenset(name for name, option in self.options.items() if option.required)

    def fits(self, names: Collection[str]) -> bool:
        """Whether these are options of the promise, and all that it requires."""
        return self.required <= set(names) <= set(self.options)


#: a class is imported when it is asked for, so that the list costs nothing; one option may belong to several promises
PROMISES: dict[str, Promise] = {
    "PureDP": Promise(
        "hedgerow.privacy.guarantee:PureDP",
        {
            "epsilon": Option("how much any outcome may depend on one unit; smaller protects more"),
            "unit": Option("who or what is protected: record, sequence or person"),
        },
        example={"epsilon": "1", "unit": "record"},
    ),
    "KCL": Promise(
        "hedgerow.privacy.kcl:KCL",
        {
            "k": Option("how many records must match whatever is known"),
            "c": Option("how frequent a sensitive value may be among them, such as 60%", required=False),
            "l": Option("how many visits somebody may know"),
            "sensitive": Option(
                "what is sensitive, as COLUMN=VALUE; may be given several times", required=False, repeated=True
            ),
        },
        example={"k": "2", "c": "60%", "l": "2", "sensitive": ["diagnosis=flu"]},
    ),
}


def find_promise(name: str) -> Any:
    """Return the class of a promise in the table.

    Examples
    --------
    >>> find_promise("PureDP").__name__
    'PureDP'
    """
    module, _, cls = PROMISES[name].place.partition(":")
    return getattr(import_module(module), cls)


def list_options() -> dict[str, Option]:
    """List the options of all promises; where several have one, its help names each meaning."""
    owners: dict[str, dict[str, Option]] = {}
    for promise, row in PROMISES.items():
        for name, option in row.options.items():
            owners.setdefault(name, {})[promise] = option
    return {name: _merge(meanings) for name, meanings in owners.items()}


def _merge(meanings: Mapping[str, Option]) -> Option:
    helps = {option.help for option in meanings.values()}
    told = helps.pop() if len(helps) == 1 else "; ".join(f"{name}: {option.help}" for name, option in meanings.items())
    repeated = any(option.repeated for option in meanings.values())
    return Option(told, required=False, repeated=repeated)


def interpret_options(given: Collection[str], promises: Sequence[str]) -> list[tuple[str, ...]]:
    """List what options can mean: which of these promises together have just the options given.

    None of a reading's promises can be left out: of what is required more, nobody spoke.

    Examples
    --------
    >>> interpret_options({"epsilon", "unit"}, list(PROMISES))
    [('PureDP',)]
    >>> interpret_options({"epsilon", "unit", "k", "l"}, list(PROMISES))
    [('PureDP', 'KCL')]
    """
    wanted = set(given)
    able = [name for name in promises if name in PROMISES and PROMISES[name].required <= wanted]
    covers = [
        some
        for size in range(1, len(able) + 1)
        for some in combinations(able, size)
        if wanted <= {option for name in some for option in PROMISES[name].options}
    ]
    return [cover for cover in covers if not any(set(other) < set(cover) for other in covers)]
