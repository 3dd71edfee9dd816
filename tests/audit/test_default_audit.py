"""The audit that `dame audit` runs: enough questions, of every kind that plans can lead to, all of them right."""

from __future__ import annotations

import math
import time

from dame import audit
from dame.audit.cases import ALPHAS, PLACES, POPULATIONS, Case, cases, four_rounds, outcomes, place_votes, reachable
from dame.audit.exact import check_question
from dame.checks import ALPHA_RANGE
from dame.device.questions import Measure, PartMeasure, PlaceVote, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit
from dame.estimates import Estimate
from dame.protocols import PROTOCOLS
from dame.protocols import next as next_step
from dame.protocols.adaptive import RECOVERY
from dame.tally import Tally

FEWEST_QUESTIONS = 200
MOST_SECONDS = 90.0


def test_the_default_audit():
    """One test, because the audit is long and may run in one process only."""
    started = time.process_time()
    found = list(cases())
    checks = [check_question(case.name, case.question) for case in found]
    seconds = time.process_time() - started
    assert [check for check in checks if not check.passed] == []
    assert all(check.epsilon_exact <= check.epsilon_claimed for check in checks)
    assert sum(check.tight for check in checks) > len(checks) / 2
    assert len(found) >= FEWEST_QUESTIONS
    assert seconds < MOST_SECONDS
    assert len({case.name for case in found}) == len(found)
    assert_every_protocol_appears_at_every_alpha(found)
    assert_every_kind_of_question_appears(found)


def assert_every_protocol_appears_at_every_alpha(found: list[Case]) -> None:
    assert set(ALPHAS) == {0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0}
    seen = {(case.name.split()[0], case.question.alpha) for case in found}
    assert seen == {(protocol, alpha) for protocol in PROTOCOLS for alpha in (*ALPHAS, *ALPHA_RANGE)}


def assert_every_kind_of_question_appears(found: list[Case]) -> None:
    votes = [case.question for case in found if isinstance(case.question, Vote)]
    measures = [case.question for case in found if isinstance(case.question, Measure)]
    assert {vote.neighbours for vote in votes} == {0, 1}
    assert min(vote.bins for vote in votes) == 1
    assert max(vote.bins for vote in votes) > 100
    assert any(isinstance(vote, SizeVote) for vote in votes)
    among = {(vote.bins, vote.alpha) for vote in votes if isinstance(vote, PlaceVote)}
    assert among >= {(count, alpha) for count in (2, 3, 4, 5, 8) for alpha in (*ALPHAS, *ALPHA_RANGE)}
    assert {type(measure.noise) for measure in measures} == {OneBit, DiscreteLaplace}
    assert any(measure.dither for measure in measures)
    assert {-1.0, 1.0} <= {measure.centre for measure in measures}, "centres at the very ends"
    assert any(abs(measure.left) != measure.right for measure in measures), "windows cut by the bounds"
    assert {case.question.round for case in found} >= {0, 1, 2, 3}
    learnt = [case.question for case in found if case.question.study == "audit-differing"]
    assert {(type(vote), vote.round, vote.alpha) for vote in learnt} == {
        (PartMeasure if alpha < 1.5 else PlaceVote, round_, alpha) for round_ in range(3) for alpha in ALPHAS
    }
    parts = {(measure.arms, measure.alpha) for measure in measures if isinstance(measure, PartMeasure)}
    assert parts == {(count, alpha) for count in (2, 4, 8) for alpha in (*ALPHAS, *ALPHA_RANGE)}
    assert any(measure.right >= RECOVERY for measure in measures if isinstance(measure.noise, OneBit)), "recovery"


def test_a_choice_of_protocol_and_alpha_is_all_that_is_audited():
    checks = list(audit.audit(["one-bit", "duchi"], [0.25]))
    assert [check.epsilon_claimed for check in checks] == [0.25, 0.25]
    assert [check.name.split()[0] for check in checks] == ["one-bit", "duchi"]


def test_all_paths_through_four_rounds_are_walked():
    found = list(reachable(four_rounds(1.0), "walk"))
    assert len(found) == 1 + 4 + 4 * 4 + 4 * 4 * 4
    assert any(case.question.right >= RECOVERY for case in found if isinstance(case.question, Measure))


def test_outcomes_reach_the_end_of_a_study():
    plan, tallies = four_rounds(1.0), []
    while not isinstance(step := next_step(plan, tallies), Estimate):
        *_, (_, tally) = outcomes(step)
        tallies.append(tally)
    assert math.isfinite(step.value)


def test_outcomes_of_a_vote_for_a_place_elect_it():
    for alpha in (*ALPHAS, *ALPHA_RANGE):
        votes = [case.question for case in place_votes(alpha)]
        assert len(votes) == 2 * len(PLACES)
        for vote in votes:
            (_, silence), *elected = outcomes(vote)
            assert silence == Tally.zero(vote)
            winners = [tally.sums.index(max(tally.sums)) for _, tally in elected]
            assert winners == sorted({0, vote.bins // 2, vote.bins - 1})
            assert all(tally.sums.count(max(tally.sums)) == 1 for _, tally in elected)


def test_all_protocols_are_audited_by_default():
    assert set(POPULATIONS) <= set(PROTOCOLS)
    assert len(PROTOCOLS) >= 5
