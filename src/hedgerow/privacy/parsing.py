"""Promises made of plain data: of options, as they are typed, and of what `release.json` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hedgerow.errors import ParameterError, UnsupportedGuarantee
from hedgerow.privacy.guarantee import All, Guarantee
from hedgerow.promises import PROMISES, find_promise, interpret_options

__all__ = ["build", "from_options", "from_plain", "require_plain"]

#: a promise is no longer than this, in texts, in characters of a text and in lists within lists
_MOST_TEXTS, _LONGEST, _DEEPEST = 10_000, 1_000, 6


def build(promises: Sequence[str], given: Mapping[str, Any]) -> Guarantee:
    """Make one promise, or all of several, each of those options given that it has.

    Examples
    --------
    >>> build(["PureDP"], {"epsilon": "0.5", "unit": "person"})
    PureDP(epsilon=0.5, unit='person')
    """
    parts: list[Guarantee] = [
        find_promise(name)(**{option: given[option] for option in PROMISES[name].options if option in given})
        for name in promises
    ]
    return parts[0] if len(parts) == 1 else All(*parts)


def from_options(given: Mapping[str, Any], promises: Sequence[str] = ()) -> Guarantee:
    """Make the promise that has just these options.

    Parameters
    ----------
    promises
        Which it is, if that was said: where the options may mean several, it has to be.

    Raises
    ------
    UnsupportedGuarantee
        If the options mean nothing, or one thing as well as another.
    """
    for name in promises:
        if name not in PROMISES:
            msg = f"there is no promise {name!r}; there are: {', '.join(PROMISES)}"
            raise ParameterError(msg)
    asked = " ".join(f"--{name}" for name in given)
    meant = interpret_options(given, promises or list(PROMISES))
    if promises:
        meant = [reading for reading in meant if set(reading) == set(promises)]
    if len(meant) > 1:
        listed = ", or ".join(" with ".join(reading) for reading in meant)
        msg = f"{asked} may be {listed}; say which by --promise"
        raise UnsupportedGuarantee(msg)
    if not meant:
        listed = "; or ".join(
            f"{name}: {' '.join(f'--{option}' for option in PROMISES[name].options)}" for name in promises or PROMISES
        )
        msg = f"no guarantee has just {asked}; there are {listed}"
        raise UnsupportedGuarantee(msg)
    return build(meant[0], given)


def from_plain(plain: Mapping[str, Any]) -> Guarantee:
    """Take back what `Guarantee.to_plain` laid out; a stranger may have written it.

    Examples
    --------
    >>> from_plain({"name": "All", "parts": [{"name": "PureDP", "epsilon": "1/2", "unit": "record"}]})
    All(PureDP(epsilon=0.5, unit='record'))
    """
    require_plain(plain)
    if plain.get("name") != All.name:
        return _part(plain)
    parts = plain.get("parts")
    if set(plain) != {"name", "parts"} or not isinstance(parts, list):
        msg = "All has parts and nothing else"
        raise ParameterError(msg)
    return All(*map(_part, cast("list[Any]", parts)))


def _part(plain: Any) -> Guarantee:
    fields = dict(cast("Mapping[str, Any]", plain)) if isinstance(plain, Mapping) else {}
    name = fields.pop("name", "")
    if not isinstance(name, str) or name not in PROMISES or not PROMISES[name].fits(fields):
        msg = f"there is no guarantee {str(name)[:40]!r} with these fields"
        raise ParameterError(msg)
    return find_promise(name)(**fields)


def require_plain(plain: Any) -> None:
    """Refuse what is no plain data, or so much of it that reading it is work."""
    texts, level = 0, [plain]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                texts += 1
                if len(value) > _LONGEST:
                    msg = f"a number of the promise is too long, or a name: more than {_LONGEST:,} characters"
                    raise ParameterError(msg)
            elif isinstance(value, Mapping):
                table = cast("Mapping[Any, Any]", value)
                below += [*table, *table.values()]
            elif isinstance(value, (list, tuple)):
                below += cast("list[Any]", value)
            else:
                msg = "a promise is written in texts, and lists and tables of them"
                raise ParameterError(msg)
        if texts + len(below) > _MOST_TEXTS:
            msg = f"a promise has at most {_MOST_TEXTS:,} numbers and names"
            raise ParameterError(msg)
        if not below:
            return
        level = below
    msg = "a promise has lists within lists within lists; no promise has"
    raise ParameterError(msg)
