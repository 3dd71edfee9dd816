"""Texts and arrays that become sizes, the way back, and everything that must be refused."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.sizes.parsing import FORMS

GOOD = {
    "constant:100": "constant:100",
    "constant:1e5": "constant:100000",
    "constant:1000000000000": "constant:1000000000000",
    "poisson:5": "poisson:5",
    "poisson:5.0": "poisson:5",
    "poisson:0.5": "poisson:0.5",
    "uniform:1:99": "uniform:1:99",
    "binomial:1000:0.005": "binomial:1000:0.005",
    "binomial:7:1": "binomial:7:1",
    "geometric:0.1": "geometric:0.1",
    "geometric:1": "geometric:1",
    "zipf:1.5:1e4": "zipf:1.5:10000",
    "zipf:2:1": "zipf:2:1",
    "two-point:100000:1000000:0.3": "two-point:100000:1000000:0.3",
    "two-point:1e5:1e6:0": "two-point:100000:1000000:0",
    "two-point:9:2:1/4": "two-point:9:2:0.25",
    "two-point:5:5:0.5": "two-point:5:5:0.5",
    "histogram:2=5,1=10": "histogram:1=10,2=5",
    "histogram:1=1,1=2,7=0": "histogram:1=3",
    "histogram:3=0.1,4=0.2": "histogram:3=0.1,4=0.2",
    "scipy:nbinom:5:0.1": "scipy:nbinom:5:0.1",
    "scipy:poisson:5:2": "scipy:poisson:5:2",
    "scipy:zipf:3": "scipy:zipf:3",
    "scipy:randint:1:1e7": "scipy:randint:1:10000000",
    "scipy:dlaplace:0.8": "scipy:dlaplace:0.8",
}

BAD = [
    "",
    ":",
    "poisson",
    "poisson:",
    "poisson:-3",
    "poisson:0",
    "poisson:nan",
    "poisson:inf",
    "poisson:1e11",
    "poisson:5:5",
    "Poisson:5",
    "constant:0",
    "constant:-1",
    "constant:1.5",
    "constant:1e16",
    "constant:ten",
    "uniform:5:4",
    "uniform:0:4",
    "uniform:5",
    "binomial:0:0.5",
    "binomial:10:0",
    "binomial:10:1.5",
    "binomial:1e15:0.5",
    "geometric:0",
    "geometric:1.01",
    "geometric:1e-13",
    "zipf:0:10",
    "zipf:-1:10",
    "zipf:1.5",
    "zipf:1.5:0",
    "zipf:51:10",
    "two-point:1:2",
    "two-point:1:2:1.5",
    "two-point:0:2:0.5",
    "counts:",
    "counts:/no/such/file",
    "counts:/dev/zero",
    "counts:" + "x" * 5000,
    "counts:a\0b",
    "histogram:",
    "histogram:1",
    "histogram:1=",
    "histogram:1=0",
    "histogram:1=-1",
    "histogram:0=1",
    "histogram:1.5=1",
    "histogram:1=1=1",
    "histogram:1=1,",
    "histogram:1=1e309",
    "scipy:",
    "scipy:norm:0:1",
    "scipy:no_such_law:1",
    "scipy:__init__",
    "scipy:nbinom",
    "scipy:nbinom:5",
    "scipy:nbinom:5:2",
    "scipy:nbinom:5:0.1:0:7",
    "scipy:poisson:5:0.5",
    "scipy:zipf:1.5",
    "scipy:randint:-9:0",
    "scipy:poisson:1e13",
]


@pytest.mark.parametrize(("text", "spec"), GOOD.items())
def test_a_text_has_one_canonical_spec_that_is_read_back(text: str, spec: str) -> None:
    sizes = Sizes.parse(text)
    again = Sizes.parse(sizes.spec)
    assert sizes.spec == spec
    assert again == sizes
    assert hash(again) == hash(sizes)
    assert again.mean_sqrt() == sizes.mean_sqrt()


@pytest.mark.parametrize("text", BAD)
def test_a_bad_text_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Sizes.parse(text)
    assert caught.value.field == "sizes"
    assert caught.value.value == text
    assert str(caught.value).startswith("sizes must be ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("value", [None, 5, b"poisson:5", ["poisson:5"]])
def test_only_texts_are_parsed(value: object) -> None:
    with pytest.raises(InvalidInput):
        Sizes.parse(value)  # type: ignore[arg-type]


def is_parsed_or_refused(text: str) -> None:
    try:
        sizes = Sizes.parse(text)
    except InvalidInput:
        return
    assert sizes.smallest >= 1
    assert Sizes.parse(sizes.spec) == sizes


NUMBERS = st.one_of(
    st.integers(-10, 10**17).map(str),
    st.floats(0, 3).map(repr),
    st.sampled_from(["", "nan", "inf", "-0", "1e5", "1/3", "1e-320", "0x10", "1_0", " 2", "²"]),
    st.text(max_size=4),
)


@given(st.text(max_size=30))
def test_arbitrary_texts(text: str) -> None:
    is_parsed_or_refused(text)


@settings(deadline=None)
@given(st.sampled_from(sorted(set(FORMS) - {"scipy"})), st.lists(NUMBERS, max_size=4))
def test_arbitrary_numbers_after_a_name(name: str, numbers: list[str]) -> None:
    is_parsed_or_refused(":".join([name, *numbers]))


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["nbinom", "geom", "logser", "planck", "hypergeom", "betabinom", "skellam", "zipfian"]),
    st.lists(st.one_of(st.integers(-2, 60).map(str), st.floats(0, 2).map(repr)), max_size=4),
)
def test_arbitrary_laws_of_scipy(name: str, numbers: list[str]) -> None:
    is_parsed_or_refused(":".join(["scipy", name, *numbers]))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**15), st.floats(1e-300, 1e200)), min_size=1, max_size=8))
def test_histograms_survive_the_way_through_text(pairs: list[tuple[int, float]]) -> None:
    sizes = Sizes.from_weights([size for size, _ in pairs], [weight for _, weight in pairs])
    again = Sizes.parse(sizes.spec)
    assert again == sizes
    assert again.mean == sizes.mean
    assert pickle.loads(pickle.dumps(sizes)) == sizes


def test_counts_weights_and_probabilities_agree() -> None:
    counted = Sizes.from_counts([3, 1, 3, 7])
    assert counted.spec == "histogram:1=1,3=2,7=1"
    assert counted == Sizes.from_weights({7: 1, 1: 1, 3: 2})
    assert counted == Sizes.from_weights([1, 3, 7], [1, 2, 1])
    shares = Sizes.from_probabilities([1, 3, 7], [0.25, 0.5, 0.25])
    assert shares.mean == counted.mean
    assert (counted.smallest, counted.largest) == (1, 7)
    assert counted.support().tolist() == [1, 3, 7]
    assert counted != "histogram:1=1,3=2,7=1"


def test_a_long_histogram_has_a_short_label() -> None:
    sizes = Sizes.from_counts(np.arange(1, 5000))
    assert len(sizes.spec) > 10_000
    assert len(sizes.label) < 80
    assert repr(sizes) == "Sizes(histogram of 4999 sizes from 1 to 4999, mean 2500)"


@pytest.mark.parametrize(
    "values", [[], [0], [-1], [1.5], [math.nan], [math.inf], ["x"], [[1, 2], [3, 4]], None, 5, [None], [1e16]]
)
def test_bad_counts_are_refused(values: object) -> None:
    with pytest.raises(InvalidInput):
        Sizes.from_counts(values)  # type: ignore[arg-type]


def test_bad_weights_are_refused() -> None:
    for sizes, weights in (
        ([1, 2], [1]),
        ([1, 2], [1, -1]),
        ([1, 2], [1, math.nan]),
        ([1, 2], [0, 0]),
        ([1], [math.inf]),
        ([0], [1]),
        ([1], None),
        ({1: 2}, [1]),
        ({}, None),
        ({"x": 1}, None),
    ):
        with pytest.raises(InvalidInput):
            Sizes.from_weights(sizes, weights)  # type: ignore[arg-type]


@pytest.mark.parametrize("shares", [[0.5, 0.4], [0.5, 0.5 + 1e-8], [1.5, -0.5], [math.nan, 1], [0.5, 0.5, 0]])
def test_probabilities_must_sum_to_one(shares: list[float]) -> None:
    with pytest.raises(InvalidInput):
        Sizes.from_probabilities([1, 2], shares)


@pytest.mark.parametrize("text", ["3\n1\n3\n7\n", "records\n3\n1\n3\n7", '\ufeff"n"\n"3"\n"1"\n\n3.0\n 7 \r\n'])
def test_files_of_counts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "of: users.csv"
    path.write_text(text, encoding="utf-8")
    assert Sizes.parse(f"counts:{path}") == Sizes.from_counts([1, 3, 3, 7])


def test_files_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "counts.npy"
    np.save(path, np.array([3, 1, 3, 7], dtype=np.int32))
    assert Sizes.parse(f"counts:{path}").spec == "histogram:1=1,3=2,7=1"


@pytest.mark.parametrize(
    "content", [b"", b"records\n", b"1\n0\n", b"1,2\n3,4\n", b"1\nx\n", b"1\nnan\n", b"\xff\xfe\x00", b"1 2\n"]
)
@pytest.mark.parametrize("name", ["counts.csv", "counts.npy"])
def test_bad_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        Sizes.parse(f"counts:{path}")


def test_frozen_laws_of_scipy_keep_their_names() -> None:
    from scipy import stats

    assert Sizes.from_scipy(stats.nbinom(5, 0.1)).spec == "scipy:nbinom:5:0.1"
    assert Sizes.from_scipy(stats.nbinom(p=0.1, n=5)).spec == "scipy:nbinom:5:0.1"
    assert Sizes.from_scipy(stats.poisson(5, loc=2)).spec == "scipy:poisson:5:2"
    listed = stats.rv_discrete(values=([1, 4], [0.25, 0.75]))
    assert Sizes.from_scipy(listed).spec == "histogram:1=0.25,4=0.75"


def test_what_is_no_discrete_law_is_refused() -> None:
    from scipy import stats

    for wrong in (stats.norm(0, 1), 5, None, stats.poisson, stats.poisson([1, 2])):
        with pytest.raises(InvalidInput):
            Sizes.from_scipy(wrong)


def test_laws_of_scipy_are_conditioned_on_one_record() -> None:
    assert Sizes.parse("scipy:poisson:5").mean == pytest.approx(Sizes.parse("poisson:5").mean, rel=1e-12)
    assert Sizes.parse("scipy:geom:0.1").mean_sqrt(7) == pytest.approx(
        Sizes.parse("geometric:0.1").mean_sqrt(7), rel=1e-12
    )
    assert Sizes.parse("scipy:skellam:3:4").smallest == 1


def test_long_tails_of_scipy_agree_with_ours() -> None:
    theirs, ours = Sizes.parse("scipy:geom:1e-7"), Sizes.parse("geometric:1e-7")
    for a in (10, 10**5, 2**20 + 7, 10**7, 10**8):
        assert theirs.survival(a) == pytest.approx(ours.survival(a), rel=1e-9)
        assert theirs.mean_sqrt(a) == pytest.approx(ours.mean_sqrt(a), rel=1e-9)
    assert theirs.mean == pytest.approx(1e7, rel=1e-9)


def test_the_ends_are_those_that_occur() -> None:
    assert Sizes.parse("two-point:5:9:0").largest == 5
    assert Sizes.parse("two-point:5:9:1").smallest == 9
    assert Sizes.parse("poisson:5").largest is None
    assert Sizes.parse("binomial:7:0.5").largest == 7
    assert Sizes.parse("zipf:1.5:1000000000").support() is None
    assert Sizes.constant(4).support().tolist() == [4]


def test_scipy_stats_is_only_imported_when_asked_for() -> None:
    code = (
        "import sys; from dame.sizes import Sizes; Sizes.parse('poisson:5').mean; print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
