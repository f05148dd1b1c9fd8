r"""Survivors of a threshold over families of candidates too large to enumerate.

A family is a set of candidates with codes from 0. Those that occur are listed with their exact counts; the others are
empty. The result has exactly the distribution of adding noise to every candidate, empty or not, and dropping those
below the cutoff:

- noise is added to a listed candidate, and the sum is compared with the cutoff;
- an empty one reaches cutoff $t \ge 1$ with $P(Z \ge t) = e^{-\lambda t} / (1 + e^{-\lambda})$,
  independently of the others, so `samplers.successes` draws which do;
- if it does, its noisy count is $t + G$, $G$ geometric, since $P(Z \ge t + g \mid Z \ge t) = e^{-\lambda g}$.

The result is sorted, so that its order does not distinguish survivors that occur from empty ones.

The trick is Theorem 4.1 of R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou, "Differentially
private transit data publication: a case study on the Montreal transportation system", KDD 2012.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, ParameterError
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy import samplers
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.mechanisms import Laplace
from hedgerow.privacy.shares import Shares

#: int64 codes, or Python integers where a family has more than 2**63 candidates
CandidateCodes: TypeAlias = NDArray[Any]
_VECTOR = 1 << 60
_MOST = 1 << 25


class Survivors(NamedTuple):
    """The candidates that reached the cutoff: family, code within it and noisy count; sorted."""

    at: Integers
    codes: CandidateCodes
    noisy: Integers


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSets:
    """Families of candidates: how many each has (public), and which of them are listed (private)."""

    candidates: CandidateCodes
    cutoffs: Integers
    at: Integers
    codes: CandidateCodes

    @classmethod
    def of(
        cls,
        candidates: int | CandidateCodes,
        cutoffs: int | Integers,
        at: Integers,
        codes: CandidateCodes,
        size: int,
    ) -> CandidateSets:
        """Describe `size` families; `candidates` and `cutoffs` may be one number for all."""
        counts = _spread("candidates", candidates, size)
        limits = _spread("cutoff", cutoffs, size)
        if np.any(counts < 0):
            msg = "a family cannot have fewer than 0 candidates"
            raise ParameterError(msg)
        if np.any(limits < 1):
            msg = (
                f"cutoff must be at least 1; got {min(limits.tolist())}: "
                "below it, most empty candidates reach the cutoff; ask for every cell instead"
            )
            raise ParameterError(msg)
        if limits.dtype == np.object_:
            msg = "cutoff must be below 2**60: no count reaches it"
            raise ParameterError(msg)
        return cls(counts, limits, at, codes)

    def require_few(self, mechanism: Laplace, shares: Shares) -> None:
        """Refuse questions whose empty survivors would not fit in memory; it reads public numbers only."""
        rates = shares.floats() / float(mechanism.l1)
        if self.candidates.dtype == np.object_:
            logs = np.array([math.log(max(1, number)) for number in self.candidates.tolist()])
        else:
            logs = np.log(np.maximum(1, self.candidates))
        # successes are drawn with a probability of at least e**-600 and then thinned, so that counts
        scales = np.minimum(rates * self.cutoffs, float(samplers.THINNED))
        expected = float(np.exp(np.minimum(logs - scales, 99.0)).sum())
        if expected > _MOST:
            msg = (
                f"about {expected:.2g} of the empty candidates would reach the cutoff, and at most "
                f"{_MOST:,} fit in memory; raise the threshold, or take a method for larger domains"
            )
            raise ParameterError(msg)

    def check(self, exact: Integers) -> None:
        """Refuse listed candidates that are out of range or listed twice."""
        if not len(self.at) == len(self.codes) == len(exact):
            msg = "survivors: ids and exact counts must be equally long"
            raise InternalError(msg)
        if len(self.at) == 0:
            return
        if self.at.min() < 0 or self.at.max() >= len(self.candidates):
            msg = "survivors: an id is in a family that was not given"
            raise InternalError(msg)
        if np.any((self.codes < 0) | (self.codes >= self.candidates[self.at])):
            msg = "survivors: an id is outside its candidates"
            raise InternalError(msg)
        order = _order(self.at, self.codes)
        at, codes = self.at[order], self.codes[order]
        if np.any((at[1:] == at[:-1]) & (codes[1:] == codes[:-1])):
            msg = "survivors: an id is listed twice"
            raise InternalError(msg)


def draw_survivors(
    mechanism: Laplace, families: CandidateSets, exact: Integers, shares: Shares, source: Bits
) -> Survivors:
    """Draw the survivors, with one share and one cutoff per family."""
    noisy = mechanism.draw(exact, shares[families.at], source)
    kept = noisy >= families.cutoffs[families.at]
    at, codes = _empty_survivors(mechanism, families, shares, source)
    tail = samplers.geometric(mechanism.rates(shares), shares.codes[at], source)
    return _sorted(
        np.concatenate((families.at[kept], at)),
        np.concatenate((families.codes[kept], codes)),
        np.concatenate((noisy[kept], families.cutoffs[at] + tail)),
    )


def exact_survivors(families: CandidateSets, exact: Integers) -> Survivors:
    """Keep the listed candidates that reach the cutoff without noise."""
    kept = exact >= families.cutoffs[families.at]
    return _sorted(families.at[kept], families.codes[kept], exact[kept])


def _empty_survivors(
    mechanism: Laplace, families: CandidateSets, shares: Shares, source: Bits
) -> tuple[Integers, CandidateCodes]:
    """Draw which empty candidates survive: one draw for all families with the same share and cutoff."""
    counts = np.bincount(families.at, minlength=len(families.candidates))
    groups = _alike(shares.codes, families.cutoffs)
    order = np.concatenate([*groups, np.zeros(0, np.int64)])
    empties = (families.candidates - counts)[order]
    rates = mechanism.rates(shares)
    drawn: list[CandidateCodes] = [np.zeros(0, np.int64)]
    passed = start = 0
    for members in groups:
        total = _sum(empties[start : start + len(members)])
        rate, cutoff = rates[int(shares.codes[members[0]])], int(families.cutoffs[members[0]])
        hits: CandidateCodes = samplers.successes(total, rate.value, cutoff, source)
        fits = passed + total < _VECTOR
        drawn.append((hits if fits else hits.astype(np.object_)) + passed)
        passed, start = passed + total, start + len(members)
    place = _place_many if passed < _VECTOR else _place_huge
    return place(np.concatenate(drawn), order, empties, families)


def _place_many(
    ranks: CandidateCodes, order: Integers, empties: CandidateCodes, families: CandidateSets
) -> tuple[Integers, CandidateCodes]:
    """Turn ranks among the empty candidates, families in this order, into family and code.

    Within a family the `i`-th listed code `c` has `c - i` empty codes before it. So the code of
    rank `r` is `r` plus the number of listed codes with `c - i <= r`: one search for all families.
    """
    ends = np.cumsum(empties.astype(np.int64))
    begins = ends - empties
    home = np.searchsorted(ends, ranks, "right")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    owner, taken = position[families.at], families.codes
    by = _order(owner, taken)
    owner, taken = owner[by], taken[by].astype(np.int64)
    firsts = np.searchsorted(owner, np.arange(len(order)))
    before = taken - (np.arange(len(owner)) - firsts[owner])
    passed = np.searchsorted(begins[owner] + before, ranks, "right") - firsts[home]
    return order[home], ranks - begins[home] + passed


def _place_huge(
    ranks: CandidateCodes, order: Integers, empties: CandidateCodes, families: CandidateSets
) -> tuple[Integers, CandidateCodes]:
    """Do the same in Python integers, for candidates beyond int64."""
    ends: list[int] = list(itertools.accumulate(int(size) for size in empties.tolist()))
    taken: dict[int, list[int]] = {}
    for family, code in zip(families.at.tolist(), families.codes.tolist(), strict=True):
        taken.setdefault(family, []).append(int(code))
    gaps = {family: [code - number for number, code in enumerate(sorted(used))] for family, used in taken.items()}
    at: list[int] = []
    codes: list[int] = []
    for rank in ranks.tolist():
        home = bisect_right(ends, rank)
        local = rank - (ends[home - 1] if home else 0)
        at.append(int(order[home]))
        codes.append(local + bisect_right(gaps.get(at[-1], []), local))
    return np.array(at, np.int64), np.array(codes, np.object_)


def _sorted(at: Integers, codes: CandidateCodes, noisy: Integers) -> Survivors:
    order = _order(at, codes)
    return Survivors(at[order], codes[order], noisy[order])


def _order(at: Integers, codes: CandidateCodes) -> NDArray[np.intp]:
    """Sort by family, then by code; `lexsort` cannot sort Python integers."""
    if codes.dtype != np.object_:
        return np.lexsort((codes, at))
    pairs = zip(at.tolist(), codes.tolist(), range(len(at)), strict=True)
    return np.array([row for _, _, row in sorted(pairs)], np.intp)


def _alike(first: Integers, second: Integers) -> list[Integers]:
    """Group the positions whose two numbers are equal."""
    if len(first) == 0:
        return []
    order = np.lexsort((second, first))
    new = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    return np.split(order.astype(np.int64), np.flatnonzero(new) + 1)


def _spread(what: str, numbers: int | CandidateCodes, size: int) -> CandidateCodes:
    """Return one whole number per family: int64 where they fit, Python integers where not."""
    if isinstance(numbers, int):
        return np.full(size, numbers, np.int64 if abs(numbers) < _VECTOR else np.object_)
    if len(numbers) != size:
        msg = f"{what} must be one number, or one per family: got {len(numbers)} for {size}"
        raise ParameterError(msg)
    return numbers if numbers.dtype == np.object_ else numbers.astype(np.int64)


def _sum(numbers: CandidateCodes) -> int:
    """Add up exactly: in int64 only if no sum can overflow it."""
    largest = max(abs(int(numbers.max(initial=0))), 1)
    if numbers.dtype == np.object_ or largest > _VECTOR // max(1, len(numbers)):
        return sum(numbers.tolist())
    return int(numbers.sum())


def survivor_loss(
    mechanism: Laplace,
    families: CandidateSets,
    exact: Integers,
    other_families: CandidateSets,
    other: Integers,
    shares: Shares,
) -> Fraction:
    """Bound the log-ratio of any answer: `|moved| * share / l1`, summed over all candidates."""
    moved: dict[tuple[int, int], int] = {}
    for side, counts, sign in ((families, exact, 1), (other_families, other, -1)):
        for at, code, count in zip(side.at.tolist(), side.codes.tolist(), counts, strict=True):
            moved[at, code] = moved.get((at, code), 0) + sign * int(count)
    cells = np.array([at for at, _ in moved], np.int64)
    amounts = np.array([abs(amount) for amount in moved.values()], np.int64)
    return shares[cells].weigh(amounts) / mechanism.l1
