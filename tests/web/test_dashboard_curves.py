"""The page of an administrator draws where people are: a curve with its band and quantiles, and a histogram."""

from __future__ import annotations

import functools
import json
import random

import pytest

import dame
from dame.studies.codec import plan_to_json
from tests.web.study import Study, name_of
from tests.web.test_accessibility import check
from tests.web.test_dashboard_targets import watching


@functools.cache
def _plan() -> str:
    targets = [
        dame.quantiles("minutes", (0, 120), [0.1, 0.5, 0.9]),
        dame.distribution("income", (1000, 1e6), whose="records", scale="log"),
    ]
    planned = dame.Study(
        users=3000, alpha=4.0, sizes="constant:5", targets=targets, study="x", choices={"max_rounds": 1}
    )
    return json.dumps(plan_to_json(planned.plan()))


def _records(link: str) -> list[dict[str, float]]:
    draw = random.Random(link)
    own = draw.gauss(40, 9)
    return [{"minutes": own + draw.gauss(0, 5), "income": draw.lognormvariate(10, 0.7)} for _ in range(5)]


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, True)], ids=["light", "dark-phone"])
def test_a_curve_with_its_band_and_a_histogram(guest, server, request, tmp_path, screenshot, dark, phone):
    plan = {**json.loads(_plan()), "study": name_of(request.node.name)}
    study = Study.create(server, plan, tmp_path, invitations=600)
    for slot in (0, 1):
        study.answer_all(slot, _records)
        study.close(slot)
    page = watching(guest(dark=dark, phone=phone), study)
    page.wait_for_selector("#targets figure.curve svg")
    assert page.locator("figure.curve path.quantile").count() == 3 + 5
    assert page.locator("figure.curve polygon.band").count() == page.locator("figure.curve polyline.cdf").count() == 2
    captions = page.locator("figure.curve figcaption").all_inner_texts()
    assert "people's own means of minutes at or below" in captions[0]
    assert "records, one of each person, of income at or below" in captions[1]
    assert page.locator("figure.shares svg rect.bar").count() == 2 * 16
    first = page.locator('details[data-curve="minutes"]')
    first.locator("summary").click()
    shares = [text.rstrip("\u202f%") for text in first.locator("td:nth-child(2)").all_inner_texts()]
    assert sum(map(float, shares)) == pytest.approx(100, abs=1)
    page.wait_for_timeout(2500)
    assert first.get_attribute("open") is not None, "a table that was opened stays open"
    check(page)
    screenshot(page, f"dashboard-curves-{'dark-phone' if dark else 'light'}")
