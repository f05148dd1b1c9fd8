"""Records of persons with visits, a share of whose values follows the label of the visit, in groups as they come."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Domain
from hedgerow.kinds.records.anatomy import Grouping, publish_groups
from hedgerow.kinds.records.data import NOTHING, Records, VertexTable
from hedgerow.kinds.records.schema import RecordSchema, VertexType

SCHEMA = RecordSchema((VertexType("person", None, ("born",)), VertexType("visit", "person", ("place",), "illness")))
PLACES = VALUES = 12
DOMAIN = Domain.declare(
    **{
        "person.born": list(range(100_000)),
        "visit.place": [f"p{number}" for number in range(PLACES)],
        "visit.illness": [f"i{number}" for number in range(VALUES)],
    }
)


def dependent(records, visits, share, seed, *, born=None):
    """Records with so many visits each; this share of the illnesses follows the place."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, PLACES, records * visits)
    follows = rng.random(len(place)) < share
    illness = np.where(follows, place, rng.integers(0, VALUES, len(place)))
    born = np.arange(records) if born is None else born
    none = np.full(records, NOTHING)
    parent = np.repeat(np.arange(records), visits)
    tables = VertexTable(np.arange(records), born[:, None], none), VertexTable(parent, place[:, None], illness)
    return Records(DOMAIN, SCHEMA, tables)


def in_groups(data, size, form="trees", seed=1):
    """Publish groups of records as they come, whose visits are matched as they come."""
    records = len(data)
    visits = len(data.tables[1]) // records
    group = np.arange(records) // size
    position = np.tile(np.arange(visits), records)
    grouping = Grouping(group, (np.zeros(records, np.int64), position))
    return publish_groups(data, grouping, form, np.random.default_rng(seed))
