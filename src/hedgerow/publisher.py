"""The base of all methods: a method has frozen parameters and one `run`; everything else about publishing is here."""

from __future__ import annotations

import dataclasses
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, final

from hedgerow.data import Dataset, Source
from hedgerow.errors import EngineError, InternalError, NotSatisfied, ParameterError, UnsupportedGuarantee
from hedgerow.frontiers import LOCAL
from hedgerow.privacy import Answers, Guarantee, Ledger, NoisyAnswers
from hedgerow.privacy.keyed_coins import OwnerKey, Term
from hedgerow.privacy.parsing import require_plain
from hedgerow.privacy.questions import FirstQuestionHook, KeyedAnswers
from hedgerow.promises import PROMISES
from hedgerow.release import Recipe, Release

Kind = TypeVar("Kind", bound=Dataset)


def param(
    default: Any,
    help: str,  # noqa: A002 - the name on the command line
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    choices: Collection[str] | None = None,
) -> Any:
    """State a parameter once: default, help and range; validation, CLI and docs read it here."""
    limits = {"ge": ge, "gt": gt, "le": le, "lt": lt}
    return dataclasses.field(default=default, metadata={"help": help, "limits": limits, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class Publisher(ABC, Generic[Kind]):
    """A method. Subclasses are frozen dataclasses with `param` fields and a `run`."""

    name: ClassVar[str]
    #: the kinds of data it publishes, by name
    kinds: ClassVar[tuple[str, ...]]
    keeps: ClassVar[tuple[type[Guarantee], ...]]
    units: ClassVar[tuple[str, ...]]
    #: for which data this method is recommended, in a few words; empty if another method is always better
    recommended: ClassVar[str] = ""
    #: whether it reads all records at once, so that they must be on this machine, instead of only counting them
    reads_all_records: ClassVar[bool] = False
    #: which features of data it can use, such as the weights of a network, and which of them it cannot do without
    uses: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    #: which attacks of its kind undo it, by their names; empty if none is known, and those are tried that need no help
    undone_by: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            _check(f"{type(self).__name__}.{field.name}", field, value)
            if isinstance(field.default, float):
                object.__setattr__(self, field.name, float(value))  # 2 and 2.0 are one recipe

    @abstractmethod
    def run(self, data: Kind, ledger: Ledger) -> Dataset | Mapping[str, Dataset]:
        """Turn private data into publishable data; private numbers leave through the ledger only."""

    def word(self, guarantee: Guarantee) -> Guarantee:
        """The promise in the words for what is published, if its form depends on the parameters."""
        return guarantee

    @property
    def workload(self) -> Mapping[str, int]:
        """What measures need to know about the parameters, such as how many items of a record are used (`longest`)."""
        return {}

    def key_terms(self, data: Kind) -> Mapping[str, Term]:
        """What a key of the owner is bound to if this method draws by one: everything that decides about its draws.

        Empty if it does not. Two releases by one key under other terms might give the exact data, so the key refuses
        them; the name of the method is one of them by itself.
        """
        del data
        return {}

    @final
    def publish(
        self,
        data: Kind,
        guarantee: Guarantee,
        *,
        seed: int | None = None,
        before_asking: Callable[[], None] | None = None,
        in_slices: bool = False,
        key: OwnerKey | None = None,
    ) -> Release[Kind]:
        """Publish data under a guarantee.

        Parameters
        ----------
        data
            The private data.
        guarantee
            The guarantee; it has no default.
        seed
            For tests only: it makes the run repeatable, so the statement says *not for
            publication*.
        before_asking
            Called once, before the first question is asked of the data; if it fails, no question is asked.
        in_slices
            Whether data that can be made slice by slice, as of a stream, is made while it is read or written, once.
        key
            The owner's key of a data set that is published repeatedly, for methods that draw by one.
        """
        if seed is not None and (type(seed) is not int or seed < 0):
            msg = f"seed must be a whole number of at least 0; got {seed!r}"
            raise ParameterError(msg)
        answers = NoisyAnswers(seed)
        if before_asking is not None:
            answers = FirstQuestionHook(answers, before_asking)
        if key is not None:
            if seed is not None:
                msg = "give a seed or a key, not both: a key is for publication, and a seed is not"
                raise ParameterError(msg)
            require_key(self, data, key)
            answers = KeyedAnswers(answers, key)
        return publish_with(self, data, guarantee, answers, in_slices=in_slices)


def publish_with(
    method: Publisher[Any], data: Dataset, guarantee: Guarantee, answers: Answers, *, in_slices: bool = False
) -> Release[Any]:
    """Check, open the ledger, run, bring into canonical order, verify, wrap: the only way to a release."""
    if isinstance(guarantee, Guarantee) and isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance]
        guarantee = guarantee.about(data)
    require_support(method, data, guarantee)
    if guarantee.needs_public_domain:
        data = data.without_attributes()
    data = guarantee.bound(data)
    ledger = guarantee.open(data, answers)
    result = method.run(data, ledger)
    named = {"": result} if isinstance(result, Dataset) else dict(result)
    if not named:
        msg = f"{method.name} returned no data set"
        raise InternalError(msg)
    if data.domain.source is Source.INFERRED:
        # which values occur is private: only those that are in the output may be published, or decide about its order
        named = {name: output.narrowed() for name, output in named.items()}
    outputs = {
        name: (output if in_slices and output.comes_in_slices else output.canonical()).on(LOCAL)
        for name, output in named.items()
    }
    if guarantee.needs_public_domain:
        _require_domain(method, data, outputs)
    owners = {name: output.canonical_owners() for name, output in named.items()}
    verdict = guarantee.verify(outputs)
    for checked in (verdict, guarantee.verify_owners(outputs, owners)):
        if checked is not None and not checked.satisfied:
            msg = f"{method.name} did not keep {guarantee.name} ({checked.failures}); nothing was released"
            raise NotSatisfied(msg)
    evidence = ledger.evidence()
    late = any(output.comes_in_slices for output in outputs.values())
    return Release(
        outputs=outputs,
        domain=next(iter(outputs.values())).domain,
        guarantee=guarantee,
        evidence_so_far=ledger.evidence if late else lambda: evidence,
        recipe=recipe_of(method),
        verdict=verdict,
        publishable=answers.publishable,
        owners=owners if guarantee.unchecked(data.domain) else {},
    )


def _require_domain(method: Publisher[Any], data: Dataset, outputs: Mapping[str, Dataset]) -> None:
    """Refuse an output over another domain: only the declared domain is public."""
    if any(output.domain != data.domain for output in outputs.values()):
        msg = f"{method.name} returned data over a domain that is not the declared one"
        raise InternalError(msg)


def require_support(method: Publisher[Any], data: Dataset, guarantee: Guarantee) -> None:
    """Refuse data, guarantees and domains that the method does not support, before anything is read."""
    if not isinstance(guarantee, Guarantee):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"state a guarantee such as PureDP(epsilon=1, unit='record'); got {guarantee!r}"
        raise ParameterError(msg)
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"{method.name} publishes a data set such as Sets; got {type(data).__name__}"
        raise ParameterError(msg)
    if data.kind not in method.kinds:
        msg = f"{method.name} publishes {', '.join(method.kinds)}; got {data.kind}"
        raise ParameterError(msg)
    _require_features(method, data)
    if method.reads_all_records and data.engine.name != LOCAL.name:
        msg = f"{method.name} reads all records at once, on this machine; it cannot run on engine {data.engine.name!r}"
        raise EngineError(msg)
    for part in guarantee.parts():
        if not isinstance(part, method.keeps):
            keeps = ", ".join(kept.name for kept in method.keeps)
            msg = f"{method.name} does not keep {part.name}; it keeps {keeps}"
            raise UnsupportedGuarantee(msg)
    _require_beside(guarantee)
    if guarantee.needs_public_domain:
        data.domain.require_public()
    for unit in guarantee.units:
        if unit not in method.units:
            msg = f"{method.name} protects {', '.join(method.units)}; got unit {unit!r}"
            raise UnsupportedGuarantee(msg)
        data.require_all(unit)
    require_plain(guarantee.to_plain())  # otherwise a recipient could not read the release


def require_key(method: Publisher[Any], data: Dataset, key: OwnerKey) -> None:
    """Refuse a key that this method, or a run of it with these parameters on this data, may not draw by."""
    key.require(terms_of_key(method, data))


def terms_of_key(method: Publisher[Any], data: Dataset) -> Mapping[str, Term]:
    """The terms of a key, with the method; refuse a method that draws nothing by a key."""
    if data.kind not in method.kinds:
        msg = f"{method.name} publishes {', '.join(method.kinds)}; got {data.kind}"
        raise ParameterError(msg)
    terms = method.key_terms(data)
    if not terms:
        msg = f"{method.name} draws nothing by a key; omit it"
        raise ParameterError(msg)
    return {"method": method.name, **terms}


def _require_beside(guarantee: Guarantee) -> None:
    """Refuse a promise without those that must be made with it."""
    names = {part.name for part in guarantee.parts()}
    for name in sorted(names & PROMISES.keys()):
        for other in PROMISES[name].beside:
            if other not in names:
                msg = f"{name} is promised together with {other}; state both: All({other}(...), {name}(...))"
                raise UnsupportedGuarantee(msg)


def _require_features(method: Publisher[Any], data: Dataset) -> None:
    """Refuse data with what the method cannot use, or without what it needs: nothing is left out in silence."""
    for feature, remedy in data.features.items():
        if feature not in method.uses:
            msg = f"{method.name} cannot use {feature}, and the data has them; {remedy}"
            raise ParameterError(msg)
    for feature in method.needs:
        if feature not in data.features:
            msg = f"{method.name} needs {feature}, and the data has none; {data.feature_sources[feature]}"
            raise ParameterError(msg)


def recipe_of(method: Publisher[Any]) -> Recipe:
    """The recipe of a method: its id and parameters."""
    fields = dataclasses.fields(method)
    return Recipe(method.name, tuple((field.name, getattr(method, field.name)) for field in fields))


def _check(what: str, field: dataclasses.Field[Any], value: object) -> None:
    if "help" not in field.metadata:
        msg = f"{what} must be stated by param, with a default and a help text"
        raise InternalError(msg)
    default: object = field.default
    kind = type(default)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (type(value) is kind or (kind is float and number)):
        msg = f"{what} must be {_KINDS.get(kind, kind.__name__)}; got {value!r}"
        raise ParameterError(msg)
    choices: Collection[str] | None = field.metadata["choices"]
    if choices is not None and value not in choices:
        msg = f"{what} must be one of {', '.join(choices)}; got {value!r}"
        raise ParameterError(msg)
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"{what} must be finite; got {value!r}"
        raise ParameterError(msg)
    limits: dict[str, float | None] = field.metadata["limits"]
    for name, (words, holds) in _LIMITS.items():
        limit = limits[name]
        if limit is not None and isinstance(value, (int, float)) and not holds(value, limit):
            msg = f"{what} must be {words} {limit:g}; got {value!r}"
            raise ParameterError(msg)


_KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "True or False"}
_LIMITS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "ge": ("at least", operator.ge),
    "gt": ("greater than", operator.gt),
    "le": ("at most", operator.le),
    "lt": ("less than", operator.lt),
}


# The most that noise alone may publish.

#: values, such as the items of all records, that noise alone may publish: more may not fit in two gigabytes
_MOST = 10_000_000
#: scales of its noise that a single count is reckoned to have: more have a probability of 1 in 3,000
SCALES = 8
#: a logarithm beyond every limit
_FAR = 99.0


def require_little_noise(values: float, what: str, remedy: str) -> None:
    """Refuse to publish if noise alone may produce more values than this.

    A small budget makes noisy counts, and with them releases, of any size. The limit depends on the budget, the
    parameters and the domain only, and is checked before anything is asked: nothing is spent on a release that would
    not fit in memory.

    Examples
    --------
    >>> require_little_noise(1e6, "items", "take a larger epsilon")
    >>> require_little_noise(1e9, "items", "take more")
    Traceback (most recent call last):
    ...
    hedgerow.errors.ParameterError: noise alone may produce about 1e+09 items, more than 10,000,000; take more
    """
    if values > _MOST:
        msg = f"noise alone may produce about {values:.1g} {what}, more than {_MOST:,}; {remedy}"
        raise ParameterError(msg)


def expected_noise(candidates: int, scale: float, cutoff: float) -> float:
    """What empty candidates publish if counts of this noise scale are kept from a cutoff on: expected, or one of them.

    Examples
    --------
    >>> round(expected_noise(1000, 10.0, 30.0)), round(expected_noise(1, 10.0, 30.0))
    (996, 80)
    """
    reach = math.exp(min(math.log(candidates) - cutoff / scale, _FAR)) / 2
    return max(SCALES * scale, reach * (cutoff + scale))
