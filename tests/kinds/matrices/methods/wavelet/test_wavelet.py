"""wavelet: the transform against PyWavelets, thresholds, tiles, blocks, refusals, planted bugs."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import pywt
from matrix_data import read_uci, relative_difference
from project import VECTORS

from hedgerow import Distortion, Matrix, Wavelet
from hedgerow.errors import MissingExtra, NotSatisfied, ParameterError
from hedgerow.kinds.matrices.cases import from_vector, to_vector
from hedgerow.kinds.matrices.methods import wavelet as partition
from hedgerow.kinds.matrices.methods.distorted_rows import ColumnStatistics, restore
from hedgerow.kinds.matrices.methods.wavelet import RowBlock, find_filters
from hedgerow.testing import changed

BASES = ["haar", "db2", "db4", "sym3", "coif1"]
SHAPES = [(16, 8), (17, 9), (33, 5), (3, 2), (40, 30)]


def block_of(values):
    return RowBlock(values, values, np.arange(len(values)), slice(0, values.shape[1]))


def distort(values, **parameters):
    """Shrink rows in the order they have."""
    return Wavelet(**parameters).distort(values, np.arange(len(values)))


def walks(rows, columns, seed=1):
    return np.random.default_rng(seed).normal(size=(rows, columns)).cumsum(0)


def reference(values, wavelet, level, p):
    """The same by PyWavelets: half of the universal threshold, one threshold for all levels."""
    fine = np.concatenate([np.abs(band).ravel() for band in pywt.dwt2(values, "haar")[1]])
    delta = p * np.sqrt(2 * np.log(values.size)) * np.median(fine) / 0.6745
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about levels that are deeper than the filter supports
        first, *details = pywt.wavedec2(values, wavelet, "symmetric", level)
    shrunk = [tuple(pywt.threshold(band, delta, "soft") for band in bands) for bands in details]
    return pywt.waverec2([first, *shrunk], wavelet, "symmetric")[: len(values), : values.shape[1]]


def check_transform():
    for name in BASES:
        for shape in SHAPES:
            values = walks(*shape)
            level = (min(shape) - 1).bit_length()
            pyramid = partition.decompose(values, find_filters(name), level)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first, *details = pywt.wavedec2(values, name, "symmetric", level)
            assert np.allclose(pyramid.approximation, first, atol=1e-11)
            for bands, others in zip(reversed(pyramid.bands), details, strict=True):
                assert all(np.allclose(*pair, atol=1e-11) for pair in zip(bands, others, strict=True))
            assert np.allclose(partition.reconstruct(pyramid, find_filters(name)), values, atol=1e-10)


def check_vector():
    case = json.loads((VECTORS / "wavelet.json").read_text())["a small case"]
    release = Wavelet(**case["parameters"]).publish(from_vector(case), Distortion(), seed=1)
    assert np.allclose(to_vector(release.data), case["published"], atol=1e-6)
    assert relative_difference(np.array(case["rows"], float), release.data.values) == pytest.approx(0.124881, abs=1e-6)


def check_reference():
    for name in ("haar", "db2", "db4"):
        for shape in SHAPES[1:3]:
            values = walks(*shape)
            level = (min(shape) - 1).bit_length()
            assert np.allclose(distort(values, wavelet=name), reference(values, name, level, 0.5), atol=1e-10)


def test_the_transform_is_that_of_pywavelets():
    check_transform()


def test_releases_are_those_of_pywavelets():
    check_reference()


def test_the_small_case():
    check_vector()
    rows = np.array(json.loads((VECTORS / "wavelet.json").read_text())["a small case"]["rows"], float)
    pyramid = partition.decompose(rows, find_filters("haar"), 2)
    assert pyramid.approximation.tolist() == [[34.25]]
    assert sorted(float(abs(band[0, 0])) for band in pyramid.bands[1]) == [0.25, 4.25, 16.25]
    assert partition.universal_threshold(block_of(rows)) == pytest.approx(3.491208, abs=1e-6)


def test_statistics_are_kept_by_the_closest_columns():
    case = json.loads((VECTORS / "wavelet.json").read_text())["normalised"]
    values, wanted = np.array(case["distorted"], float), ColumnStatistics.of(np.array(case["rows"], float))
    before = values.copy()
    restore(values, wanted)
    assert np.allclose(values, case["published"], atol=1e-6)
    assert np.allclose(((values - before) ** 2).sum(0), [0.180653, 296.444510])
    data = Matrix.from_rows(walks(40, 4))
    for order in ("random", "names"):
        named = Matrix.from_rows(data.values, ids=range(40))
        kept = Wavelet(normalise=True, order=order).publish(named, Distortion()).data.values
        assert np.allclose([kept.mean(0), kept.std(0)], [data.values.mean(0), data.values.std(0)], rtol=1e-9)


def test_the_approximation_is_untouched():
    values = walks(64, 16)
    released = distort(values, p=2.0)
    first, second = (partition.decompose(each, find_filters("haar"), 4).approximation for each in (values, released))
    assert np.allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize("threshold", ["universal", "max", "max-level", "max-global", "absolute"])
@pytest.mark.parametrize("wavelet", ["haar", "db2", "db4"])
def test_tiles_do_not_matter(wavelet, threshold, monkeypatch):
    """Also for filters that reach into other tiles: to the last bit."""
    values = walks(1_001, 5)
    monkeypatch.setattr(partition, "_CELLS", 2**30)
    whole = distort(values, wavelet=wavelet, threshold=threshold)
    monkeypatch.setattr(partition, "_CELLS", 64)
    assert np.array_equal(whole, distort(values, wavelet=wavelet, threshold=threshold))


def test_largest_coefficients_are_compared_by_band_level_or_all():
    values, haar = walks(16, 8), find_filters("haar")
    largest = [[np.abs(band).max() for band in bands] for bands in partition.decompose(values, haar, 3).bands]
    for scope, wanted in {
        "max": largest,
        "max-level": [[max(bands)] * 3 for bands in largest],
        "max-global": np.full((3, 3), np.max(largest)),
        "absolute": np.full((3, 3), 0.5),
    }.items():
        deltas = partition.choose_deltas(block_of(values), haar, 3, scope, 0.5)
        assert np.allclose(deltas, np.array(wanted) * (1 if scope == "absolute" else 0.5))


def test_medians_of_many_rows_come_from_some_of_them(monkeypatch):
    values = np.random.default_rng(5).normal(size=(40_000, 4))
    exact = partition.universal_threshold(block_of(values))
    monkeypatch.setattr(partition, "_CELLS", 64)
    assert partition.universal_threshold(block_of(values)) == exact
    monkeypatch.setattr(partition, "_SAMPLED", 2**14)
    assert partition.universal_threshold(block_of(values)) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1001])
def test_the_median_is_exact(count):
    draw = np.random.default_rng(count)
    for values in (draw.normal(size=(2 * count, 2)), draw.integers(0, 3, (2 * count, 2)).astype(float)):
        fine = np.concatenate([np.abs(band).ravel() for band in pywt.dwt2(values, "haar")[1]])
        assert partition._median_detail(block_of(values)) == pytest.approx(np.median(fine), abs=1e-12)


def test_blocks_have_a_wavelet_each():
    values = walks(20, 9)
    parts = distort(values, partition="columns", wavelet="haar,db2")
    assert np.allclose(parts[:, :4], reference(np.ascontiguousarray(values[:, :4]), "haar", 2, 0.5))
    assert np.allclose(parts[:, 4:], reference(np.ascontiguousarray(values[:, 4:]), "db2", 3, 0.5))
    parts = distort(values, partition="rows:8", wavelet="haar,db2")
    assert np.allclose(parts[:8], reference(values[:8], "haar", 3, 0.5))
    assert np.allclose(parts[8:], reference(values[8:], "db2", 4, 0.5))


def test_columns_of_different_units_can_be_standardised():
    values = walks(32, 4) * [1, 1000, 0.001, 1]
    data = Matrix.from_rows(values, ids=range(10, 42))
    plain, scores = (
        Wavelet(order="names", standardise=scaled).publish(data, Distortion()).data.values for scaled in (False, True)
    )
    mean, deviation = values.mean(0), values.std(0, ddof=1)
    assert np.allclose(scores, distort((values - mean) / deviation) * deviation + mean, rtol=1e-9)
    moved = [np.abs(released - values).max(0) / deviation for released in (plain, scores)]
    assert moved[0].max() / moved[0].min() > 10 > moved[1].max() / moved[1].min()


def test_the_order_of_rows_is_secret_unless_they_have_names():
    data = Matrix.from_rows(walks(64, 4), ids=range(64))
    first, second = (Wavelet().publish(data, Distortion(), seed=seed).data for seed in (1, 2))
    assert first.ids.tolist() == second.ids.tolist()
    assert not np.allclose(first.values, second.values)
    with pytest.raises(NotSatisfied, match="order=names needs rows with names or numbers"):
        Wavelet(order="names").publish(data.without_attributes(), Distortion())


@pytest.mark.parametrize(("labels", "refused"), [("a" * 20 + "b" * 20, True), ("ab" * 20, False), ("a" * 40, False)])
def test_rows_that_are_sorted_by_label_are_refused(labels, refused):
    data = Matrix.from_rows(walks(40, 4), ids=range(10, 50), labels=list(labels))
    Wavelet().publish(data, Distortion())
    if not refused:
        Wavelet(order="names").publish(data, Distortion())
        return
    with pytest.raises(NotSatisfied, match="rows are sorted by their labels, which would leak"):
        Wavelet(order="names").publish(data, Distortion())


def test_rows_in_an_order_by_chance_are_not_called_sorted():
    for seed in range(10):
        labels = np.random.default_rng(seed).choice(["a", "b"], 60)
        data = Matrix.from_rows(walks(60, 4), ids=range(10, 70), labels=labels.tolist())
        Wavelet(order="names").publish(data, Distortion())


def test_sparse_data_is_refused_or_asked_for():
    values = np.zeros((16, 8))
    values[3, 2] = values[9, 5] = 4.0
    data = Matrix.from_rows(values)
    with pytest.raises(NotSatisfied, match=r"the universal threshold is zero .* choose threshold=universal-nonzero"):
        Wavelet().publish(data, Distortion())
    assert np.abs(Wavelet(threshold="universal-nonzero").publish(data, Distortion()).data.values).max() < 4
    with pytest.raises(NotSatisfied, match="published as they are"):
        Wavelet(p=0, threshold="max").publish(data, Distortion())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"wavelet": "bior2.2"}, "there is no orthogonal wavelet 'bior2.2'; choose haar, db2, or another"),
        ({"wavelet": "morl"}, "there is no orthogonal wavelet 'morl'"),
        ({"wavelet": "haar,db2"}, "with a wavelet for each block"),
        ({"wavelet": "haar,db2", "partition": "diagonals"}, "Wavelet.partition must be rows or columns"),
        ({"wavelet": "haar,db2", "partition": "rows:1"}, "must leave at least 2 rows in every block"),
        ({"wavelet": "haar,db2", "partition": "rows:9"}, "needs 1 ascending places to cut for 2 wavelets"),
        ({"wavelet": "haar,db2", "partition": "columns:x"}, "ascending places to cut"),
        ({"p": -0.1}, "Wavelet.p must be at least 0"),
        ({"level": -1}, "Wavelet.level must be at least 0"),
        ({"threshold": "mean"}, "Wavelet.threshold must be one of universal"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Wavelet(**parameters).publish(Matrix.from_rows(walks(8, 4)), Distortion())


def test_without_the_library_two_wavelets_are_left(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pywt", None)
    assert np.allclose(find_filters("db2").low, pywt.Wavelet("db2").dec_lo)
    assert find_filters("db1").is_haar
    with pytest.raises(MissingExtra, match=r"needs the extra 'matrix': pip install 'hedgerow\[matrix\]'"):
        find_filters("db4")


@pytest.mark.parametrize(
    ("owner", "name", "old", "new", "check"),
    [
        (partition, "soft_threshold", "-delta, delta", "0, delta", check_vector),
        (partition, "universal_threshold", "math.sqrt(2 *", "math.sqrt(", check_vector),
        (partition, "_join_haar", "np.subtract(low, high", "np.add(low, high", check_vector),
        (partition, "_analyse", '"symmetric"', '"reflect"', check_transform),
        (partition.RowBlock, "write", "self.order[begin", "self.order[::-1][begin", check_reference),
    ],
    ids=["one sign only", "half of the logarithm", "sums only", "whole-sample", "backwards"],
)
def test_planted_bugs_are_caught(owner, name, old, new, check):
    with changed(owner, name, old, new), pytest.raises(AssertionError):
        check()


def test_blocks_are_cut_where_it_was_said():
    assert [block.rows.start for block in partition.cut_blocks((30, 4), "rows:10,14", "haar,db2,haar")] == [0, 10, 14]


@pytest.mark.slow
def test_the_tables_of_the_thesis():
    cells, wdbc = read_uci("wbc"), read_uci("wdbc")
    assert partition.universal_threshold(block_of(cells)) == pytest.approx(3.100484, abs=1e-6)
    assert partition.universal_threshold(block_of(wdbc)) == pytest.approx(0.582527, abs=1e-6)
    assert round(relative_difference(cells, distort(cells)), 4) == 0.2557
    assert round(relative_difference(wdbc, distort(wdbc)), 6) == 0.000843
    plain = [0.0341, 0.067, 0.0985, 0.1276, 0.1558, 0.1824, 0.2082, 0.2332, 0.2567]
    kept = [0.0257, 0.0507, 0.0751, 0.0988, 0.1232, 0.1478, 0.1734, 0.2003, 0.2273]
    for number in range(9):
        own = distort(cells, level=3, p=(number + 1) / 10)
        assert round(relative_difference(cells, own, spectral=True), 4) == plain[number]
        restore(own, ColumnStatistics.of(cells))
        assert round(relative_difference(cells, own, spectral=True), 4) == kept[number]
