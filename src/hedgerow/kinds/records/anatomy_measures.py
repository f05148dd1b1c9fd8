"""Measures of anatomised nested records: labels are exact, so that suppression and the cut links are all that is lost.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hedgerow.data import Dataset
from hedgerow.kinds.records.anatomy import is_anatomised
from hedgerow.kinds.records.anatomy_attacks import Trace, measure_anatomy_attacks, trace_groups, world_of
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.loss import measure_divergence, measure_losses, measure_suppressed
from hedgerow.kinds.records.queries import measure_queries
from hedgerow.kinds.records.recoding import recode_parts
from hedgerow.kinds.records.relinking import POSTERIOR, SHARE, Links, find_relinking, read_links
from hedgerow.kinds.records.rule_promise import PM
from hedgerow.kinds.records.shape_measures import measure_shapes, measure_sizes
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.scoring import compared_score, mean_score
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score, exact_score

#: data sets up to this size are published again for comparison: generalised, and by the same method
_PUBLISHED_AGAIN = 2_000
_GENERALISED, _AGAIN = "generalised (clustree-packing)", "published again"


def part_controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: no record at all, generalised records that are as diverse, and another release by the same method.

    The last one is for attacks on two releases only.
    """
    original: Records = compared.original
    controls: dict[str, Dataset | Control] = {"everything suppressed": original.only(np.zeros(len(original), np.bool_))}
    if len(original) > _PUBLISHED_AGAIN:
        return controls
    promised = [part for part in compared.guarantee.parts() if isinstance(part, LDiversity)]
    if promised:
        controls[_GENERALISED] = Control("clustree-packing", guarantee=promised[0])
    if compared.recipe is not None:
        parameters = dict(compared.recipe.parameters)
        # what is published again stays with the owner
        parameters |= {"relinking": "declared"} if "relinking" in parameters else {}
        controls[_AGAIN] = Control(compared.recipe.method, parameters, again=True)
    return controls


def measure_parts(
    compared: Comparison,
    controls: Mapping[str, Records | Mapping[str, Records]],
    rng: np.random.Generator,
    *,
    queries: int,
) -> list[Score]:
    """Compare the two parts of an anatomised release with the original, and with the controls; then attack them."""
    original: Records = compared.original
    parts = recode_parts(compared.released, original)
    links = read_links(parts)
    world = world_of(parts, links, original)
    single = {name: data for name, data in controls.items() if isinstance(data, Records)}
    releases = {"": world, **single}
    again = controls.get(_AGAIN)
    rules = [rule for part in compared.guarantee.parts() if isinstance(part, PM) for rule in part.rules]
    suppressed = measure_suppressed(original, releases)
    return [
        *_measure_accuracy(original, world, trace_groups(original, world, links, rng), single),
        *suppressed,
        *measure_losses(original, releases),
        *measure_shapes(original, world),
        *_measure_groups(links),
        *measure_divergence(original, releases),
        *measure_queries(original, {"": parts, **single}, rng, queries=queries),
        *_measure_limits(parts),
        *measure_anatomy_attacks(
            original,
            parts,
            rng,
            rules=rules,
            again=recode_parts(again, original) if isinstance(again, Mapping) and is_anatomised(again) else None,
        ),
    ]


def _measure_accuracy(original: Records, world: Records, trace: Trace, controls: Mapping[str, Records]) -> list[Score]:
    """Score the mean share of the vertices of a record that are published, from records that are traced.

    Where several records of the original fit one that is published, it is the mean of their shares.
    """
    if not len(trace.record):
        return []
    before, after = count_vertices(original), count_vertices(world)
    shares = [
        float((after[record] / before[fits]).mean()) for record, fits in zip(trace.record, trace.fits, strict=True)
    ]
    kept = 100 * len(world) / len(original)
    others = {name: 0.0 for name, data in controls.items() if not len(data)}
    name = "suppression accuracy, mean share of the vertices of a record that are published, in percent"
    if len(shares) == len(world):
        return [compared_score(name, {"": kept * float(np.mean(shares)), **others}, better="higher")]
    return [mean_score(name, kept * np.array(shares), others, better="higher")]


def count_vertices(data: Records) -> Integers:
    """Count the vertices of each record."""
    counts = np.zeros(len(data), np.int64)
    for number in range(len(data.tables)):
        counts += np.bincount(data.records_of(number), minlength=len(data))
    return counts


def _measure_groups(links: Links) -> list[Score]:
    """Measure the sizes of groups."""
    sizes = np.bincount(links.group)
    return measure_sizes({"": sizes}, "group", "groups") if len(sizes) else []


def _measure_limits(parts: Mapping[str, Records]) -> list[Score]:
    """Measure what the limits of re-linking are about, from the release alone; the limits stand beside it."""
    relinking = find_relinking(parts)
    posterior = "re-linking, chance of a sensitive value by a label, at least"
    scores = [exact_score(posterior, relinking.posterior, {"limit of trees": POSTERIOR}, better="lower")]
    if relinking.compared:
        share = "re-linking, share of groups whose own sensitive trees fit their labels better, at least"
        controls = {"limit of trees": SHARE, "no dependence": 0.5}
        scores.append(exact_score(share, relinking.share, controls, better="lower"))
    return scores
