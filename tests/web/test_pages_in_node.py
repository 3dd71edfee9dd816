"""What of the pages needs no browser: reading files, words, likelihoods, signatures, and what the files may contain."""

from __future__ import annotations

import itertools
import math
import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import strategies as st

from dame.device.answering import answer
from dame.device.channels import CHANNELS, Bits, Choice, Laplace, grid_point
from dame.device.exact import WORD
from dame.device.lenses import LENSES, Bins, Reading, SizeClasses, Windows
from dame.device.questions import Question, canonical, question_id
from dame.device.records import Summary
from dame.device.reports import Report
from dame.device.statistics import Value
from dame.device.stripes import Stripes
from tests.device.examples import own
from tests.device.strategies import answered_questions, means, questions
from tests.web.needs import WEB, node
from tests.web.replaying import collected

# --- reading files


def read(text: str, **more: object) -> dict:
    return node("readings.mjs", WEB, stdin=[{"text": text, **more}])[0]


def typed(text: str, **more: object) -> dict:
    return read(text, typed=True, **more)


@pytest.mark.parametrize(
    ("text", "columns", "numbers"),
    [
        ("1\n2.5\n-3e2\n", ["column 1"], [1, 2.5, -300]),
        ("minutes\n1\n2\n", ["minutes"], [1, 2]),
        ("\ufeffminutes\r\n1\r\n2\r\n", ["minutes"], [1, 2]),
        ("1,2\n3,4", ["column 1", "column 2"], [1, 3]),
        ("3,5\t1\n4,25\t2\n", ["column 1", "column 2"], [3.5, 4.25]),
        ("a;b\n3,5;x\n4;y\n", ["a", "b"], [3.5, 4]),
        ('"a, b","c ""d"""\n"1",2\n" 3 ",4\n', ["a, b", 'c "d"'], [1, 3]),
        ("a\n\n1\n\n\n2\n", ["a"], [1, 2]),
        (".5\n5.\n+1\n", ["column 1"], [0.5, 5, 1]),
        ("", [], None),
    ],
)
def test_files_of_many_kinds_are_read(text, columns, numbers):
    found = read(text)
    assert found["columns"] == columns
    if numbers is not None:
        assert found["read"][0] == {"values": numbers, "bad": [], "empty": 0}


def test_what_is_no_number_is_named_by_its_line():
    found = read('day,minutes\n1,12\n2,n/a\n"3\nbis",\n4,1e999\n5,0x10\n6,1 000\n7,NaN\n8,7\n')
    assert found["read"][1]["values"] == [12, 7]
    assert found["read"][1]["empty"] == 1
    bad = [(one["line"], one["text"]) for one in found["read"][1]["bad"]]
    assert bad == [(3, "n/a"), (6, "1e999"), (7, "0x10"), (8, "1 000"), (9, "NaN")]
    assert found["read"][0]["bad"] == [{"line": 4, "text": "3\nbis"}]


def test_the_column_with_most_numbers_is_proposed():
    assert read("who,minutes\nada,1\neve,2\n")["likely"] == 1


def test_typed_values():
    assert typed("1 2.5,3\n4;5\tx\n") == {"values": [1, 2.5, 3, 4, 5], "bad": [{"line": 2, "text": "x"}], "empty": 0}
    assert typed("  \n") == {"values": [], "bad": [], "empty": 0}
    assert typed(" very late \n\n3\nno\n", texts=True) == {"values": ["very late", 3, "no"], "bad": [], "empty": 0}


def test_texts_are_values_where_they_are_asked_for():
    found = read("late;n\nyes;1\n;2\n3,5;3\n", texts=True)["read"][0]
    assert found == {"values": ["yes", 3.5], "bad": [], "empty": 1}


@pytest.mark.parametrize(
    ("text", "columns", "read_"),
    [
        ("[1, 2.5, null]", ["column 1"], [{"values": [1, 2.5], "bad": [], "empty": 1}]),
        (
            '\ufeff [{"a": 1, "b": "x"}, {"b": "2", "c": null}, {"a": true}]',
            ["a", "b", "c"],
            [
                {"values": [1, 1], "bad": [], "empty": 1},
                {"values": [], "bad": [{"line": 1, "text": "x"}, {"line": 2, "text": "2"}], "empty": 1},
                {"values": [], "bad": [], "empty": 3},
            ],
        ),
        ('[{"toString": 3}, {}]', ["toString"], [{"values": [3], "bad": [], "empty": 1}]),
        ("[]", ["column 1"], [{"values": [], "bad": [], "empty": 0}]),
    ],
)
def test_lists_in_json_are_read(text, columns, read_):
    found = read(text)
    assert (found["columns"], found["read"]) == (columns, read_)


@pytest.mark.parametrize("text", ["[1, 2", "[[1], [2]]", '[{"a": {"b": 1}}]', '[1, {"a": 2}]', "[1, [2]]"])
def test_other_json_is_refused(text):
    assert "a JSON list of numbers, or of objects" in read(text)["problem"]


def test_a_column_is_found_by_its_name():
    for name, place in (("minutes", 1), ("Minutes", 1), ("late", -1), ("", -1)):
        assert read("day,minutes\n1,2\n", name=name)["named"] == place
    assert read("a,A\n1,2\n", name="A")["named"] == 1
    assert read("1,2\n3,4\n", name="column 1")["named"] == -1, "a column without a header has no name"


# --- what a report could mean


def _bits(channel: Bits, reading: Reading, value: int) -> float:
    ones = [end for (end,) in channel.ends(reading)]
    return sum(math.log((one if value >> bin_ & 1 else WORD - one) / WORD) for bin_, one in enumerate(ones))


def _choice(channel: Choice, reading: Reading, value: int) -> float:
    return math.log((channel.yes if value == reading.first else channel.no) / WORD)


def _laplace(channel: Laplace, reading: Reading, value: int) -> float:
    return -abs(value - grid_point(reading.mark_on(0), channel.steps)) / channel.scale


LOGS = {Bits: _bits, Choice: _choice, Laplace: _laplace}
"""The logarithm of the probability of a value, up to a constant: from the Python device's own thresholds."""


def likelihood(question: Question, report: Report, person: Summary) -> float:
    reading = question.lens.reading(person, report.window)
    return LOGS[type(question.channel)](question.channel, reading, report.value)


def shown(question: Question, report: Report, size: int = 3, mean: float = 0.5) -> dict:
    """What `chances.mjs` needs to know of a report and of a person who might have sent it."""
    return {"question": question.to_json(), "report": report.encode(question).hex(), "size": size, "mean": mean}


def test_likelihoods_are_those_of_the_coins():
    people = st.tuples(st.integers(1, 400), means)
    cases = collected(st.tuples(answered_questions(), people, people), 150)
    asked = [shown(question, report, *person) for (question, report), *pair in cases for person in pair]
    found = node("chances.mjs", WEB, stdin={"cases": asked})
    for ((question, report), *people_), *pair in zip(cases, found[::2], found[1::2], strict=True):
        exact = [likelihood(question, report, Summary(size=size, mean=mean)) for size, mean in people_]
        logs = [entry["log"] for entry in pair]
        assert logs[0] - logs[1] == pytest.approx(exact[0] - exact[1], rel=1e-6, abs=1e-6)
        for entry in pair:
            assert max(entry["likelihoods"] + [entry["silent"] or 0]) == pytest.approx(1)
            assert min(entry["likelihoods"]) >= math.exp(-question.alpha) * (1 - 1e-6)


def test_every_question_and_report_is_put_into_words():
    """For every lens and every channel there are sentences, a caption, and a drawing over the whole axis."""
    cases = collected(st.tuples(answered_questions(), st.integers(1, 400), means), 200)
    found = node("chances.mjs", WEB, stdin={"cases": [shown(*answered, *person) for answered, *person in cases]})
    for ((question, _), *_), entry in zip(cases, found, strict=True):
        for text in (entry["asked"], entry["said"], entry["meant"], entry["caption"]):
            assert re.match("[A-Z0-9]", text)
            assert text.endswith(".")
            ours = text.replace(f"“{question.statistic.column}”", "")  # a column may have any name
            assert not re.search(r"undefined|null|NaN|Infinity|\[object", ours), text
            assert question.statistic.column or "  " not in ours, text
        assert entry["ends"] == pytest.approx(entry["axis"])
        low, high = entry["axis"]
        assert entry["own"] is None or low - 1e-9 * (high - low) <= entry["own"] <= high + 1e-9 * (high - low)
    assert {type(question.lens) for (question, _), *_ in cases} == set(own(LENSES))
    assert {type(question.channel) for (question, _), *_ in cases} == set(own(CHANNELS))


UNITS = Value(low=0.0, high=60.0)


def test_the_meaning_of_a_choice_shows_both_extremes():
    question = Question(
        study="classes", round=0, alpha=1.5, lens=SizeClasses(classes=4), channel=Choice.spending(1.5, 4)
    )
    reports = [Report(question=question_id(question), value=value) for value in range(4)]
    found = node("chances.mjs", WEB, stdin={"cases": [shown(question, report) for report in reports]})
    for value, entry in enumerate(found):
        assert entry["likelihoods"] == pytest.approx([1 if bin_ == value else math.exp(-1.5) for bin_ in range(4)])
        assert entry["own"] == 1
        assert entry["said"] == f"One of 4 classes: {['1', '2 – 3', '4 – 7', '8 or more'][value]}."


def test_the_meaning_of_a_bit_on_a_segment_shows_both_extremes():
    """The borders of the segment that was drawn are shown too, however narrow it is, and with them all of e^α."""
    question = Question(
        study="segments", round=0, alpha=1.5, statistic=UNITS, lens=Windows.segments((-1.0, 0.501, 0.502, 0.503, 1.0)),
        channel=Bits.single(1.5),
    )  # fmt: skip
    drawn = [(window, bit) for window in range(4) for bit in range(2)]
    reports = [Report(question=question_id(question), window=window, value=bit) for window, bit in drawn]
    found = node("chances.mjs", WEB, stdin={"cases": [shown(question, report, mean=0.502) for report in reports]})
    for (window, _), entry in zip(drawn, found, strict=True):
        # Those at the bounds are among the evenly spaced averages already.
        assert len(entry["likelihoods"]) == 41 + (1 if window in (0, 3) else 2)
        assert max(entry["likelihoods"]) == 1
        assert min(entry["likelihoods"]) == pytest.approx(math.exp(-1.5))
        between = sum(math.exp(-1.5) + 1e-6 < chance < 1 - 1e-6 for chance in entry["likelihoods"])
        assert between == {0: 30, 1: 0, 2: 0, 3: 9}[window], "nobody else is inside a narrow segment"
        assert entry["silent"] is None


def told(lens: Stripes, size: int = 3, mean: float = 0.5) -> list[dict]:
    """What the page says of a one on stripes, in each of their patterns."""
    question = Question(study="stripes", round=0, alpha=1.5, statistic=UNITS, lens=lens, channel=Bits.single(1.5))
    reports = [Report(question=question_id(question), window=window, value=1) for window in range(lens.window_count)]
    return node("chances.mjs", WEB, stdin={"cases": [shown(question, report, size, mean) for report in reports]})


def test_the_meaning_of_a_bit_on_stripes_has_a_bar_for_each():
    lens = Stripes.single(1.0, phases=4)
    for window, entry in enumerate(told(lens)):
        assert "The range from 0 to 60 is painted in dark and light stripes, each 15 wide." in entry["asked"]
        assert "of 100 people on a light stripe, about 18 say “high”, on purpose; of 100 on a dark" in entry["asked"]
        assert "2 more bits say which of 4 patterns fair coins drew for you: dark from " in entry["said"]
        assert entry["meant"].startswith("Of 100 people on a light stripe, about 18 would send this same 1; of 100 on")
        # A border of stripes every 15 minutes: four within an hour, and five stripes, the outer ones cut off.
        assert len(entry["likelihoods"]) == 5
        for one, other in itertools.pairwise(entry["likelihoods"]):
            assert sorted([one, other]) == pytest.approx([math.exp(-1.5), 1])
        lowest = lens.reading(Summary(size=1, mean=-1.0), window).mark
        assert entry["likelihoods"][0] == pytest.approx(1.0 if lowest else math.exp(-1.5))
        assert (entry["silent"], entry["own"]) == (None, 45)
    (thresholds, *_) = told(Stripes.single(4.0, phases=16))
    assert len(thresholds["likelihoods"]) == 2
    assert "each 60 wide" in thresholds["asked"]
    assert thresholds["said"].endswith("dark from 32.77 to 60.")


def test_patterns_of_stripes_are_named_by_what_is_dark():
    said = [entry["said"].partition("drew for you: ")[2] for entry in told(Stripes.single(8.0, phases=4))]
    assert said == ["dark from 52.2 to 60.", "light all over.", "dark from 0 to 52.2.", "dark from 0 to 60."]


def test_stripes_that_are_too_narrow_to_draw_are_shown_in_turn():
    few, fine = Stripes.single(0.4, min_size=9), Stripes.single(1e-6, phases=2, min_size=9)
    for entry in (*told(few), *told(fine)):
        assert "With fewer than 9 numbers it tosses a fair coin instead." in entry["asked"]
        assert entry["silent"] == pytest.approx((1 + math.exp(-1.5)) / 2)
        assert entry["own"] is None
        assert {round(chance, 6) for chance in entry["likelihoods"]} == {1.0, round(math.exp(-1.5), 6)}
    for entry in told(fine):
        assert len(entry["likelihoods"]) == 41
        assert all(one != other for one, other in itertools.pairwise(entry["likelihoods"]))
        assert "too narrow to draw" in entry["caption"]
    assert len({entry["said"] for entry in told(fine)}) == 2
    assert told(fine, size=9, mean=0.25)[0]["own"] == 37.5


def test_a_vote_among_very_many_ranges_has_few_bars():
    bins = 2**14
    lens, channel = Bins(bins=bins, width=2.0**-13, min_size=9), Bits.symmetric(1.0, bins, 1)
    question = Question(study="ranges", round=0, alpha=1.0, statistic=UNITS, lens=lens, channel=channel)
    report = answer(question, [31.0] * 9)
    (entry,) = node("chances.mjs", WEB, stdin={"cases": [shown(question, report)]})
    assert 100 < len(entry["likelihoods"]) <= 200
    assert entry["ends"] == [0, 60]
    assert entry["own"] is None, "somebody with three numbers marks nothing"


# --- signatures


def test_signatures_are_checked():
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = key.public_key().public_bytes_raw().hex()
    cases, expected = [], []
    for question in collected(questions(), 10):
        document = question.to_json()
        good = key.sign(b"dame-question-v1\n" + b"ab" * 32 + b"\n" + canonical(document)).hex()
        other = {**document, "round": (document["round"] + 1) % 64}
        flipped = f"{int(good[:2], 16) ^ 1:02x}{good[2:]}"
        for one, plan, signature, valid in [
            (document, "ab" * 32, good, True),
            (document, "cd" * 32, good, False),
            (other, "ab" * 32, good, False),
            (document, "ab" * 32, flipped, False),
            (document, "ab" * 32, "", False),
        ]:
            cases.append({"question": one, "plan_id": plan, "key": public, "signature": signature})
            expected.append(valid)
    assert node("signatures.mjs", WEB, stdin={"cases": cases}) == expected


# --- the files

PAGES = sorted(WEB.glob("*.html"))
FILES = sorted(path for path in WEB.rglob("*") if path.is_file() and path.suffix in {".html", ".js", ".css", ".svg"})


def test_there_are_pages_and_scripts():
    assert {page.name for page in PAGES} == {"join.html", "dashboard.html"}
    assert len(FILES) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_no_script_or_style_of_their_own(page):
    text = page.read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", text)
    assert re.search(r'<html lang="en">', text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_name_no_other_origin_and_write_no_markup(path):
    text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//\w+\.\w+/|\bimport\(", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
    assert "document.cookie" not in text


@pytest.mark.parametrize("path", sorted((WEB / "device").glob("*.js")), ids=lambda path: path.name)
def test_the_device_imports_nothing_but_itself(path):
    for target in re.findall(r'from "([^"]+)"', path.read_text("utf-8")):
        assert re.fullmatch(r"\./[a-z0-9]+\.js", target)
    assert not re.search(r"\bfetch\b|XMLHttpRequest|WebSocket|localStorage|indexedDB", path.read_text("utf-8"))
