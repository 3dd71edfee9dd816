"""What a posted plan may cost."""

from __future__ import annotations

import time

import pytest

import dame
from tests.service.studies import Live, plan_document

COSTLY = ["scipy:hypergeom:1e9:5e8:5e8", "scipy:zipfian:1.1:1e9", "scipy:skellam:1e6:1e6", "scipy:poisson:nan"]


@pytest.mark.parametrize("sizes", COSTLY)
def test_plans_that_take_long_to_read_are_refused_at_once(live: Live, sizes: str) -> None:
    """Such a law took 18 to 152 seconds to be summed."""
    plan = plan_document()
    plan["targets"][0]["machines"][0]["sizes"] = plan["sizes"] = sizes
    begin = time.perf_counter()
    answer = live.http.post("/api/v1/studies", json={"plan": plan})
    assert time.perf_counter() - begin < 2
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid")
    assert "sizes" in answer.json()["detail"]


def test_a_small_law_of_scipy_is_welcome(live: Live) -> None:
    sizes = dame.Sizes.parse("scipy:nbinom:5:0.1")
    plan = dame.plan(users=1000, alpha=1.0, sizes=sizes, protocol="one-bit", study="small")
    assert live.http.post("/api/v1/studies", json={"plan": dame.plan_to_json(plan)}).status_code == 201


@pytest.mark.parametrize(
    ("notes", "word"), [(["x" * 1900] * 200, "plan"), (["short"] * 33, "notes"), (["y" * 2001], "notes")]
)
def test_long_notes_are_refused(live: Live, notes: list[str], word: str) -> None:
    """Everybody who asks for a study gets its notes: with enough of them, 20 MB."""
    plan = plan_document()
    plan["targets"][0]["machines"][0]["notes"] = notes
    answer = live.http.post("/api/v1/studies", json={"plan": plan})
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid")
    assert answer.json()["detail"].startswith(word)
