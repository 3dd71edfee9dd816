"""Quantiles and distributions as targets: texts, JSON, plans, results."""

from __future__ import annotations

import pytest

import dame
from dame.errors import InvalidInput
from dame.estimates import Estimate
from dame.populations.distributions import parse_distribution
from dame.populations.studies import simulate_targets
from dame.studies.needed import plan_with_users_for
from dame.studies.parsing import target_from_json, target_from_text
from dame.studies.people import Quantiles


@pytest.mark.parametrize(
    "text",
    [
        "quantiles:minutes:0:120:0.1,0.5,0.9",
        "quantiles:minutes:0:120:0.5:records",
        "distribution:minutes:0:120",
        "distribution:minutes:0:120:records:name=all",
        "quantiles:income:100:1000000:0.5:scale=log",
    ],
)
def test_texts_survive_json(text: str) -> None:
    target = target_from_text(text)
    assert target_from_json(target.to_json()) == target


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("quantiles:minutes:0:120", "quantiles:COLUMN:LO:HI:Q1,Q2"),
        ("quantiles:minutes:0:120:0.5,0.5", "different numbers"),
        ("quantiles:minutes:0:120:1.5", "at"),
        ("quantiles:minutes:0:120:0.5:scale=log", "scale"),
        ("quantiles:minutes:0:120:0.5:present=0.5", "present"),
        ("distribution:minutes:0", "distribution:COLUMN:LO:HI"),
        ("distribution:minutes:0:120:scale=cubic", "scale"),
    ],
)
def test_bad_texts_are_one_sentence(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        target_from_text(text)


def test_words_say_whose_distribution() -> None:
    assert "people's own means" in dame.quantiles("minutes", (0, 120)).words
    assert "records, one of each person" in dame.quantiles("minutes", (0, 120), whose="records").words


def test_levels_are_sorted() -> None:
    assert Quantiles(column="x", bounds=(0, 1), at=(0.9, 0.1)).at == (0.1, 0.9)


def test_a_plan_survives_json() -> None:
    targets = [dame.quantiles("x", (1, 100), [0.5], scale="log"), dame.distribution("y", (0, 1))]
    plan = dame.Study(users=2000, alpha=1, sizes="poisson:5", targets=targets).plan()
    assert dame.plan_from_json(dame.plan_to_json(plan)) == plan


def test_an_estimate_with_a_curve_survives_json() -> None:
    targets = [dame.quantiles("x", (0, 10), [0.5])]
    plan = dame.Study(users=3000, alpha=2, sizes="constant:1", targets=targets).plan()
    result = dame.run(plan, dame.Population.synthetic(plan.only.brief.sizes, parse_distribution("uniform:-1:1")), 1)
    estimate = result.only
    assert Estimate.from_json(estimate.to_json()) == estimate
    document = result.to_json()
    assert {"at", "estimate", "interval"} <= document["values"][0].keys()
    assert len(document["edges"]) == len(document["cdf"]) == len(document["low"]) == len(document["high"])
    assert (document["edges"][0], document["edges"][-1]) == (0, 10)


def test_simulated_quantiles_are_near_the_truth() -> None:
    targets = [dame.quantiles("x", (0, 100), [0.5]), dame.mean("x", (0, 100), name="mean")]
    plan = dame.Study(users=20_000, alpha=1, sizes="poisson:5", targets=targets).plan()
    found = simulate_targets(plan, {"x": parse_distribution("beta:2:6")}, 2, seed=1)
    assert found["x-quantiles"].theta == pytest.approx(24.6, abs=0.6)
    assert found["x-quantiles"].rmse < 2


def test_people_are_counted_for_an_error_of_quantiles() -> None:
    study = dame.Study(users=1000, alpha=1, sizes="poisson:30", targets=[dame.quantiles("minutes", (0, 120))])
    plan = plan_with_users_for(study, {"": 2.0})
    (target,) = plan.targets
    assert 1.9 < target.counted_rmse <= 2.0
    assert plan_with_users_for(study, {"": 1.0}).users > 3 * plan.users
