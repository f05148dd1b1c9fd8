"""Promises parsed from options as they are typed, and from the plain data of `release.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.errors import ParameterError, UnsupportedGuarantee
from hedgerow.privacy.guarantee import All, Guarantee, Plain
from hedgerow.promises import PROMISES, describe_options, find_promise, interpret_options

#: limits of a promise: the number of texts, the characters per text and the depth of nested lists
_MOST_TEXTS, _LONGEST, _DEEPEST = 10_000, 1_000, 7


def build(promises: Sequence[str], options: Mapping[str, Any]) -> Guarantee:
    """Make one promise, or `All` of several; each takes its own options.

    Examples
    --------
    >>> build(["PureDP"], {"epsilon": "0.5", "unit": "person"})
    PureDP(epsilon=0.5, unit='person')
    """
    parts: list[Guarantee] = [
        find_promise(name)(**{option: options[option] for option in PROMISES[name].options if option in options})
        for name in promises
    ]
    return parts[0] if len(parts) == 1 else All(*parts)


def example_of(name: str, **more: str) -> Guarantee:
    """Make a promise of the example values of its row, together with those that must be made with it.

    Examples
    --------
    >>> example_of("PM").parts()[1]
    LDiversity(l=2)
    """
    names = [name, *PROMISES[name].beside]
    return build(names, {**{key: value for each in names for key, value in PROMISES[each].example.items()}, **more})


def from_options(options: Mapping[str, Any], promises: Sequence[str] = (), *, kind: str | None = None) -> Guarantee:
    """Make the promise that has exactly these options.

    Parameters
    ----------
    promises
        The names of the promises, if stated; required where the options fit several.
    kind
        The kind of data, if known: options that are shared mean a promise about it.

    Raises
    ------
    UnsupportedGuarantee
        If the options fit no promise, or several.
    """
    for name in promises:
        if name not in PROMISES:
            msg = f"there is no promise {name!r}; there are: {', '.join(PROMISES)}"
            raise ParameterError(msg)
    typed = " ".join(f"--{name}" for name in options) or "no options"
    names = promises or list(PROMISES)
    # a promise about another kind is made, and then refused by the data, which says more
    candidates = interpret_options(options, names, kind=kind) or interpret_options(options, names)
    if promises:
        candidates = [names for names in candidates if set(names) == set(promises)]
    if len(candidates) > 1:
        listed = ", or ".join(" with ".join(names) for names in candidates)
        remedy = "--promise NAME" if kind else "--promise NAME, or give --kind"
        msg = f"{typed} may be {listed}; say which by {remedy}"
        raise UnsupportedGuarantee(msg)
    if not candidates:
        listed = "; or ".join(map(describe_options, promises or PROMISES))
        msg = f"no guarantee has exactly {typed}; there are {listed}"
        raise UnsupportedGuarantee(msg)
    return build(candidates[0], options)


def from_plain(plain: Mapping[str, Plain]) -> Guarantee:
    """Read the plain data of `Guarantee.to_plain`, which may come from an untrusted file.

    Examples
    --------
    >>> from_plain({"name": "All", "parts": [{"name": "PureDP", "epsilon": "1/2", "unit": "record"}]})
    All(PureDP(epsilon=0.5, unit='record'))
    """
    require_plain(plain)
    guarantee = _guarantee(plain)
    if guarantee.to_plain() != plain:
        msg = f"{guarantee.name} is not written as Hedgerow writes it"
        raise ParameterError(msg)
    return guarantee


def _guarantee(plain: Mapping[str, Plain]) -> Guarantee:
    if plain.get("name") != All.name:
        return _part(plain)
    parts = plain.get("parts")
    if set(plain) != {"name", "parts"} or not isinstance(parts, list):
        msg = "All has parts and nothing else"
        raise ParameterError(msg)
    return All(*map(_part, parts))


def _part(plain: Plain) -> Guarantee:
    fields = dict(plain) if isinstance(plain, Mapping) else {}
    name = fields.pop("name", "")
    if not isinstance(name, str) or name not in PROMISES or not PROMISES[name].fits(fields):
        msg = f"there is no guarantee {str(name)[:40]!r} with these fields"
        raise ParameterError(msg)
    return find_promise(name)(**fields)


def require_plain(plain: Plain) -> None:
    """Refuse what is not plain data, whatever its type says, or too much of it."""
    texts = 0
    level = [plain]
    for _ in range(_DEEPEST):
        below: list[Plain] = []
        for value in level:
            if isinstance(value, str):
                texts += 1
                if len(value) > _LONGEST:
                    msg = f"a number or a name of the promise is too long: more than {_LONGEST:,} characters"
                    raise ParameterError(msg)
            elif isinstance(value, Mapping):
                below += [*value, *value.values()]
            elif isinstance(value, (list, tuple)):
                below += value
            else:
                msg = "a promise consists of texts, and of lists and tables of texts"
                raise ParameterError(msg)
        if texts + len(below) > _MOST_TEXTS:
            msg = f"a promise has at most {_MOST_TEXTS:,} numbers and names"
            raise ParameterError(msg)
        if not below:
            return
        level = below
    msg = f"the lists of a promise are nested too deeply; at most {_DEEPEST} levels are read"
    raise ParameterError(msg)
