"""Parts of the pages that need no browser: reading files, likelihoods, signatures, and what the files may contain."""

from __future__ import annotations

import math
import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import strategies as st

from dame.device.questions import Measure, PartMeasure, PlaceVote, Vote, canonical
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany
from dame.device.records import Summary
from tests.device.strategies import means, questions, values_of
from tests.web.needs import WEB, node
from tests.web.test_device import collected

# --- reading files


def read(text: str) -> dict:
    return node("readings.mjs", WEB, stdin=[{"text": text}])[0]


def typed(text: str) -> dict:
    return node("readings.mjs", WEB, stdin=[{"text": text, "typed": True}])[0]


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
        assert found["read"][0] == {"numbers": numbers, "bad": []}


def test_what_is_no_number_is_named_by_its_line():
    found = read('day,minutes\n1,12\n2,n/a\n"3\nbis",\n4,1e999\n5,0x10\n6,1 000\n7,NaN\n8,7\n')
    assert found["read"][1]["numbers"] == [12, 7]
    bad = [(one["line"], one["text"]) for one in found["read"][1]["bad"]]
    assert bad == [(3, "n/a"), (4, ""), (6, "1e999"), (7, "0x10"), (8, "1 000"), (9, "NaN")]
    assert found["read"][0]["bad"] == [{"line": 4, "text": "3\nbis"}]


def test_the_column_with_most_numbers_is_proposed():
    assert read("who,minutes\nada,1\neve,2\n")["likely"] == 1


def test_typed_numbers():
    assert typed("1 2.5,3\n4;5\tx\n") == {"numbers": [1, 2.5, 3, 4, 5], "bad": [{"line": 2, "text": "x"}]}
    assert typed("  \n") == {"numbers": [], "bad": []}


# --- what a report could mean


def likelihood(question: Vote | Measure, value: int, person: Summary) -> float:
    """The logarithm of the probability of a report, up to a constant: from the Python device's own thresholds."""
    if isinstance(question, PlaceVote):
        ends = [0, *question.code.ends(question.own_bin(person), question.part(person), question.bins)]
        place = value.bit_length() - 1
        return math.log((ends[place + 1] - ends[place]) / 2**64)
    if isinstance(question, Vote):
        first, last = question.marks(person)
        bits = ((value >> bin_ & 1, first <= bin_ <= last) for bin_ in range(question.bins))
        ones = [(bit, (question.code.yes if marked else question.code.no) / 2**64) for bit, marked in bits]
        return sum(math.log(p if bit else 1 - p) for bit, p in ones)
    if isinstance(question.noise, DiscreteLaplace):
        point = math.floor(question.position(person) * question.noise.steps + 0.5)
        return -abs(value - point) / question.noise.scale
    ones = question.noise.threshold(question.position(person, value >> 1))
    return math.log((ones if value & 1 else 2**64 - ones) / 2**64)


def test_likelihoods_are_those_of_the_coins():
    people = st.tuples(st.integers(1, 400), means)
    reported = questions().flatmap(lambda question: st.tuples(st.just(question), values_of(question)))
    cases = collected(st.tuples(reported, people, people), 150)
    asked = []
    for (question, value), one, other in cases:
        asked += [
            {"question": question.to_json(), "value": value, "size": size, "mean": mean} for size, mean in (one, other)
        ]
    found = node("chances.mjs", WEB, stdin={"cases": asked})
    for ((question, _), one, other), given, pair in zip(
        cases, asked[::2], zip(found[::2], found[1::2], strict=True), strict=True
    ):
        exact = [likelihood(question, given["value"], Summary(size=size, mean=mean)) for size, mean in (one, other)]
        shown = [entry["log"] for entry in pair]
        assert shown[0] - shown[1] == pytest.approx(exact[0] - exact[1], rel=1e-6, abs=1e-6)
        for entry in pair:
            assert max(entry["likelihoods"] + [entry["silent"] or 0]) == pytest.approx(1)
            assert min(entry["likelihoods"]) >= math.exp(-question.alpha) * (1 - 1e-6)


def test_the_meaning_of_a_place_shows_both_extremes():
    """Places that lie between the evenly spaced averages of the drawing are shown too, and with them all of e^α."""
    question = PlaceVote(
        study="places", round=0, alpha=1.5, low=0.0, high=60.0, places=(0.501, 0.502, 0.503, 0.504),
        code=OneOfMany.spending(1.5, 4),
    )  # fmt: skip
    cases = [{"question": question.to_json(), "value": 1 << place, "size": 3, "mean": 0.502} for place in range(4)]
    for found in node("chances.mjs", WEB, stdin={"cases": cases}):
        assert len(found["likelihoods"]) == 41 + 4
        assert max(found["likelihoods"]) == 1
        assert min(found["likelihoods"]) == pytest.approx(math.exp(-1.5))
        assert found["silent"] is None


def test_the_meaning_of_a_bit_on_a_part_shows_both_extremes():
    """The borders of the part that was drawn are shown too, however narrow it is, and with them all of e^α."""
    question = PartMeasure(
        study="parts", round=0, alpha=1.5, low=0.0, high=60.0, borders=(-1.0, 0.501, 0.502, 0.503, 1.0),
        noise=OneBit.spending(1.5),
    )  # fmt: skip
    cases = [{"question": question.to_json(), "value": value, "size": 3, "mean": 0.502} for value in range(8)]
    for value, found in enumerate(node("chances.mjs", WEB, stdin={"cases": cases})):
        # Those at the bounds are among the evenly spaced averages already.
        assert len(found["likelihoods"]) == 41 + (1 if value >> 1 in (0, 3) else 2)
        assert max(found["likelihoods"]) == 1
        assert min(found["likelihoods"]) == pytest.approx(math.exp(-1.5))
        between = sum(math.exp(-1.5) + 1e-6 < chance < 1 - 1e-6 for chance in found["likelihoods"])
        assert between == {0: 30, 1: 0, 2: 0, 3: 9}[value >> 1], "nobody else is inside a narrow part"
        assert found["silent"] is None


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
