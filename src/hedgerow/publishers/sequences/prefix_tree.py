"""A tree of noisy prefixes: what sequences begin with, as deep as the counts carry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Sequences, Taxonomy, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Frontier, Habit, NextSymbol
from hedgerow.privacy import Laplace, Ledger, PureDP, Shares
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.sequences.gates import END, GATES, Families, Gates, ask_children
from hedgerow.publishers.sequences.prefix_writing import (
    Known,
    agreed,
    continued_sequences,
    emitted,
    whole_sequences,
)
from hedgerow.publishers.sequences.time_questions import (
    ask_times,
    note_first_visits,
    note_times,
)
from hedgerow.steps.following import Habits
from hedgerow.steps.prefixes import Prefixes, Table
from hedgerow.steps.visit_times import Times

__all__ = ["PrefixTree"]

Integers: TypeAlias = NDArray[np.int64]

#: a group of places must hold more than so many for the paper's split of a level's budget
_PAIR = 2
#: a gate share is a fraction of this many parts at most
_PARTS = 10_000
#: the parts of the budget for how many sequences there are, and for what people are used to
_NUMBER, _HABITS = Fraction(1, 100), Fraction(3, 100)
#: the least and the most for single places, in hundredths, and how that depends on depth
_SINGLE, _SHALLOW = (9, 50), 300.0
#: from so many labels on, groups are asked for first
_MANY = 2_000
#: sequences that noise may make, if it is so many times its scale
_MOST, _TAIL = 300_000_000, 20
#: a share of a level is rounded down to one of about so many
_SHARES = 4_096
#: a cutoff that no count reaches, and labels that no word can hold together with a node
_LARGEST, _WORD, _PLACES = 1 << 59, 1 << 38, 1 << 20
#: what floating-point errors may add to a whole number
_SPARE = 1e-9


@dataclass(frozen=True, kw_only=True)
class PrefixTree(Publisher[Sequences | Trajectories]):
    r"""Publish sequences, or visits with their times, by the noisy counts of their prefixes.

    Prefixes are counted level by level: below one whose noisy count reaches a threshold, every
    place that may come next. In mode `hybrid` groups of places are asked for first, and only what
    is in a group that passed is asked for after that, so that few of the many empty prefixes
    pass [1]_. Visits with times are labels of place and time; a later visit is never earlier.

    Corrected: the printed inference leaves negative counts and children above their parents
    (`inference` paper); here children are projected onto what their parent holds, or all counts are
    solved for at once (`exact`). A later visit may be at the same time. A group of two places
    leaves nothing to count them with by the printed split: say `gate_share`. Empty prefixes are
    kept from breeding in mode `simple` as well. Ours (`generator` continued): the end of a sequence
    is one more thing that may come next, so that what was too rare to be counted is told from what
    ended, and sequences go on there as they do elsewhere; the paper (`cut`) lets them end, which
    makes most of them too short. The budget of a branch goes to the levels it is expected to have.

    Privacy
    -------
    prefixes: a sequence, cut to its first `height` items, walks down one path (L1 = 1, one token):
    at every level it is in one group, then at one place in that group, or at its end. A level
    spends a part of what is left on its path, groups and places together, and the last level at
    most the rest; so no path spends more than was reserved. The others only for `continued`:
    number of records: a sequence counts once (L1 = 1), a hundredth of the budget. habits: after
    each but the last of its items a sequence stays, goes back, goes elsewhere or ends (L1 =
    `height` - 1), three hundredths. places: a sequence has at most `height` items (L1 = `height`),
    nine to fifty hundredths, as the noisy number says. Where visits have times, three hundredths
    each: times (L1 = `height`, as for places); first times: a record has one first visit, or none
    (L1 = 1); durations: a record is in one cell, by its number of visits, the block of its first
    time and the class of the time from its first to its last visit (L1 = 1). Which prefixes live,
    what they spend, which times are a block, inference and writing depend on noisy answers only.
    Groups, times, thresholds, classes and height are public.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["airport", "centre", "harbour", "museum"])
    >>> trips = [["airport", "centre", "airport"]] * 3000 + [["harbour"]] * 1000
    >>> data = Sequences.from_records(trips, domain=domain)
    >>> release = PrefixTree(height=4).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.named() if n > 100]
    [(('harbour',), 1000), (('airport', 'centre', 'airport'), 3000)]

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data
       publication: a case study on the Montreal transportation system". KDD 2012.
    """

    name: ClassVar[str] = "prefix-tree"
    kinds: ClassVar = (Sequences, Trajectories)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "trajectory", "person")

    height: int = param(12, "items of a sequence that are used, the first", ge=1, le=200)
    mode: str = param(
        "auto",
        "ask for groups of places first, or for all places; auto: groups from 2,000 labels on",
        choices=("auto", "hybrid", "simple"),
    )
    taxonomy: str = param("fan-out", "groups by fan-out, or the declared paths", choices=("fan-out", "declared"))
    fanout: int = param(0, "places in a group; 0: the root of their number", ge=0)
    gate_share: float = param(0.5, "part of a level's budget for groups; 0: two over the size of a group", ge=0, lt=1)
    a_gate: float = param(4.0, "noise standard deviations a group must reach", ge=0)
    a_place: float = param(5.0, "noise standard deviations a place must reach", ge=0)
    tau_split: float = param(0.5, "empty ones that may be expected to pass below a node; 0: no bound", ge=0)
    budget: str = param("adaptive", "a level's share by expected height, or even", choices=("adaptive", "uniform"))
    inference: str = param(
        "project",
        "how counts are made to agree",
        choices=("project", "exact", "paper", "none"),
    )
    generator: str = param(
        "continued",
        "what becomes of continuations too rare to be counted",
        choices=("continued", "cut"),
    )
    rounding: str = param("cumulative", "how counts are rounded", choices=("cumulative", "nearest"))
    most: int = param(5_000_000, "live prefixes before the run is given up", ge=1)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first items of a sequence are used."""
        return {"longest": self.height}

    def run(self, data: Sequences | Trajectories, ledger: Ledger) -> Sequences | Trajectories:
        """Count prefixes level by level below what passed, and write sequences like them."""
        self._require_little_noise(float(ledger.budget))
        gates = self._gates(data)
        gap = int(isinstance(data, Trajectories) and not data.several)
        positions = data.positions(self.height)
        if self.generator == "cut":
            tree = self.grow(positions, gates, gap, ledger)
            note_first_visits(tree, gates, ledger)
            copies = emitted(tree, agreed(tree, self.inference), self.rounding)
            return _as_data(*whole_sequences(tree, copies, self.height), data)
        known = self._sizes(positions, gates, gap, ledger)
        tree = self.grow(positions, gates, gap, ledger)
        counts = agreed(tree, self.inference, known.total(tree))
        copies = emitted(tree, counts, self.rounding)
        note_first_visits(tree, gates, ledger)
        note_times(known.times, known.total(tree), known.missing(tree, copies), ledger)
        written = continued_sequences(tree, counts, copies, self.height, known, ledger.coins())
        return _as_data(*written, data)

    def _sizes(self, positions: Frontier, gates: Gates, gap: int, ledger: Ledger) -> Known:
        """Ask how many sequences there are, how often each place is in them, and for habits."""
        label = NextSymbol(gates.places * gates.times)
        counted, firsts = positions.count(label), positions.first().count(label)
        exact = np.array([firsts.counts.sum()])
        share = ledger.budget * _NUMBER
        number = ledger.ask(exact, Laplace(l1=1), spend=share, label="number of records")
        habits = self._habits(positions, gates, ledger)
        occurs = np.zeros(gates.places, np.int64)
        np.add.at(occurs, counted.codes % gates.places, counted.counts)
        spend = ledger.budget * self._single(int(number[0]), gates.places, float(ledger.budget))
        noisy = ledger.ask(occurs, Laplace(l1=self.height), spend=spend, label="places")
        spread = 2 / float(share) ** 2
        many = max(0, int(number[0]))
        times = Times.none(gates.times)
        if gates.times > 1:
            times = ask_times(positions, gates, many, self.height, ledger)
        return Known(many, spread, noisy, habits, times, gap)

    def _habits(self, positions: Frontier, gates: Gates, ledger: Ledger) -> Habits:
        """Ask what people are used to: to stay, to go back, to end."""
        spend = ledger.budget * _HABITS
        noisy, doubt = np.zeros((0, 4), np.int64), 0.0
        if self.height > 1:
            exact = positions.count(Habit(gates.places, self.height)).by_code()
            steps = Laplace(l1=self.height - 1)
            noisy = ledger.ask(exact, steps, spend=spend, label="habits").reshape(-1, 4)
            doubt = math.sqrt(2) * (self.height - 1) / float(spend)
        return Habits(noisy, doubt)

    def _single(self, number: int, places: int, budget: float) -> Fraction:
        """What to spend on single places: little, unless a tree has little to tell of anyway.

        That is where a place has hardly more sequences than a level has noise.
        """
        deep = max(1.0, number * budget / (places * self.height))
        least, most = _SINGLE
        return Fraction(min(most, max(least, round(_SHALLOW / deep))), 100)

    def grow(self, positions: Frontier, gates: Gates, gap: int, ledger: Ledger) -> Prefixes:
        """Ask for the counts of prefixes, level by level, below those that passed."""
        paths = ledger.paths(spend=ledger.left, label="prefixes")
        tree = Prefixes(gates.places * gates.times)
        positions, live = positions.first(), _Live.root(paths.root)
        for level in range(self.height):
            height = self._heights(tree, live, gates, level)
            share = _rounded(paths.left(live.nodes) / height, ledger.budget / _SHARES)
            counted = positions.count(NextSymbol(tree.size))
            found = ask_children(
                paths,
                counted,
                gates,
                live.nodes,
                live.early,
                share,
                self._cutoff,
                ends=level > 0 and self.generator == "continued",
            )
            tree.asked[live.numbers[live.numbers >= 0]] = True
            spend = found.spend.floats()
            numbers = tree.add(live.numbers[found.at], found.label, found.noisy, spend**2 / 2)
            # a branch goes on below what passed, while it has something to spend and time is left
            early = found.label // gates.places + gap
            on = (height[found.at] > 1) & (found.label < tree.size) & (early < gates.times)
            live = _Live(found.nodes[on], numbers[on], early[on], share.floats()[found.at[on]])
            if not len(live.nodes):
                break
            self._require_few(len(live.nodes))
            positions = counted.move(found.at[on], found.label[on])
        return tree

    def _heights(self, tree: Prefixes, live: _Live, gates: Gates, level: int) -> Integers:
        """How many levels below each node are expected to pass: one at least.

        A node that holds `A` sequences, of which the largest child has the part `p` again and
        again, falls to the threshold after `log(threshold / A) / log p` levels. What `p` is, nodes
        at the same place have shown.
        """
        most = self.height - level
        if level == 0 or self.budget == "uniform":
            return np.full(len(live.nodes), most)
        part = _largest_part(tree, gates.places)[tree.label[live.numbers] % gates.places]
        noisy = tree.noisy[live.numbers]
        limit = self._passing(gates, live.share)
        height = np.where(part < 1, 1, most)
        some = (part < 1) & (noisy > limit)
        levels = np.log(limit[some] / noisy[some]) / np.log(part[some])
        height[some] = np.clip(np.ceil(levels - _SPARE), 1, most)
        return height

    def _passing(self, gates: Gates, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """About the count that passed all questions of a level."""
        scales = [self.a_gate / float(part) for part in gates.spend]
        scales.append(self.a_place / float(1 - sum(gates.spend, Fraction(0))))
        return np.maximum(1.0, math.sqrt(2) * max(scales) / share)

    def _cutoff(self, families: Families, share: Shares) -> Integers:
        """The least count that passes; how many sequences end somewhere is asked without one."""
        spend = share.floats()
        scales = math.sqrt(2) * np.where(families.kind == GATES, self.a_gate, self.a_place)
        if self.tau_split > 0:
            # an empty one reaches t with chance a**t / (1 + a): at most tau of a family in all
            few = np.log(families.candidates / (self.tau_split * (1 + np.exp(-spend))))
            scales = np.maximum(scales, few)
        scales[families.kind == END] = 0
        return np.clip(np.ceil(scales / spend), 1, _LARGEST).astype(np.int64)

    def _gates(self, data: Sequences | Trajectories) -> Gates:
        """The public tree of places, and how much of a level's budget goes to groups."""
        axis, times = ("item", 1)
        if isinstance(data, Trajectories):
            axis, times = "place", data.domain.size("time")
        places = data.domain.size(axis)
        if places > _PLACES or places * times > _WORD:
            msg = f"{places:,} places at {times:,} times are too many; take a coarser grid or bins"
            raise ParameterError(msg)
        tree = self._tree(data.domain, axis, times)
        gates = Gates(tree, times, ())
        levels = len(gates.above) - 1
        if levels == 1:
            return gates
        groups = [int(np.count_nonzero(np.unique(above) >= tree.leaves)) for above in gates.above]
        parts = [Fraction(_PAIR * many, tree.leaves) for many in groups[1:levels]]
        if self.gate_share > 0:
            whole = Fraction(self.gate_share).limit_denominator(_PARTS)
            parts = [whole / (levels - 1)] * (levels - 1)
        if not 0 < sum(parts) < 1:
            msg = (
                f"PrefixTree.gate_share = {self.gate_share:g} leaves nothing for groups or for "
                "places (0 is two over the size of a group, which must be more than two); take 0.5"
            )
            raise ParameterError(msg)
        return Gates(tree, times, tuple(parts))

    def _tree(self, domain: Domain, axis: str, times: int) -> Taxonomy:
        places = domain.size(axis)
        flat = Taxonomy(places, (tuple(range(places)),))
        if self.mode == "simple" or (self.mode == "auto" and places * times < _MANY):
            return flat
        if self.taxonomy == "declared":
            tree = domain.taxonomy(axis, max(2, places), declared=True)
        else:
            fanout = self.fanout or math.isqrt(places - 1) + 1
            groups = [[str(code // fanout)] for code in range(places)]
            tree = Taxonomy.from_paths(groups, max(2, places))
        return tree if tree.inner else flat

    def _require_little_noise(self, budget: float) -> None:
        """Refuse settings whose noise alone may make more sequences than anybody wants to write."""
        noise = _TAIL * max(1 / (budget * float(_NUMBER)), self.a_place * self.height / budget)
        if noise > _MOST:
            msg = f"noise may make about {noise:.1g} sequences; take a larger epsilon, or a smaller height"
            raise ParameterError(msg)

    def _require_few(self, nodes: int) -> None:
        if nodes > self.most:
            msg = f"more than {self.most:,} prefixes are alive (PrefixTree.most); take mode=hybrid, or set tau_split"
            raise ParameterError(msg)


def _as_data(table: Table, many: Integers, data: Sequences | Trajectories) -> Sequences | Trajectories:
    """Hold sequences that are rows of a table, filled up with -1, so many of each."""
    domain = data.domain
    if isinstance(data, Sequences):
        row, at = np.nonzero(table >= 0)
        item = table[row, at].astype(np.int64)
        return Sequences.from_columns(row=row, item=item, counts=many, domain=domain)
    table = np.repeat(table, many, axis=0)
    row, at = np.nonzero(table >= 0)
    time, place = np.divmod(table[row, at].astype(np.int64), domain.size("place"))
    return Trajectories.from_columns(
        records=len(table),
        row=row,
        time=time,
        place=place,
        sensitive={},
        domain=domain,
        several=data.several,
    )


def _rounded(share: Shares, step: Fraction) -> Shares:
    """Round down, so that there are few different shares; what would be nothing stays."""
    down = share.rounded_down(step)
    return Shares.where(down.floats() > 0, down, share)


class _Live(NamedTuple):
    """Prefixes that go on: node of the ledger, number in the tree, first time, share of a level."""

    nodes: Integers
    numbers: Integers
    early: Integers
    share: NDArray[np.float64]

    @classmethod
    def root(cls, node: Integers) -> _Live:
        return cls(node, np.full(1, -1), np.zeros(1, np.int64), np.zeros(1))


def _largest_part(tree: Prefixes, places: int) -> NDArray[np.float64]:
    """The largest part of what was at each place that went to one place next, as far as known."""
    inner = np.flatnonzero(~tree.ends)
    place = np.where(tree.ends, places, tree.label % places)
    below = inner[tree.parent[inner] >= 0]
    asked = inner[tree.asked[inner]]
    first = inner[tree.level[inner] == 1]
    shares = np.bincount(place[first], tree.noisy[first], places)
    overall = min(1.0, float(shares.max(initial=0.0)) / max(1.0, float(shares.sum())))
    held = np.bincount(place[asked], tree.noisy[asked], places)
    keys, number = np.unique(place[tree.parent[below]] * places + place[below], return_inverse=True)
    largest = np.zeros(places)
    np.maximum.at(largest, keys // places, np.bincount(number, tree.noisy[below], len(keys)))
    part = np.full(places, overall)
    known = (held > 0) & (largest > 0)
    part[known] = np.minimum(1.0, largest[known] / held[known])
    return part
