"""Jobs: recipes that run again, accounts that sum up, settings as texts."""

from __future__ import annotations

import pytest
from jobs import TEXT, job
from terminal import run

from hedgerow import PureDP, find_method
from hedgerow.demo import run_demo
from hedgerow.errors import (
    DomainError,
    GuaranteeError,
    InputError,
    ParameterError,
    ReadError,
    UndeclaredDomain,
    UnsupportedGuarantee,
)
from hedgerow.frontiers import ENGINES
from hedgerow.jobs.evaluate import run_evaluation
from hedgerow.jobs.publish import plan_job, run_job
from hedgerow.jobs.recipe import Reading, load_job, save_job
from hedgerow.jobs.report import run_report
from hedgerow.releases.owner_files import read_scores
from hedgerow.score import ATTACK
from hedgerow.settings import configure, parameters_of, promise


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_recipe_runs_again_to_the_same_bytes_with_its_seed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = job(tmp_path, data="a.dat", seed=4, set={"threshold": 0.5})
    run_job(first)
    save_job(first, tmp_path / "recipe.toml")
    again = load_job(tmp_path / "recipe.toml", out=str(tmp_path / "again"))
    run_job(again)
    assert content(tmp_path / "again") == content(tmp_path / "out")
    text = (tmp_path / "recipe.toml").read_text()
    assert 'data = "a.dat"' in text  # relative to where the recipe lies


def test_without_a_seed_it_differs(tmp_path):
    results = set()
    for number in range(4):
        run_job(job(tmp_path, out=str(tmp_path / f"out{number}")))
        results.add((tmp_path / f"out{number}" / "data.dat").read_bytes())
    assert len(results) > 1  # all four alike: less than one in a thousand


def test_a_plan_publishes_nothing(tmp_path):
    plan = plan_job(job(tmp_path))
    assert plan.guarantee == PureDP(epsilon="1/2", unit="record")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dat"]


def test_the_data_of_a_job_is_counted_on_its_engine(tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "sharded", "hedgerow.frontiers.sharded:ShardedEngine")
    assert plan_job(job(tmp_path)).data.engine.name == "local"
    there = job(tmp_path, engine="sharded", seed=3)
    assert plan_job(there).data.engine.name == "sharded"
    save_job(there, tmp_path / "recipe.toml")
    assert load_job(tmp_path / "recipe.toml").engine == "sharded"
    run_job(there)
    run_job(job(tmp_path, seed=3, out=str(tmp_path / "local")))
    assert content(tmp_path / "local") == content(tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"assert_public_domain": False}, UndeclaredDomain, "the domain was inferred"),
        ({"promise": {}}, UnsupportedGuarantee, "keeps PureDP: --epsilon --unit; got nothing"),
        ({"promise": {"epsilon": "1"}}, UnsupportedGuarantee, "got --epsilon"),
        ({"promise": {"epsilon": "-1", "unit": "record"}}, ParameterError, "greater than 0"),
        ({"promise": {"epsilon": "1", "unit": "shop"}}, UnsupportedGuarantee, "unit 'shop'"),
        ({"set": {"x": "1"}}, ParameterError, "flat-laplace has no parameter 'x'; it has: thresh"),
        ({"set": {"threshold": "much"}}, ParameterError, "must be a number; got 'much'"),
        ({"method": "magic"}, InputError, "there is no method 'magic'"),
        ({"engine": "spark"}, ParameterError, "there is no engine 'spark'; choose from local"),
        ({"domain": "nowhere.toml"}, ReadError, "there is no file nowhere.toml"),
        ({"out": "/nowhere/out"}, ParameterError, "create it first"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        run_job(job(tmp_path, **changes))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dat"]


def test_a_domain_and_its_assertion_exclude_each_other(tmp_path):
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["tea", "milk", "bread"]\n')
    with pytest.raises(ParameterError, match="not both"):
        run_job(job(tmp_path, domain=str(tmp_path / "d.toml")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = [", "is not a TOML file"),
        ('data = "a"\n', "is not a recipe: Object missing required field 'kind'"),
        ('data = "a"\nkind = "sets"\nmethod = "m"\nout = "o"\nepsilon = 1\n', "unknown field"),
    ],
)
def test_bad_recipes(tmp_path, text, message):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        load_job(tmp_path / "r.toml")


# ---- the owner's files


def test_the_owners_files_stay_out_of_releases_and_are_not_written_over(tmp_path):
    held = job(tmp_path)
    run_job(held, tmp_path / "recipe.toml")
    assert (tmp_path / "recipe.toml").stat().st_mode & 0o777 == 0o600
    reading = Reading(data=held.data, kind="sets")
    out = tmp_path / "out"
    run_evaluation(out, reading, tmp_path / "scores.json")
    again = {"out": str(tmp_path / "again")}
    refused = [
        lambda: run_job(job(tmp_path, **again), tmp_path / "again" / "r.toml"),
        lambda: run_job(job(tmp_path, **again), out / "recipe.toml"),
        lambda: run_job(job(tmp_path, **again), tmp_path / "a.dat"),
        lambda: run_evaluation(out, reading, tmp_path / "a.dat"),
        lambda: run_evaluation(out, reading, out / "scores.json"),
        lambda: run_evaluation(out, reading, tmp_path / "recipe.toml"),
        lambda: run_evaluation(out, reading, tmp_path / "none" / "scores.json"),
        lambda: run_report([out], [], out / "page.html"),
        lambda: run_report([out], [], out / "STATEMENT.md"),
        lambda: run_report([out], [tmp_path / "scores.json"], tmp_path / "scores.json"),
    ]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for attempt in refused:
        with pytest.raises((GuaranteeError, ParameterError)):
            attempt()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    run_evaluation(out, reading, tmp_path / "scores.json")  # scores replace scores
    run_report([out], [tmp_path / "scores.json"], tmp_path / "page.html")
    run_report([out], [tmp_path / "scores.json"], tmp_path / "page.html")


def test_the_input_is_not_replaced_by_the_release(tmp_path):
    run_job(job(tmp_path))
    inside = tmp_path / "out" / "a.dat"
    inside.write_text(TEXT)
    with pytest.raises((GuaranteeError, ParameterError)):
        run_job(job(tmp_path, data=str(inside), overwrite=True))
    assert inside.read_text() == TEXT


def test_scores_belong_to_their_release(tmp_path):
    run_job(job(tmp_path))
    run_job(job(tmp_path, out=str(tmp_path / "other"), promise={"epsilon": "2", "unit": "record"}))
    run_evaluation(tmp_path / "out", Reading(data=str(tmp_path / "a.dat"), kind=""), tmp_path / "s")
    with pytest.raises(ParameterError, match="belongs to another release"):
        run_report([tmp_path / "other"], [tmp_path / "s"], tmp_path / "page.html")


def test_options_besides_a_recipe_are_added_to_its_tables(tmp_path):
    save_job(job(tmp_path, set={"threshold": 3.0}), tmp_path / "r.toml")
    again = load_job(tmp_path / "r.toml", promise={"epsilon": "2"})
    assert again.promise == {"epsilon": "2", "unit": "record"}
    assert again.set == {"threshold": 3.0}


def test_a_plan_finds_what_writing_would(tmp_path):
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["tea", "milk", "bread", "whole milk"]\n')
    held = job(tmp_path, domain=str(tmp_path / "d.toml"), assert_public_domain=False)
    with pytest.raises(DomainError, match="cannot be written to lines; use CSV"):
        plan_job(held)


def test_of_the_name_of_the_input_nothing_goes_out(tmp_path):
    (tmp_path / "ward7.patients-of-dr-x").write_text(TEXT)
    run_job(job(tmp_path, data=str(tmp_path / "ward7.patients-of-dr-x"), format="lines"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "STATEMENT.md",
        "data.dat",
        "release.json",
    ]


def test_the_demo_does_not_write_over_what_is_not_its_own(tmp_path):
    (tmp_path / "domain.toml").write_text("mine")
    with pytest.raises(ParameterError, match="is not empty and was not made by the demo"):
        run_demo(tmp_path)
    with pytest.raises(ParameterError, match="is a file"):
        run_demo(tmp_path / "domain.toml")
    assert (tmp_path / "domain.toml").read_text() == "mine"


# ---- settings


def test_parameters_are_read_by_their_type():
    method = configure(
        find_method("diffpart"),
        {"fanout": "4", "c1": "1", "consistent": "no", "taxonomy": "declared"},
    )
    assert (method.fanout, method.c1, method.consistent) == (4, 1.0, False)
    for texts in ({"fanout": "4.5"}, {"consistent": "maybe"}, {"c1": "nan"}, {"fanout": "9" * 30}):
        with pytest.raises(ParameterError):
            configure(find_method("diffpart"), texts)


def test_ranges_are_said_in_words():
    ranges = {held.name: held.range for held in parameters_of(find_method("diffpart"))}
    assert ranges["tau_split"] == "a number, at least 0, at most 1"
    assert ranges["taxonomy"] == "fan-out or declared"
    assert ranges["consistent"] == "yes or no"


def test_a_method_says_what_options_mean():
    kept = promise(find_method("diffpart"), {"epsilon": "60%", "unit": "person"})
    assert kept == PureDP(epsilon="0.6", unit="person")


def test_scores_belong_to_one_release(tmp_path):
    """Not to another one by the same method, promise and data; what was measured of the same one is kept."""
    (tmp_path / "a.csv").write_text("id,x,y\n" + "".join(f"{n},{n % 7},{n % 5}\n" for n in range(40)))
    read = "--kind matrices --columns id=id"
    for out in "RS":
        publish = f"publish a.csv {read} --method additive-noise --set beta=1 --out {out}"
        assert run(publish, tmp_path).code == 0
    for command in ("attack", "evaluate"):  # in this order, attacks are kept
        assert run(f"{command} R --against a.csv {read} --scores s.json", tmp_path).code == 0
    names = [score.name for score in read_scores(tmp_path / "s.json").scores]
    assert any(name.startswith(ATTACK) for name in names)
    assert not all(name.startswith(ATTACK) for name in names)
    assert run("report R --scores s.json --html r.html", tmp_path).code == 0
    ran = run("report S --scores s.json --html s.html", tmp_path)
    assert (ran.code, "belongs to another release" in ran.err) == (2, True)
    assert run(f"attack S --against a.csv {read} --scores s.json", tmp_path).code == 0
    assert all(score.name.startswith(ATTACK) for score in read_scores(tmp_path / "s.json").scores)
