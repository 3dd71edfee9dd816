"""Laws of records: means of users have the right mean and variance, and texts are parsed or refused in a sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from dame.errors import InvalidInput
from dame.populations import distributions
from dame.populations.distributions import Beta, RealDraws, TwoPoint, Uniform, parse_distribution
from tests.chances import FALSE_ALARM, normal_p_value, p_value

SEED = 42
USERS = 40_000
MIXED_SIZES = np.tile([1, 2, 3, 7], USERS // 4)

LAWS = {
    "rademacher:0.5": (0.5, 0.75),
    "rademacher:-1": (-1.0, 0.0),
    "two-point:-0.6:1:0.3": (-0.12, 0.3 * 0.7 * 1.6**2),
    "point:0.25": (0.25, 0.0),
    "beta:2:6": (-0.5, 4 * 12 / (64 * 9)),
    "beta:0.5:0.5": (0.0, 0.5),
    "uniform:-0.2:1": (0.4, 1.2**2 / 12),
}
each_law = pytest.mark.parametrize("spec", LAWS)


@each_law
def test_means_of_users_have_the_mean_of_the_law(spec):
    theta, variance = LAWS[spec]
    law = parse_distribution(spec)
    assert law.mean == pytest.approx(theta, abs=1e-15)
    means = law.user_means(np.random.default_rng(SEED), MIXED_SIZES)
    assert means.shape == MIXED_SIZES.shape
    assert (np.abs(means) <= 1).all()
    error = math.sqrt(np.mean(variance / MIXED_SIZES) / USERS)
    if variance:
        assert normal_p_value(float(means.mean()), theta, error) > FALSE_ALARM
    else:
        assert (means == theta).all()


@each_law
def test_means_of_users_vary_as_their_sizes_say(spec):
    theta, variance = LAWS[spec]
    means = parse_distribution(spec).user_means(np.random.default_rng(SEED), MIXED_SIZES)
    for size in (1, 2, 3, 7):
        deviations = (means[size == MIXED_SIZES] - theta) ** 2
        error = deviations.std() / math.sqrt(len(deviations))
        assert abs(deviations.mean() - variance / size) <= 5 * error + 1e-15


def test_means_of_two_points_are_binomial():
    law = parse_distribution("two-point:-0.5:1:0.3")
    means = law.user_means(np.random.default_rng(SEED), np.full(20_000, 6))
    hits = np.rint((means + 0.5) / 1.5 * 6).astype(int)
    assert p_value(hits.tolist(), {k: float(stats.binom.pmf(k, 6, 0.3)) for k in range(7)}) > FALSE_ALARM
    assert p_value(hits.tolist(), {k: float(stats.binom.pmf(k, 6, 0.35)) for k in range(7)}) < FALSE_ALARM


@pytest.mark.parametrize("size", [1, 5, 1000, 10**6])
@pytest.mark.parametrize("p", [0.0, 0.001, 0.3, 1.0])
def test_the_atoms_of_a_mean_are_binomial(size, p):
    values, chances = TwoPoint(-0.5, 1.0, p).atoms(size)
    hits = np.rint((values + 0.5) / 1.5 * size)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert chances == pytest.approx(stats.binom.pmf(hits, size, p), rel=1e-6, abs=1e-14)
    assert values @ chances == pytest.approx(-0.5 + 1.5 * p, abs=1e-9)


@pytest.mark.parametrize("size", [10**6, 2**62])
def test_a_huge_user_costs_nothing(size):
    means = parse_distribution("rademacher:0.5").user_means(np.random.default_rng(SEED), np.full(10, size))
    assert means == pytest.approx(np.full(10, 0.5), abs=0.02)


# --- blocks


class Counted(RealDraws):
    """Records k/64 in a repeating row: sums are exact, so that blocks must not change a single bit."""

    def __init__(self) -> None:
        self.drawn = 0
        self.largest = 0

    @property
    def mean(self) -> float:
        return 0.0

    def records(self, rng, count):
        start, self.drawn = self.drawn, self.drawn + count
        self.largest = max(self.largest, count)
        return ((np.arange(start, start + count) * 37) % 129 - 64) / 64


@given(st.lists(st.integers(1, 30), max_size=25), st.integers(1, 40))
def test_blocks_that_end_inside_a_user_change_nothing(sizes, block):
    counts = np.array(sizes, dtype=np.int64)
    whole = Counted().user_means(np.random.default_rng(1), counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributions, "RECORDS_AT_ONCE", block)
        law = Counted()
        assert law.user_means(np.random.default_rng(1), counts).tolist() == whole.tolist()
    assert law.drawn == sum(sizes)
    assert law.largest <= block
    everything = Counted().records(None, sum(sizes))
    parts = np.split(everything, np.cumsum(sizes)[:-1]) if sizes else []
    assert whole.tolist() == [float(part.sum() / len(part)) for part in parts]


@pytest.mark.parametrize("law", [Beta(2.0, 6.0), Beta(0.3, 0.4), Uniform(-1.0, 0.5)])
@pytest.mark.parametrize("block", [1, 7, 100])
def test_blocks_of_real_laws_draw_the_same_records(law, block, monkeypatch):
    sizes = np.random.default_rng(SEED).integers(1, 20, 60)
    whole = law.user_means(np.random.default_rng(1), sizes)
    monkeypatch.setattr(distributions, "RECORDS_AT_ONCE", block)
    assert law.user_means(np.random.default_rng(1), sizes) == pytest.approx(whole, abs=1e-14)


def test_nobody_has_no_means():
    for spec in LAWS:
        assert len(parse_distribution(spec).user_means(np.random.default_rng(1), np.array([], dtype=np.int64))) == 0


# --- texts


@pytest.mark.parametrize(
    "spec",
    [
        "", ":", "rademacher", "rademacher:", "rademacher:2", "rademacher:-1.01", "rademacher:nan", "rademacher:inf",
        "rademacher:x", "rademacher:0.5:1", "beta:1", "beta:0:1", "beta:-1:1", "beta:1:nan", "beta:1e7:1",
        "uniform:0.5:0.2", "uniform:-2:1", "uniform:0:1.1", "point:1.5", "point:nan", "two-point:0:1",
        "two-point:0:1:2",
        "two-point:-2:1:0.5", "two-point:0:1:-0.1", "normal:0:1", "Rademacher:0", " rademacher:0", "rademacher:1/0",
        "rademacher:" + "9" * 5000, "beta:1:2:3", "poisson:5",
    ],
)  # fmt: skip
def test_a_wrong_text_is_one_clear_sentence(spec):
    with pytest.raises(InvalidInput) as caught:
        parse_distribution(spec)
    assert str(caught.value).startswith("data must be ")
    assert "\n" not in str(caught.value)


@example("rademacher:1/3")
@example("two-point:0:1:\ud800")
@example("beta:1e400:1")
@example("point:٣")
@given(
    st.one_of(
        st.text(max_size=30),
        st.builds(
            "{}:{}".format,
            st.sampled_from(["rademacher", "beta", "uniform", "point", "two-point"]),
            st.lists(st.one_of(st.floats().map(str), st.text("0123456789.eE+-/_ ", max_size=6)), max_size=4).map(
                ":".join
            ),
        ),
    )
)
def test_any_text_is_a_law_or_invalid_input(spec):
    try:
        law = parse_distribution(spec)
    except InvalidInput as problem:
        told = str(problem)
        assert "\n" not in told
    else:
        assert -1 <= law.mean <= 1


@pytest.mark.parametrize("wrong", [None, 5, b"point:0", ["point:0"], 0.5])
def test_something_that_is_no_text_is_invalid_input(wrong):
    with pytest.raises(InvalidInput):
        parse_distribution(wrong)


@pytest.mark.parametrize(
    "make", [lambda: TwoPoint(2.0, 0.0, 0.5), lambda: Beta(0.0, 1.0), lambda: Uniform(0.5, math.nan)]
)
def test_laws_are_checked_at_birth(make):
    with pytest.raises(InvalidInput):
        make()
