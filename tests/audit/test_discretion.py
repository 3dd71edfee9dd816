"""What a bystander sees of an answer: the same steps and the same number of words for everybody, and never a record."""

from __future__ import annotations

import logging
import math
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.audit.probe import ScriptedCoins
from dame.audit.runs import kinds
from dame.device import Comparing, Ledger, answer
from dame.device.answering import answer_with_coins, respond
from dame.device.questions import Question
from dame.device.records import Summary
from dame.errors import DameError
from tests.device.sources import CountingCoins, SeededCoins

QUESTIONS = kinds(1.0)
COMPARING = {name: question for name, question in QUESTIONS.items() if isinstance(question.channel, Comparing)}
SECRETS = [0.1357924680, 0.9753186420, -0.2468013579]
TRACES = ["1357924", "9753186", "2468013"]
DEVICE = str(Path("dame") / "device")


def steps(action: Callable[[], object]) -> list[tuple[str, int]]:
    """Every line of the device that an action runs, in order."""
    seen: list[tuple[str, int]] = []

    def trace(frame, event, _):
        if DEVICE not in frame.f_code.co_filename:
            return None
        if event == "line":
            seen.append((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return seen


# --- the same path


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_everybody_takes_the_same_steps(name):
    """With the same coins, whoever votes or does not, and wherever she is: the same lines in the same order."""
    question = QUESTIONS[name]
    people = question.lens.extremes()
    respond(question, people[0], SeededCoins(1))  # identities are computed once, and kept
    paths = {tuple(steps(lambda one=one: respond(question, one, SeededCoins(1)))) for one in people}
    assert len(paths) == 1
    assert len(paths.pop()) > 5


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_only_the_number_of_records_shows_in_the_steps(name):
    question = QUESTIONS[name]
    answer_with_coins(question, [0.0], SeededCoins(1))
    lists = [[-1.0] * 4, [1.0] * 4, [*SECRETS, 5.0], [1e300, -1e300, 0.0, 1e-300]]
    paths = {tuple(steps(lambda one=one: answer_with_coins(question, one, SeededCoins(1)))) for one in lists}
    assert len(paths) == 1


def test_a_branch_on_the_data_would_be_noticed(tmp_path):
    module = tmp_path / DEVICE / "branching.py"
    module.parent.mkdir(parents=True)
    module.write_text("def place(mean):\n    if mean > 0:\n        return 1\n    return 0\n")
    scope: dict[str, Callable[[float], int]] = {}
    exec(compile(module.read_text(), str(module), "exec"), scope)
    assert steps(lambda: scope["place"](0.5)) != steps(lambda: scope["place"](-0.5))


# --- the same number of words


@pytest.mark.parametrize("name", list(COMPARING))
@given(size=st.integers(1, 2**62), mean=st.floats(-1, 1), seed=st.integers(0, 2**32))
def test_comparisons_take_as_many_words_whoever_answers(name, size, mean, seed):
    question, coins = COMPARING[name], CountingCoins(seed)
    respond(question, Summary(size=size, mean=mean), coins)
    single = {"one bit": 1, "choice of a size": 1}
    several = {"one bit, dithered": 2, "one bit on a segment": 2, "one bit on stripes": 2}
    assert coins.used == (single | several).get(name, 8)


@given(size=st.integers(1, 2**62), mean=st.floats(-1, 1), seed=st.integers(0, 2**32))
def test_noise_takes_words_that_depend_on_the_noise_only(size, mean, seed):
    """The number of words varies, which is the caveat: with the noise that is drawn, never with the person."""
    question = QUESTIONS["noisy position"]
    one, other = CountingCoins(seed), CountingCoins(seed)
    respond(question, Summary(size=size, mean=mean), one)
    respond(question, Summary(size=1, mean=-1.0), other)
    assert one.used == other.used


# --- never a record


def everything_that_can_be_printed(question: Question, tmp_path: Path) -> list[str]:
    """Texts of all values that an answer makes on the way."""
    report = answer(question, SECRETS)
    ledger = Ledger(tmp_path / "ledger")
    encoded = ledger.answer(question, SECRETS)
    person = question.statistic.summarise(SECRETS)
    texts = [repr(one) for one in (report, encoded, ledger, person, question, vars(ledger))]
    ledger.close()
    return [
        *texts,
        str(person),
        f"{person}",
        (tmp_path / "ledger").read_bytes().hex(),
        repr((tmp_path / "ledger").read_bytes()),
    ]


def assert_discreet(text: str) -> None:
    for secret in TRACES:
        assert secret not in text


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_no_record_is_printed_logged_or_stored(name, tmp_path, caplog, capfd):
    caplog.set_level(logging.NOTSET)
    logging.getLogger().setLevel(logging.NOTSET)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        texts = everything_that_can_be_printed(QUESTIONS[name], tmp_path)
    printed = capfd.readouterr()
    for text in (*texts, caplog.text, printed.out, printed.err, *(str(one.message) for one in heard)):
        assert_discreet(text)
    assert not printed.out
    assert not printed.err
    assert not caplog.records


class Teller:
    """A record that tells itself in every way it can."""

    def __float__(self) -> float:
        raise ValueError(f"cannot convert {SECRETS[0]}")

    def __repr__(self) -> str:
        return str(SECRETS[0])


WRONG = [
    [*SECRETS, math.nan],
    [*SECRETS, None],
    [*SECRETS, "0.1357924680"],
    [*SECRETS, Teller()],
    "0.1357924680",
    SECRETS[0],
]


@pytest.mark.parametrize("name", list(QUESTIONS))
@pytest.mark.parametrize("samples", WRONG, ids=range(len(WRONG)))
def test_no_record_is_in_an_error_or_its_traceback(name, samples, tmp_path, caplog):
    caplog.set_level(logging.NOTSET)
    question, ledger = QUESTIONS[name], Ledger(tmp_path / "ledger")
    for action in (answer, ledger.answer):
        with pytest.raises(DameError) as caught:
            action(question, samples)
        error = caught.value
        logging.getLogger("device").exception("an answer failed", exc_info=error)
        for text in (str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)):
            assert_discreet(text)
    ledger.close()
    assert caplog.records
    assert_discreet(caplog.text)


def test_the_grep_would_notice_a_record():
    with pytest.raises(AssertionError):
        assert_discreet(repr(SECRETS))
    with pytest.raises(AssertionError):
        assert_discreet("".join(traceback.format_exception(ValueError(SECRETS[1]))))


def test_scripted_coins_do_not_end():
    assert ScriptedCoins([]).words(2) == [0, 0]
