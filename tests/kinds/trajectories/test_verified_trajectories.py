"""Files of trajectories that are verified as they are, without a release folder."""

import polars as pl
import pytest
from terminal import run


@pytest.mark.filterwarnings("always")
def test_verify_says_what_may_be_misspelt_and_counts_the_owners_of_records(tmp_path):
    lines = ["unit,time,place,diagnosis", *(f"{n},8,home,flu" for n in range(6))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    owners = ["owner", *(f"p{n // 2}" for n in range(6))]
    (tmp_path / "o.csv").write_text("".join(f"{line},{owner}\n" for line, owner in zip(lines, owners, strict=True)))
    check = "verify t.csv --kind trajectories --k 2 --l 1 --c 50% --sensitive"
    ran = run(f"{check} diagnosis=Flu", tmp_path)
    assert (ran.code, "of 'diagnosis'; check how it is written" in ran.err) == (0, True)
    assert run(f"{check} diagnosis=flu", tmp_path).code == 3
    # six records of three persons
    owned = "verify o.csv --kind trajectories --l 1 --columns person=owner --read sensitive=diagnosis --k"
    assert run(f"{owned} 3", tmp_path).code == 0
    ran = run(f"{owned} 4", tmp_path)
    assert (ran.code, "1 x sequences of 1 visit of fewer than 4 persons" in ran.err) == (3, True)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_is_not_read_is_in_the_file_all_the_same(tmp_path, ending):
    """Whoever gets the file gets the names, so it does not keep the promise, although places and times do."""
    lines = [(record, time, "ab"[time], name) for record, name in enumerate(("Ann", "Bob", "Eve")) for time in (0, 1)]
    frame = pl.DataFrame(lines, schema=["unit", "time", "place", "name"], orient="row")
    verify = f"verify a.{ending} --kind trajectories --k 2 --l 2 --read times=number"
    for kept, code in ((frame, 3), (frame.drop("name"), 0)):
        _ = kept.write_csv(tmp_path / "a.csv") if ending == "csv" else kept.write_parquet(tmp_path / "a.parquet")
        ran = run(verify, tmp_path)
        assert ran.code == code, ran
        assert ("NO   nothing else is in the file (columns that are not read: 1)" in ran.out) == bool(code)
