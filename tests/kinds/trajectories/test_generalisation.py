"""Measures of labels: what they stand for, moves between regions, levels; beside suppression of exact visits."""

from __future__ import annotations

import numpy as np
import pytest
from terminal import run

from hedgerow import KCL, Domain, Trajectories, TrajectoryGeneralisation, write_release
from hedgerow.data import Axis
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.kinds.trajectories.charts import charts
from hedgerow.kinds.trajectories.measures import count_levels, labelled_visits

PLACE = Axis(("quay", "pier", "mall", "park"), (("port",), ("port",), ("centre",), ("centre",)))
DOMAIN = Domain.declare(place=PLACE, time=range(24))
VISITS = [[("quay", 8), ("mall", 9)]] * 4 + [[("pier", 8), ("park", 9)], [("quay", 8), ("park", 11)], [("pier", 20)]]
DATA = Trajectories.from_records(VISITS, domain=DOMAIN, several=True)


@pytest.fixture
def release():
    return TrajectoryGeneralisation(levels="1,24").publish(DATA, KCL(k=3, l=2))


def test_labels_are_spread_over_what_they_stand_for(release):
    """Seven labels at the port, six in the centre: nothing is lost, but labels of three records are no finer."""
    visits = labelled_visits(release.data, DOMAIN)
    places = visits.regions.distribution(visits.places)
    assert places.sum() == pytest.approx(1)
    assert places[:2].sum() == pytest.approx(7 / 13)
    assert visits.coarser


def test_scores_say_how_coarse_a_release_is(release):
    scores = {score.name: score for score in evaluate(release, DATA, seed=1) if not score.chart}
    assert scores["labels per visit of the original"].value == 1
    assert scores["moves between regions per move of the original"].value == 1
    assert scores["share of records without labels"].value == 0
    exact, coarse = (scores[f"mean precision of {what}"] for what in ("places", "times"))
    assert 0 < exact.value < 1
    assert 0 < coarse.value < 1
    assert dict(exact.controls)["suppression"] == 1
    assert scores["total variation of origin-destination pairs"].value < 1


def test_moves_within_a_region_are_not_seen():
    records = [[("quay", 8), ("pier", 9)]] * 3
    data = Trajectories.from_records(records, domain=DOMAIN, several=True)
    release = TrajectoryGeneralisation(levels="1,1", mixed="no").publish(data, KCL(k=3, l=2))
    scores = {score.name: score.value for score in evaluate(release, data, seed=1)}
    assert scores["moves between regions per move of the original"] == 0


def test_levels_are_counted_and_drawn(release):
    counts = dict(count_levels(release.data))
    assert sum(counts.values()) == len(release.data.labels)
    assert all(name.startswith("level ") for name in counts)
    assert len(charts(release.data, compared=False)) == 2
    assert charts(release.data, compared=True) == []


def test_a_release_over_other_places_is_refused(release):
    other = Domain.declare(place=["a", "b", "c", "d"], time=range(24))
    with pytest.raises(ParameterError, match="labels over other places"):
        labelled_visits(release.data, other)


@pytest.mark.filterwarnings("ignore:k = 9 is more than there are records", "ignore:nothing is kept")
def test_an_empty_release_is_measured():
    release = TrajectoryGeneralisation().publish(DATA, KCL(k=9, l=1))
    assert not len(release.data.labels)
    scores = {score.name: score.value for score in evaluate(release, DATA, seed=1)}
    assert scores["share of records without labels"] == 1
    assert np.isfinite(list(scores.values())).all()


def test_evaluate_and_report_on_the_command_line(tmp_path, release):
    lines = [f"{n},{hour},{place}" for n, record in enumerate(VISITS) for place, hour in record]
    (tmp_path / "t.csv").write_text("\n".join(["unit,time,place", *lines]) + "\n")
    write_release(release, tmp_path / "R", like="x.csv")
    ran = run("evaluate R --against t.csv --read collisions=keep --scores s.json --seed 1", tmp_path)
    assert ran.code == 0, ran.err
    assert "mean precision of places" in ran.out
    page = run("report R --scores s.json --html page.html", tmp_path)
    assert page.code == 0, page.err
    assert "labels by level" in (tmp_path / "page.html").read_text().lower()
