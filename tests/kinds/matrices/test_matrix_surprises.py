"""Matrices that would be read, published or attacked as something else than their owner thinks."""

from __future__ import annotations

import numpy as np
import pytest
from terminal import run

from hedgerow import Matrix, find_method, read, read_release, write_release
from hedgerow.errors import DomainError, NotSatisfied, ParameterError, ReadError
from hedgerow.evaluate import attack
from hedgerow.formats.codec import codec_of
from hedgerow.privacy.distortion import Distortion

ROWS = [[i, i * i % 7, i * 3 % 5] for i in range(1, 13)]
CSV = "a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


def publish(data, method="svd", **parameters):
    return find_method(method)(**parameters).publish(data, Distortion(), seed=1)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("1.5,2,3\n4,5,6\n", {}, r"a\.csv: the first line must name the columns, and has only numbers"),
        ("1.5,2,1.5\n4,5,6\n", {}, r"a\.csv has two columns of one name in its first line"),
        (CSV, {"options": {"drop": "patient"}}, r"has no column 'patient' that could be dropped"),
        ("a,class\n1,ill\n", {}, "declare it with --columns id=class or label=class"),
    ],
)
def test_a_column_is_not_guessed(text, more, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ReadError, match=message) as error:
        read(tmp_path / "a.csv", kind="matrices", **more)
    assert "1.5" not in str(error.value)


def test_a_header_of_numbers_can_be_declared_and_is_read_again(tmp_path):
    (tmp_path / "a.csv").write_text(CSV.replace("a,b,c", "2019,2020,2021"))
    data = read(tmp_path / "a.csv", kind="matrices", options={"names": "2019,2020,2021", "skip_lines": "1"})
    write_release(publish(data), tmp_path / "R", like="a.csv")
    assert read_release(tmp_path / "R").data.columns == ("2019", "2020", "2021")


@pytest.mark.parametrize(("columns", "options"), [({"id": "c1", "label": "c1"}, {}), ({"id": "c1"}, {"drop": "c1"})])
def test_a_column_has_one_use(columns, options):
    with pytest.raises(ParameterError, match="give each column one use"):
        read(np.array(ROWS), kind="matrices", columns=columns, options=options)


def test_no_cell_and_no_column_is_lost():
    pd = pytest.importorskip("pandas")
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]])
    with pytest.raises(ReadError, match="masked cells"):
        read(masked, kind="matrices")
    with pytest.raises(DomainError, match="masked"):
        Matrix.from_rows(masked)
    with pytest.raises(ReadError, match="two columns of the same name"):
        read(pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), kind="matrices")


@pytest.mark.parametrize("method", ["svd", "wavelet", "additive-noise"])
def test_numbers_whose_squares_overflow_are_refused(method):
    with pytest.raises(DomainError, match="beyond 1e"):
        publish(Matrix.from_rows(np.array(ROWS) * 1e300), method)


def test_noise_below_the_published_digits_is_none():
    data = Matrix.from_rows(np.array(ROWS) * 1e15)
    with pytest.raises(NotSatisfied, match="would be published as they are"):
        publish(data, "additive-noise", beta=1e-3)
    assert publish(data, "additive-noise", beta=1e10).data.values.shape == data.values.shape


def test_directions_of_a_rotation_are_not_taken_for_columns(tmp_path):
    """An array has no names: read again, a rotated one looked like the original, and attacks on it seemed to fail."""
    np.save(tmp_path / "a.npy", np.array(ROWS, float))
    publishing = "publish a.npy --kind matrices --method additive-noise --set rotation=random"
    assert run(f"{publishing} --out R", tmp_path).code == 0
    assert read_release(tmp_path / "R").data.columns == ("r1", "r2", "r3")
    assert "The names of the columns are in `release.json`." in (tmp_path / "R" / "STATEMENT.md").read_text()
    ran = run("attack R --against a.npy --scores s.json", tmp_path)
    assert (ran.code, "cannot be matched" in ran.err, (tmp_path / "s.json").exists()) == (2, True, False)
    assert run(f"{publishing} --read rows=numbered --out N", tmp_path).code == 0
    assert "records are in the order of the original, as stated" in run("verify N", tmp_path).out
    ran = run("attack N --against a.npy --scores s.json --seed 1", tmp_path)
    assert (ran.code, "release as it is:" in ran.out) == (0, False)


def test_data_with_other_columns_is_not_attacked():
    data = Matrix.from_rows(ROWS, columns=["a", "b", "c"], ids=range(12))
    release = publish(data)
    with pytest.raises(ParameterError, match="columns of the data are not those of the release"):
        attack(release, Matrix.from_rows([[*row, 1] for row in ROWS], ids=range(12)), seed=1)


def test_names_that_an_array_cannot_have():
    codec = codec_of("matrices")
    with pytest.raises(ParameterError, match="names with commas"):
        codec.write(Matrix.from_rows(ROWS, columns=["a,b", "c", "d"]), "npy", {})
    for names in ("a,a", "a,", " a,b", ""):
        assert not codec.accepts_reread({"carried": "", "names": names})
