r"""k-anonymity and l-diversity of nested records, verified on the published trees alone.

The check decides every case, from the trees alone. Records that look alike form *classes*, and their vertices that look
alike form *positions* (see `equivalence_classes`). Whatever is said about labels and shape, such as "a CS course with
two books, of a student born in the nineties", fits all vertices of a position or none of them. So a limit on the
frequency of a value at every position limits the confidence of everybody who knows labels and shape alone, however much
of them: what fits is a union of positions.

The thesis [1]_ defines more: there are mappings between the records of a class such that *each* vertex, together with
its images, is diverse. Such mappings imply the limit here, since a position of $r$ vertices per record is then $r$
lists of $n$ values, with no value more than $\lfloor n / l \rfloor$ times in any of them. Conversely, the limit implies
mappings in a class where vertices that look alike within a record are always siblings without sensitive values below
them: the graph of records and values has a colouring of its edges by $r$ colours that is equitable, and each colour is
a list. In other classes (alike courses, each with a book) the limit is only necessary for mappings: courses and books
may each be within it, while no mapping is diverse for both at once. The promise is worded as the limit, and nobody can
use the difference without a sensitive value: labels and shape do not say which of these vertices is which.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.records.anatomy import SENSITIVE, form_of, is_anatomised
from hedgerow.kinds.records.anatomy_audit import count_frequent, read_parts
from hedgerow.kinds.records.anatomy_words import diversity_limits, diversity_sentence
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.equivalence_classes import EquivalenceClasses, find_equivalence_classes
from hedgerow.kinds.records.foresight import foresee_diversity
from hedgerow.privacy.guarantee import Criterion, Guarantee, Plain
from hedgerow.privacy.numbers import read_whole

#: more records than any data has, and small enough for int64
_MOST = 10**15


class _TreeCriterion(Criterion):
    """What both promises share: the kind, and how outputs are read."""

    kinds: ClassVar = ("records",)

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count the vertices and their labels: each is examined a few times."""
        tables = [table for data in _records(outputs) for table in data.tables]
        return sum(table.labels.size + 2 * len(table.parent) for table in tables)

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations; further data sets are such, since nobody checks what several say together."""
        counts: Counter[str] = Counter()
        if is_anatomised(outputs):
            return self._count_parts(outputs)
        if len(outputs) > 1:
            counts["further data sets, which could be combined with the first"] = len(outputs) - 1
        for data in _records(outputs):
            counts.update(self._count(data, find_equivalence_classes(data)))
        return counts

    def _count_parts(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations of the two parts of an anatomised release."""
        return {"parts of an anatomised release, whose exact labels tell records apart": len(outputs)}

    @abstractmethod
    def _count(self, data: Records, alike: EquivalenceClasses) -> dict[str, int]:
        """Count the violations of one data set."""


@dataclass(frozen=True, init=False, repr=False)
class KAnonymity(_TreeCriterion):
    """k-anonymity of nested records [1]_: every published record looks like at least k - 1 others.

    Examples
    --------
    >>> KAnonymity(k=5)
    KAnonymity(k=5)

    References
    ----------
    .. [1] M. E. Nergiz, C. Clifton, A. E. Nergiz. "Multirelational k-anonymity". IEEE TKDE 21(8), 2009.
    """

    name: ClassVar[str] = "KAnonymity"

    k: int

    def __init__(self, *, k: int | str) -> None:
        object.__setattr__(self, "k", _at_least_two("k", k, "promises nothing: every record looks like itself"))

    def _count(self, data: Records, alike: EquivalenceClasses) -> dict[str, int]:
        del data
        return _count_rare(alike, self.k)

    def sentence(self) -> str:
        """State the promise in words."""
        return (
            f"Every published record has the shape and the labels of at least {_others(self.k)}: whatever anyone knows "
            "of the shape and the labels of a person's record, and of no sensitive value, fits at least "
            f"{self.k:,} published records, or none (k-anonymity of trees with k = {self.k:,})."
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover."""
        del domain
        return ("Sensitive values: all records that fit what somebody knows may have the same value.", *_COMMON)

    def fields(self) -> dict[str, Plain]:
        """The number k."""
        return {"k": str(self.k)}


@dataclass(frozen=True, init=False, repr=False)
class LDiversity(_TreeCriterion):
    r"""l-diversity of nested records: every record looks like others, which differ in their sensitive values [1]_.

    Every published record is in a class of $n \ge l$ records that look alike, and at every position of the class, with
    $r$ vertices per record, no sensitive value occurs more than $r \lfloor n / l \rfloor$ times: at most once in $l$,
    and less often where $l$ does not divide $n$, as the definition of the thesis requires. Values of one declared group
    of the sensitive attribute count as equal.

    Of anatomised records it says something else: labels are exact, and it is the link to sensitive values that is
    hidden in groups (see `anatomy_audit`). `form` is the form of them that the words are for, if it is known.

    Examples
    --------
    >>> LDiversity(l="3")
    LDiversity(l=3)

    References
    ----------
    .. [1] I. Ozalp, M. E. Gursoy, M. E. Nergiz, Y. Saygin. "Privacy-preserving publishing of hierarchical data". ACM
       TOPS 19(3), 2016.
    """

    name: ClassVar[str] = "LDiversity"

    l: int  # noqa: E741 - the letter of the paper
    form: str = field(compare=False)

    def __init__(self, *, l: int | str) -> None:  # noqa: E741 - the letter of the paper
        object.__setattr__(self, "l", _at_least_two("l", l, "promises nothing: all values may be equal"))
        object.__setattr__(self, "form", "")

    def worded_as(self, form: str) -> LDiversity:
        """The same promise in the words for anatomised records of this form."""
        worded = LDiversity(l=self.l)
        object.__setattr__(worded, "form", form)
        return worded

    def worded_for(self, outputs: Mapping[str, Dataset]) -> LDiversity:
        """The same promise in the words for what is published."""
        return self.worded_as(form_of(cast("Records", outputs[SENSITIVE]))) if is_anatomised(outputs) else self

    def foresee(self, data: Dataset, beside: Sequence[Guarantee] = (), *, read: bool = False) -> None:
        """Refuse, or warn about, an l that sensitive values are too few for."""
        del beside
        if not read:  # of the values that occur the method says it
            foresee_diversity(cast("Records", data), self.l)

    def _count_parts(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        parts = read_parts(outputs)
        return parts.faults if any(parts.faults.values()) else parts.faults | count_frequent(parts, self.l)

    def _count(self, data: Records, alike: EquivalenceClasses) -> dict[str, int]:
        counts = _count_rare(alike, self.l)
        large = alike.sizes >= self.l  # a smaller class is counted already
        for kind, positions in zip(data.schema.types, alike.positions, strict=True):
            if kind.sensitive is None:
                continue
            given = positions.bucket >= 0
            buckets = int(positions.bucket.max(initial=0)) + 1
            pairs, times = np.unique(positions.vertex[given] * buckets + positions.bucket[given], return_counts=True)
            at = pairs // buckets
            owner = positions.owner[at]
            beyond = large[owner] & (times > positions.times[at] * (alike.sizes[owner] // self.l))
            what = f"positions of type {kind.name!r} with a sensitive value that is too frequent"
            counts[what] = len(np.unique(at[beyond]))
        return counts

    def sentence(self) -> str:
        """State the promise in words."""
        if self.form:
            return diversity_sentence(self.l, self.form)
        return (
            f"Every published record has the shape and the labels of at least {_others(self.l)}, and at each position "
            f"of such records no sensitive value makes up more than 1 in {self.l:,} of the values (vertices that shape "
            "and labels do not tell apart are at one position): anyone who knows any of the shape and the labels of a "
            "person's record, and no sensitive value, and to whom all records that fit are equally likely, is at most "
            f"1/{self.l:,} sure of a sensitive value at a position (l-diversity of trees with l = {self.l:,})."
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover."""
        del domain
        if self.form:
            return (*diversity_limits(self.form), _SIMILAR, _GIVEN, *_EVERY_PROMISE)
        return (_SOME_POSITION, _SIMILAR, _LIKELIER, _GIVEN, _ABSENT, *_COMMON)

    def fields(self) -> dict[str, Plain]:
        """The number l."""
        return {"l": str(self.l)}


_SOME_POSITION = (
    "What a person has somewhere: where several positions are alike, or of one type, all records that fit may have the "
    "same value at one of them, such as the same grade in some course."
)
_SIMILAR = (
    "Values that differ but mean much the same: neighbouring numbers, or two names of one illness. Values are "
    "different if they are in different groups of the domain."
)
_LIKELIER = (
    "Anyone to whom some of the records or values that fit are likelier than others: by other knowledge about the "
    "person, or because labels and sensitive values go together, such as a title and its price."
)
_GIVEN = "Whether a sensitive value is given: that is published, and counts as known."
_ABSENT = (
    "Who is not published: a person whose record is missing is likelier to have a frequent sensitive value, since such "
    "records are left without partners."
)
_ONE_VALUE = (
    "Anyone who knows a sensitive value of a person: one value may tell the record from all others that look like it, "
    "and then all of its values can be read."
)
_MISSING = (
    "Conclusions from what is missing (the minimality attack): anyone who knows the method, and that two people have "
    "something that neither of their records shows, may conclude that their sensitive values there are equal; one of "
    "the two then knows the value of the other."
)
#: with the figures of made-up patients (Synthea), as docs/results/two-releases.json has them; what two releases of the
#: data at hand say together is for its owner only
_TWO_RELEASES = (
    "Another release about the same people, also one by the same command: what two releases say together may fit one "
    "record. Of 1,461 made-up patients in two releases with l = 2, comparing their diagnoses and intersecting their "
    "classes left one candidate for 23 %, and it was the right one for 21 %."
)
_EVERY_PROMISE = (
    "A person with several records: every record counts as a person of its own.",
    "How many records there are, and how frequent each sensitive value is in the data as a whole.",
    "How the release was made: this is a property of the published data, not of the method.",
)
#: what neither promise covers
_COMMON = (
    _ONE_VALUE,
    _MISSING,
    _TWO_RELEASES,
    *_EVERY_PROMISE,
)


def _records(outputs: Mapping[str, Dataset]) -> list[Records]:
    """Return the outputs as records: `Guarantee.require` refuses other kinds."""
    return cast("list[Records]", list(outputs.values()))


def _count_rare(alike: EquivalenceClasses, least: int) -> dict[str, int]:
    """Count the records in classes of fewer than `least` records."""
    few = int(alike.sizes[alike.sizes < least].sum())
    return {f"records that look like fewer than {_others(least)}": few}


def _others(records: int) -> str:
    return "1 other published record" if records == 2 else f"{records - 1:,} other published records"  # noqa: PLR2004


def _at_least_two(name: str, value: int | str, why: str) -> int:
    number = read_whole(name, value, most=_MOST, remedy="no data has that many records")
    if number == 1:
        msg = f"{name} must be at least 2, since 1 {why}; got 1"
        raise ParameterError(msg)
    return number
