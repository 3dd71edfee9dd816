"""Plans of several targets: people, slots, JSON, study files, errors wanted, and the loop through tallies."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dame
from dame.device.assignment import slot_of
from dame.errors import InvalidInput, Mismatch
from dame.studies.files import read_study
from dame.studies.needed import (
    by_target,
    error_for_difference,
    plan_for_difference,
    plan_with_alpha_for,
    plan_with_users_for,
)
from dame.studies.study import split
from dame.tally import Tally
from tests.core.conformance import likely_tally
from tests.device.strategies import json_values

TARGETS = [
    dame.mean("minutes", (0, 120)),
    dame.share("late", above=0, weight=2),
    dame.sd("minutes", (0, 120)),
    dame.mean("pulse", (40, 200), present=0.6),
]


def study(**changes: object) -> dame.Study:
    given = {"users": 10_001, "alpha": 1.0, "sizes": "poisson:30", "targets": TARGETS, "study": "four"}
    return dame.Study(**{**given, **changes})


@pytest.fixture(scope="module")
def plan() -> dame.Plan:
    return study().plan()


def test_people_are_shared_out_by_weight_and_nobody_is_lost(plan):
    assert [planned.users for planned in plan.targets] == [2000, 4001, 2000, 2000]
    assert plan.users == 10_001
    assert math.fsum(plan.shares) == pytest.approx(1, abs=1e-12)
    assert [machine.users for machine in plan.targets[3].machines] == [1600, 400]
    assert plan.targets[3].machines[1].protocol == "one-bit"


@given(st.integers(5, 10**6), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5))
def test_any_split_adds_up_and_follows_the_weights(users, weights):
    counts = split(users, weights, [1] * len(weights))
    assert sum(counts) == users
    assert min(counts) >= 1
    exact = [users * weight / sum(weights) for weight in weights]
    assert all(abs(count - each) <= len(weights) + 1 for count, each in zip(counts, exact, strict=True))


def test_every_person_has_one_slot(plan):
    slots = [slot_of(plan.study, plan.shares, f"person-{number}") for number in range(3000)]
    counts = [slots.count(place) for place in range(len(plan.slots))]
    assert len(plan.slots) == len(set(plan.slots)) == 5 * 3 + 1
    for count, share in zip(counts, plan.shares, strict=True):
        assert abs(count - 3000 * share) <= 5 * math.sqrt(3000 * share)


def test_a_plan_survives_json(plan):
    document = json.loads(json.dumps(dame.plan_to_json(plan), allow_nan=False))
    assert dame.plan_from_json(document) == plan
    assert {"name", "kind", "users", "predicted_rmse"} <= document["targets"][0].keys()
    assert document["users"] == 10_001


def test_figures_that_do_not_follow_from_the_rest_are_refused(plan):
    document = json.loads(json.dumps(dame.plan_to_json(plan)))
    for change in ({"users": 10_002}, {"surprise": 1}, {"version": 2}, {"version": True}):
        with pytest.raises(InvalidInput):
            dame.plan_from_json({**document, **change})
    first, *rest = document["targets"]
    changes = ({"predicted_rmse": 0.1}, {"users": 1}, {"column": "hours"}, {"kind": "sd"}, {"machines": []})
    for change in (*changes, {"bounds": [0, 60]}, {"present": 0.5}, {"name": "other"}):
        with pytest.raises(InvalidInput):
            dame.plan_from_json({**document, "targets": [{**first, **change}, *rest]})
    for targets in ([], [first, first], None, [None]):
        with pytest.raises(InvalidInput):
            dame.plan_from_json({**document, "targets": targets})


def test_the_figures_beside_a_single_mean_must_be_its_own():
    document = json.loads(json.dumps(dame.plan_to_json(dame.plan(users=500, alpha=1, sizes="poisson:9", study="one"))))
    assert dame.plan_from_json(document).only.rounds
    for name in ("predicted_rmse", "rounds", "protocol", "protocol_version", "limit_mse"):
        with pytest.raises(InvalidInput, match="as follows from the rest"):
            dame.plan_from_json({**document, name: 7})


@given(st.data())
def test_any_value_in_any_field_gives_a_plan_or_a_refusal(data):
    document = json.loads(json.dumps(dame.plan_to_json(study(targets=TARGETS[:2], protocol="one-bit").plan())))
    place = data.draw(st.sampled_from([document, document["targets"][0], document["targets"][1]["machines"][0]]))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(json_values)
    with contextlib.suppress(dame.DameError):
        dame.plan_from_json(document)


# --- what cannot be


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"users": 5}, "users must be at least 6"),
        ({"users": 0}, "users"),
        ({"alpha": 99}, "alpha"),
        ({"sizes": "heaps"}, "sizes"),
        ({"sizes": {"minutes": dame.Sizes.constant(3)}}, "sizes must be given for every column"),
        ({"protocol": "magic"}, "protocol"),
        ({"between_sd": 0.0}, "present must be 1 where all records"),
        ({"between_sd": 0.0, "targets": TARGETS[:1], "group": "country"}, "group must be absent where all records"),
        ({"targets": TARGETS[:1], "choices": {"colour": 1}}, "choice"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(changes, says):
    with pytest.raises(InvalidInput, match=says):
        study(**changes).plan()


# --- errors wanted


def test_each_target_gets_the_people_that_its_error_takes():
    wanted = {"minutes": 1.0, "late": 0.01, "minutes-sd": 3.0, "pulse": 4.0}
    plan = plan_with_users_for(study(), wanted)
    for planned in plan.targets:
        assert planned.predicted_rmse <= wanted[planned.target.name]
        fewer = study().plan_target(planned.target, int(planned.users * 0.97))
        assert fewer.counted_rmse > wanted[planned.target.name]
    assert plan.users == sum(planned.users for planned in plan.targets)


def test_the_least_alpha_serves_every_target():
    wanted = {"minutes": 1.0, "late": 0.01}
    found = plan_with_alpha_for(study(targets=TARGETS[:2], users=40_000), wanted)
    ratios = [planned.counted_rmse / wanted[planned.target.name] for planned in found.targets]
    assert 0.93 < max(ratios) <= 1


def test_numbers_are_given_by_name_by_column_or_for_all():
    some = study(targets=TARGETS[1:])
    assert by_target(some, {"late": 1, "minutes": 2, "pulse": 3}) == {"late": 1, "minutes": 2, "pulse": 3}
    named = study(targets=[dame.mean("minutes", (0, 120), name="screen"), TARGETS[1]])
    assert by_target(named, {"minutes": 1, "late": 2}) == by_target(named, {"screen": 1, "late": 2})
    assert by_target(some, {"": 5}) == dict.fromkeys(["late", "minutes", "pulse"], 5)
    with pytest.raises(InvalidInput, match="each given a number"):
        by_target(some, {"late": 1})
    with pytest.raises(InvalidInput, match="one of late, minutes, pulse"):
        by_target(some, {"": 1, "speed": 2})


def test_a_difference_takes_two_arms_with_the_textbook_error():
    plan = plan_for_difference(study(targets=TARGETS[:1], group="arm"), {"": 2.0})
    arm = study(targets=TARGETS[:1]).plan_target(plan.targets[0].target, plan.users // 2)
    # 1.96 + 0.84 standard errors of a difference of two independent means, and intervals that are wider than normal.
    assert 1.9 < 1.3 * (1.959964 + 0.841621) * math.sqrt(2) * arm.predicted_rmse <= 2.0
    plain = plan_for_difference(study(targets=TARGETS[:1], group="arm", protocol="one-bit"), {"": 2.0})
    assert 1.97 < (1.959964 + 0.841621) * 2 * plain.targets[0].predicted_rmse <= 2.0
    assert error_for_difference(2.0) == pytest.approx(2.0 / (2.801585 * math.sqrt(2)), rel=1e-6)
    assert plan.group == "arm"


# --- study files


FILE = """
users = 10001
alpha = 1.0
sizes = "poisson:30"
identity = "four"

[[target]]
kind = "mean"
column = "minutes"
bounds = [0, 120]

[[target]]
kind = "share"
column = "late"
above = 0
weight = 2

[[target]]
kind = "sd"
column = "minutes"
bounds = [0, 120]

[[target]]
kind = "mean"
column = "pulse"
bounds = [40, 200]
present = 0.6
"""


def test_a_study_file_says_the_same_as_python(tmp_path, plan):
    path = tmp_path / "study.toml"
    path.write_text(FILE, encoding="utf-8")
    assert dame.Study(**read_study(path)).plan() == plan


def test_a_study_file_may_have_sizes_by_column_and_choices(tmp_path):
    path = tmp_path / "study.toml"
    text = (
        FILE.replace('sizes = "poisson:30"', "max_rounds = 2")
        + '\n[sizes]\nminutes = "poisson:30"\nlate = "poisson:3"\n'
    )
    path.write_text(text + 'pulse = "constant:9"\n', encoding="utf-8")
    planned = dame.Study(**read_study(path)).plan()
    assert [len(machine.rounds) for machine in planned.machines] == [2, 2, 2, 2, 2, 1]
    assert planned.machines[1].brief.sizes.spec == dame.Sizes.parse("poisson:3").spec


@pytest.mark.parametrize(
    "text", ["users = ", "users = 3", FILE + "\ncolour = 1", FILE.replace("above = 0", ""), "target = 3", "\x00"]
)
def test_a_bad_study_file_is_refused(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput):
        dame.Study(**read_study(path)).plan()


# --- the loop through tallies


def answered(plan: dame.Plan, tallies: list[Tally], reports: int = 200) -> list[Tally]:
    """The tallies, with those of all questions that are open now."""
    return [*tallies, *(likely_tally(question, reports) for question in dame.questions(plan, tallies))]


def test_machines_go_on_side_by_side_until_there_is_a_result(plan):
    tallies: list[Tally] = []
    for _ in range(3):
        assert dame.questions(plan, tallies)
        tallies = answered(plan, tallies)
    assert dame.questions(plan, tallies) == ()
    result = dame.result(plan, reversed(tallies))
    assert [each.target.name for each in result.targets] == ["minutes", "late", "minutes-sd", "pulse"]
    assert [sum(each.estimate.users) for each in result.targets] == [600, 600, 1200, 800]
    assert "of people have records of it" in "".join(result.targets[3].estimate.notes)
    document = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert [target["users"] for target in document["targets"]] == [600, 600, 1200, 800]


def test_each_machine_goes_at_its_own_pace(plan):
    first = dame.questions(plan)
    some = [likely_tally(question, 50) for question in first[:1]]
    open_ = dame.questions(plan, some)
    assert open_[0].slot == ("minutes", 1)
    assert open_[1:] == first[1:]
    with pytest.raises(Mismatch, match="the study is not over"):
        dame.result(plan, some)


def test_tallies_of_no_round_and_after_a_gap_are_refused(plan):
    first = dame.questions(plan)
    second = dame.questions(plan, [likely_tally(first[0], 50)])[0]
    with pytest.raises(Mismatch, match="none of round 1"):
        dame.questions(plan, [likely_tally(second, 50)])
    with pytest.raises(Mismatch, match="belongs to no round"):
        dame.questions(plan, [likely_tally(replace(first[0], target="else"), 50)])
    other = replace(first[0], alpha=0.5, channel=type(first[0].channel).single(0.5))
    with pytest.raises(Mismatch, match="two different questions"):
        dame.questions(plan, [likely_tally(first[0], 5), likely_tally(other, 5)])


def test_first_and_next_are_for_studies_with_one_machine(plan):
    for call in (lambda: dame.first(plan), lambda: dame.next(plan, [])):
        with pytest.raises(Mismatch, match="6 machines"):
            call()
    single = dame.plan(users=500, alpha=1.0, sizes="poisson:5", protocol="one-bit")
    question = dame.first(single)
    result = dame.next(single, [likely_tally(question, 100)])
    assert isinstance(result, dame.Result)
    assert result.to_json()["estimate"] == result.only.value


# --- groups


def test_each_group_is_read_from_its_own_tallies(plan):
    grouped = study(targets=TARGETS[:2], group="country").plan()
    tallies: list[dict[str, Tally]] = []
    while open_ := dame.questions(grouped, tallies):
        tallies += [{"AT": likely_tally(one, 400), "DE": likely_tally(one, 4000)} for one in open_]
    result = dame.result(grouped, tallies)
    assert [group.group for group in result.groups] == ["AT", "DE"]
    small, large = result.groups
    for one, other in zip(small.targets, large.targets, strict=True):
        assert one.estimate.standard_error > other.estimate.standard_error
    assert [(one.group, one.than) for one in result.differences] == [("DE", "AT")] * 2
    assert small.users == 2 * 3 * 400


def test_a_group_that_one_machine_never_heard_of_has_the_whole_range_there():
    grouped = study(targets=TARGETS[:2], group="country", protocol="one-bit").plan()
    minutes, late = dame.questions(grouped)
    tallies = [{"AT": likely_tally(minutes, 400), "DE": likely_tally(minutes, 9)}, {"AT": likely_tally(late, 50)}]
    result = dame.result(grouped, tallies)
    germany = next(group for group in result.groups if group.group == "DE")
    assert germany.targets[1].estimate.interval == (0.0, 1.0)
