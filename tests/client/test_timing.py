"""What the times of a device's requests tell: nothing of how many records it has."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest

from dame.cli.app import run
from dame.client import pacing
from dame.client.pacing import Pace
from dame.client.records_file import read_records
from tests.client.test_columns import Service, link_to

FEW, MANY = 3, 300_000
PACE = 3.0
ALLOWED = 0.25
"""The largest difference between the gaps of two devices, in seconds."""


class Timed(Service):
    """A service that notes when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def get(self, *path: str, secret: str | None = None):
        self.times.append(time.monotonic())
        return super().get(*path, secret=secret)

    def put_json(self, *path: str, document: object, secret: str):
        self.times.append(time.monotonic())
        return super().put_json(*path, document=document, secret=secret)

    def post_bytes(self, *path: str, body: bytes, secret: str):
        self.times.append(time.monotonic())
        return super().post_bytes(*path, body=body, secret=secret)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Timed:
    made = Timed()
    monkeypatch.setattr("dame.client.participation.Server", lambda base: made)
    return made


def gaps(service: Timed, folder: Path, records: int) -> list[float]:
    """The times between the requests of a device with so many records."""
    place = folder / str(records)
    place.mkdir()
    (place / "my.csv").write_text("minutes\n" + "30.5\n" * records)
    service.times.clear()
    words = ["--data", str(place / "my.csv"), "--ledger", str(place / "book"), "--yes", "--json"]
    assert run(["join", link_to(service, "minutes"), *words]) == 0
    return [later - earlier for earlier, later in itertools.pairwise(service.times)]


def largest_difference(service: Timed, folder: Path) -> float:
    few, many = gaps(service, folder, FEW), gaps(service, folder, MANY)
    assert len(few) == len(many) == 3
    return max(abs(one - other) for one, other in zip(few, many, strict=True))


def test_the_number_of_records_does_not_show_in_the_times_of_requests(
    service: Timed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "PACE_SECONDS", PACE)
    assert largest_difference(service, tmp_path) < ALLOWED


def test_without_a_pace_it_would_show(service: Timed, tmp_path: Path) -> None:
    """The test above can fail: this is what it would find."""
    assert pacing.PACE_SECONDS == 0
    assert largest_difference(service, tmp_path) > ALLOWED


def test_nobody_is_asked_before_the_file_was_read(service: Timed, tmp_path: Path, monkeypatch) -> None:
    read_at: list[float] = []
    reading = read_records

    def noted(*given):
        own = reading(*given)
        read_at.append(time.monotonic())
        return own

    monkeypatch.setattr("dame.cli.join.read_records", noted)
    gaps(service, tmp_path, FEW)
    assert read_at[0] < service.times[0]


@pytest.mark.parametrize(
    ("work", "spoken_after"), [(0.0, 5.0), (0.1, 5.0), (4.9, 5.0), (5.0, 5.0), (5.1, 10.0), (12.0, 15.0)]
)
def test_a_device_speaks_after_whole_paces(work: float, spoken_after: float) -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pace = Pace(5.0, lambda: now[0], sleep)
    now[0] += 33.0
    with pace.hearing():
        now[0] += 1.0
    now[0] += work
    pace.wait()
    assert now[0] == pytest.approx(134.0 + spoken_after)


def test_what_a_device_says_of_itself_has_no_time_in_it(service: Timed, tmp_path: Path, capsys) -> None:
    gaps(service, tmp_path, FEW)
    told = json.loads(capsys.readouterr().out)
    assert not {"seconds", "time", "records"} & told.keys()
