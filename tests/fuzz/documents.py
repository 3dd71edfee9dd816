"""Strategies for the fuzzers: valid documents of every kind, and documents that were damaged in a few places."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dame.device.answering import answer_with_coins
from dame.device.reports import Report, report_bytes
from dame.tally import Tally
from tests.device.sources import SeededCoins
from tests.device.strategies import json_values, questions

VECTORS = Path(__file__).parents[2] / "vectors" / "v1"
PLANS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(VECTORS.glob("documents/*/plan.json"))]
"""One of every protocol, and of every way that `adaptive` has to begin."""

numbers = st.one_of(
    st.integers(), st.floats(), st.sampled_from([0, -1, 1, 2**31, 2**63, 2**64, 10**400, 1e308, 5e-324, -0.0, 0.5])
)
texts = st.one_of(
    st.text(max_size=12),
    st.text("0123456789abcdefABCDEF", min_size=14, max_size=18),
    st.sampled_from(["value", "bins", "windows", "size-classes", "stripes", "bits", "choice", "laplace", "mean"]),
    st.sampled_from(["poisson:5", "zipf:1:9", "histogram:1=1", "scipy:x:1"]),
)
values = st.one_of(numbers, texts, st.none(), st.booleans(), json_values)


@st.composite
def damaged(draw: st.DrawFn, document: Any) -> Any:
    """The document with one to three places replaced, removed, added to or exchanged."""
    broken = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(broken))
        if not places:
            return draw(values)
        holder, key = draw(st.sampled_from(places))
        _damage(draw, holder, key, places)
    return broken


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every place of a document that holds something: the holder and the key or index."""
    if isinstance(document, dict):
        own = [(document, key) for key in document]
    elif isinstance(document, list):
        own = [(document, index) for index in range(len(document))]
    else:
        return []
    return own + [place for holder, key in own for place in _places(holder[key])]


def _damage(draw: st.DrawFn, holder: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    kind = draw(st.sampled_from(["replace", "replace", "replace", "remove", "add", "exchange"]))
    if kind == "replace":
        holder[key] = draw(values)
    elif kind == "remove":
        del holder[key]
    elif kind == "add" and isinstance(holder, dict):
        holder[draw(st.text(max_size=6))] = draw(values)
    elif kind == "add":
        holder.insert(key, draw(values))
    else:
        other, name = draw(st.sampled_from(places))
        if name in other if isinstance(other, dict) else name < len(other):
            holder[key] = copy.deepcopy(other[name])


@st.composite
def question_documents(draw: st.DrawFn) -> Any:
    document = draw(questions()).to_json()
    return draw(st.one_of(damaged(document), json_values))


@st.composite
def plan_documents(draw: st.DrawFn) -> Any:
    return draw(st.one_of(damaged(draw(st.sampled_from(PLANS))), json_values))


@st.composite
def answered(draw: st.DrawFn) -> tuple[Any, list[Report]]:
    """A question and some reports to it."""
    question, count = draw(questions()), draw(st.integers(1, 4))
    return question, [answer_with_coins(question, [float(seed)], SeededCoins(seed)) for seed in range(count)]


@st.composite
def tally_documents(draw: st.DrawFn) -> Any:
    question, reports = draw(answered())
    tally = Tally.zero(question)
    for report in reports:
        tally = tally.add(report)
    return draw(st.one_of(damaged(tally.to_json()), json_values))


@st.composite
def encoded_reports(draw: st.DrawFn) -> tuple[Any, bytes]:
    """A question, and bytes that are a report of it, nearly one, or anything."""
    question, (report, *_) = draw(answered())
    good = report.encode(question)
    place, bit = draw(st.integers(0, len(good) - 1)), draw(st.integers(0, 7))
    flipped = good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :]
    filled = good[:8] + draw(st.binary(min_size=len(good) - 8, max_size=len(good) - 8))
    low, high = question.channel.values
    assert len(good) == report_bytes(question)
    assert low <= report.value <= high
    return question, draw(
        st.sampled_from([good, flipped, filled, good[:-1], good + b"\0", draw(st.binary(max_size=40))])
    )
