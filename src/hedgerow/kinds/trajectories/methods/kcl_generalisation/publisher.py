"""The method: recode to coarser levels, give labels to whole groups, coarser ones to what is lost, refine.

`run` takes the steps in order: hierarchies of places and times, the search for a pair of levels (`search`), recoding
(`support`), suppression, coarser labels for what is lost, and finer ones where they hold (`labelling`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow import progress
from hedgerow.data import Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import (
    Labelling,
    Node,
    climb,
    grow,
    peel,
    refine,
)
from hedgerow.kinds.trajectories.methods.kcl_generalisation.search import (
    OBJECTIVES,
    Kept,
    find_best_node,
    measure_kept,
    measure_utility,
)
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, Support
from hedgerow.privacy import Ledger
from hedgerow.publisher import Publisher, param

_SEARCH, _ANY, _DOUBLING, _PATHS = "search", "any", "doubling", "paths"
#: the precision of places below which regions are called large
_PRECISE = 0.4
_CHOICE = ("auto", "yes", "no")


@dataclass(frozen=True, kw_only=True)
class TrajectoryGeneralisation(Publisher[Trajectories]):
    r"""Publish trajectories at coarser places and times: labels of regions and bins that enough persons share.

    Each visit is recoded to a region and a bin of declared hierarchies, at one pair of levels; a record is the set of
    its labels. Items are then suppressed, in each record those in the most violating sets (`peel`), and given back to
    whole groups: all records that can have a label get it, or none. What is lost gets coarser labels (`climb`), and
    groups that are larger than needed are split into finer ones (`refine`), so that a release has labels of several
    levels. No two labels of a record overlap. Labels stand in an order that is a function of the set: the order of
    visits would tell more than the labels.

    Who knows up to $L$ visits of a record, at their exact places and times, finds records of at least $K$ persons, or
    none; where each person owns one record, sensitive values are at most as frequent as $C$ among them. With several
    records per person and a $C$ below 1 that holds for labels of one level only, and anything else is refused.

    Who knows that nobody is at two places at one time could rule out records by the labels beside a known visit. So
    the data must be able to hold several places at one time, and the statement names this; or `one_place` keeps labels
    of one level, so few per bin that all of them fit beside what is known.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output by code of
    its own, labels and overlaps alike. The search for levels does not look at sensitive values; no holder of a label
    is chosen by them. Levels that are found in the data tell something about it all the same: for a series of releases
    search once, in older data, and declare them with `levels`.

    Examples
    --------
    >>> from hedgerow.data import Axis
    >>> place = Axis(("quay", "pier", "mall"), (("port",), ("port",), ("centre",)))
    >>> domain = Domain.declare(place=place, time=range(24))
    >>> visits = [[("quay", 8), ("mall", 9)], [("pier", 8), ("mall", 9)]] * 2 + [[("pier", 11)]]
    >>> data = Trajectories.from_records(visits, domain=domain, several=True)
    >>> release = TrajectoryGeneralisation(levels="1,24").publish(data, KCL(k=4, l=2))
    >>> release.data.records()[-1]
    ((('1', 'port', 8, 12), ('0', 'mall', 9, 10)), ())

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013.
    .. [2] K. LeFevre, D. J. DeWitt, R. Ramakrishnan. "Incognito: efficient full-domain k-anonymity".
       SIGMOD 2005.
    """

    name: ClassVar[str] = "kcl-generalisation"
    kinds: ClassVar = ("trajectories",)
    keeps: ClassVar = (KCL,)
    units: ClassVar = ()
    recommended: ClassVar[str] = "trips between places that lie in declared regions, if coarser labels are enough"
    reads_all_records: ClassVar[bool] = True

    levels: str = param(_SEARCH, "search, or a level of places and a width of time bins, such as 1,4 or 0.02,240")
    coarsest: str = param(
        _ANY, "the coarsest level and width that are of use, written like levels; it bounds the search"
    )
    strict: bool = param(False, "whether lost visits get no labels beyond coarsest either")
    mixed: str = param("auto", "labels of several levels; auto is yes where the promise allows it", choices=_CHOICE)
    one_place: bool = param(
        False, "also for those who know that nobody is at two places at one time: labels of one level, few per bin"
    )
    suppress: str = param(
        "peel",
        "delete what violates and give back (peel), or start from nothing (grow): more moves, busy places favoured",
        choices=("peel", "grow"),
    )
    objective: str = param("balanced", "what levels are chosen for", choices=tuple(OBJECTIVES))
    time_weight: float = param(0.25, "the weight of precise times against precise places in the search", ge=0, le=1)
    times: str = param(
        _DOUBLING, "widths of time bins, such as 60,240; doubling: from the finest on, as long as they fit"
    )
    grid: str = param(_PATHS, "the size in degrees of the finest cells, for places with coordinates; else their paths")
    doublings: int = param(5, "how often cells double in size, for a grid", ge=0, le=30)

    def run(self, data: Trajectories, ledger: Ledger) -> CoarseTrajectories:
        """Choose levels, recode, give labels to whole groups, coarser ones to what is lost, and refine."""
        promise = ledger.promised(KCL)
        data.domain.require_public()
        levels = self.hierarchies(data.domain)
        bound = levels.coarsest if self.coarsest == _ANY else levels.find(self.coarsest)
        declared = None if self.levels == _SEARCH else self._declared(levels, bound)
        self._require_several_places(data)
        mixed = self._is_mixed(data, promise)
        promise.warn_about(data)
        visits = FineVisits.of(data, levels, promise, one_place=self.one_place)
        support = Support(visits, promise)
        node = self.search(visits, promise, bound) if declared is None else declared
        labelling = (
            peel(visits, support, node, ledger.coins()) if self.suppress == "peel" else grow(visits, support, node)
        )
        if mixed:
            climb(visits, support, labelling, node, bound if self.strict else levels.coarsest)
            refine(visits, support, labelling)
        _tell_holder(visits, labelling, node, warn=self.levels == _SEARCH and self.coarsest == _ANY)
        return publishable(data, visits, labelling, one_place=self.one_place)

    def hierarchies(self, domain: Domain) -> PlaceTimeLevels:
        """The levels of places and times that the parameters ask for, of the public domain."""
        grid = "" if self.grid == _PATHS else self.grid
        widths = "" if self.times == _DOUBLING else self.times
        return PlaceTimeLevels.of(domain, grid=grid, doublings=self.doublings if grid else 0, widths=widths)

    def _declared(self, levels: PlaceTimeLevels, bound: Node) -> Node:
        """The declared levels; refuse those beyond the coarsest ones."""
        node = levels.find(self.levels)
        if node[0] > bound[0] or node[1] > bound[1]:
            msg = f"levels {self.levels} are coarser than coarsest {self.coarsest}; leave one of them out, or change it"
            raise ParameterError(msg)
        return node

    def search(self, visits: FineVisits, promise: KCL, bound: Node) -> Node:
        """Find levels by estimates that do not count sensitive values: the levels then tell nothing about them."""
        support = Support(visits, promise, sensitive=False)

        def estimate(node: Node) -> float:
            return measure_utility(visits, grow(visits, support, node), self.objective, self.time_weight)

        return find_best_node(estimate, bound)[0]

    def menu(self, data: Trajectories, promise: KCL) -> list[tuple[str, int, Kept]]:
        """What there is to choose from: for each level of places, the best width of bins, and what it keeps.

        The figures are those of the search: labels of one level, without sensitive values. They are private, for the
        holder of the data alone.
        """
        self._require_several_places(data)
        levels = self.hierarchies(data.domain)
        bound = levels.coarsest if self.coarsest == _ANY else levels.find(self.coarsest)
        counted = promise.about(data)
        visits = FineVisits.of(data.bounded(counted.unit), levels, counted, one_place=self.one_place)
        support = Support(visits, counted, sensitive=False)
        rows: list[tuple[str, int, Kept]] = []
        for place in range(bound[0] + 1):
            grown = [grow(visits, support, (place, time)) for time in range(bound[1] + 1)]
            utility = [measure_utility(visits, each, self.objective, self.time_weight) for each in grown]
            best = int(np.argmax(utility))
            rows.append((levels.places[place].name, levels.times.widths[best], measure_kept(visits, grown[best])))
        return rows

    def _require_several_places(self, data: Trajectories) -> None:
        """Refuse data with one place at each time, unless labels are made for those who know that."""
        if not (data.several or self.one_place):
            msg = (
                "records have one place at each time: if people can be at several within the finest bin, read them "
                "with collisions=keep; if not, set one_place=yes"
            )
            raise ParameterError(msg)

    def _is_mixed(self, data: Trajectories, promise: KCL) -> bool:
        """Whether labels are of several levels; refuse what would not be safe.

        With several records per person, groups of records that are disjoint may share persons, and the share of a
        value in their union is not bounded by the shares in the groups. The declarations decide, not the data.
        """
        shared = data.persons is not None and (data.domain.records_per_person or 2) > 1 and promise.c < 1
        if not (shared or self.one_place):
            return self.mixed != "no"
        why = "several records per person and a c below 1" if shared else "one_place"
        if self.mixed == "yes":
            remedy = "declare one record per person, or promise no c" if shared else "leave it out"
            msg = f"with {why}, labels must be of one level: leave mixed out; or {remedy}"
            raise ParameterError(msg)
        if self.mixed == "auto" and shared:
            warnings.warn(f"labels of one level, because of {why}", stacklevel=2)
        return False


def _tell_holder(visits: FineVisits, labelling: Labelling, node: Node, *, warn: bool) -> None:
    """Count what is kept, for the holder; warn of large regions, and if nothing is kept.

    The search does not know what is of use to a reader: it may prefer regions that nobody wants.
    """
    kept, levels = measure_kept(visits, labelling), visits.levels
    at = f"{levels.places[node[0]].name},{levels.times.widths[node[1]]}"
    progress.count(f"visits with labels, from levels {at}, in per cent", round(100 * kept.visits))
    progress.count("moves that can be seen, in per cent", round(100 * kept.moves))
    progress.count("records with two labels, of those with two visits, in per cent", round(100 * kept.trips))
    progress.count("precision of places, in per cent", round(100 * kept.place))
    progress.count("precision of times, in per cent", round(100 * kept.time))
    if len(visits) and not kept.visits:
        warnings.warn(
            "nothing is kept: no record has a label; take coarser levels, a smaller k or l, or a larger c", stacklevel=2
        )
    elif warn and kept.visits and kept.place < _PRECISE:
        warnings.warn(
            f"regions are large (precision of places {kept.place:.2f}): set coarsest to the largest that are of use",
            stacklevel=2,
        )


def publishable(
    data: Trajectories, visits: FineVisits, labelling: Labelling, *, one_place: bool = False
) -> CoarseTrajectories:
    """The labels of all records; owners stay until the promise was verified."""
    given = np.flatnonzero(labelling.label >= 0)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(labelling.label >= 0, dtype=np.int64)))
    return CoarseTrajectories(
        data.domain,
        visits.levels,
        before[visits.starts],
        labelling.label[given],
        {name: codes.copy() for name, codes in data.traits.items()},
        data.persons,
        one_place=one_place,
    )
