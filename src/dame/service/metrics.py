"""Counters for Prometheus: how much, how fast, refused why. Nothing about a single study or person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper ends, in seconds, of the classes in which the times of commits are counted."""

TYPE = "text/plain; version=0.0.4; charset=utf-8"


Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of one name, by their labels."""

    name: str
    meaning: str
    values: Mapping[Labels, float]


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._refused: Counter[str] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._accepted = self._commits = self._failed = self._uploads = 0
        self._seconds = 0.0
        self._started = time.time()

    def request(self, method: str, status: int) -> None:
        """Counts an answer."""
        self._requests[method, status] += 1  # in the thread of the event loop only

    def judged(self, accepted: int, refused: Counter[str]) -> None:
        """Counts what became of reports."""
        with self._lock:
            self._accepted += accepted
            self._refused.update(refused)

    @contextmanager
    def commit_of(self, uploads: int) -> Iterator[None]:
        """Measures a transaction of so many uploads."""
        begin, failed = time.perf_counter(), True
        try:
            yield
            failed = False
        finally:
            seconds = time.perf_counter() - begin
            with self._lock:
                self._commits += 1
                self._failed += failed
                self._uploads += uploads
                self._seconds += seconds
                self._buckets[sum(seconds > end for end in BUCKETS)] += 1

    def text(self) -> str:
        """All counters in Prometheus' text format."""
        with self._lock:
            return "\n".join([*_lines(self._counters()), *self._times()]) + "\n"

    def counters(self) -> Sequence[Counters]:
        """All counters, and the number and the seconds of commits."""
        with self._lock:
            commits = Counters("dame_commits_total", "Transactions of reports.", {(): self._commits})
            seconds = Counters("dame_commit_seconds_total", "Duration of transactions of reports.", {(): self._seconds})
            return [*self._counters(), commits, seconds]

    def _counters(self) -> Iterator[Counters]:
        yield Counters(
            "dame_http_requests_total",
            "Answers by method and status.",
            {
                (("method", method), ("status", str(status))): n
                for (method, status), n in sorted(self._requests.items())
            },
        )
        yield Counters("dame_reports_accepted_total", "Uploads that were answered with accepted.", {(): self._accepted})
        yield Counters(
            "dame_reports_refused_total",
            "Uploads that were refused, by reason.",
            {(("reason", reason),): count for reason, count in sorted(self._refused.items())},
        )
        yield Counters("dame_commits_failed_total", "Transactions of reports that failed.", {(): self._failed})
        yield Counters("dame_commit_uploads_total", "Uploads in all transactions.", {(): self._uploads})

    def _times(self) -> Iterator[str]:
        yield from _head("dame_start_time_seconds", "gauge", "When this process began.")
        yield f"dame_start_time_seconds {self._started}"
        yield from _head("dame_commit_seconds", "histogram", "Duration of transactions of reports.")
        total = 0
        for end, count in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            total += count
            yield f'dame_commit_seconds_bucket{{le="{end}"}} {total}'
        yield f"dame_commit_seconds_sum {self._seconds}"
        yield f"dame_commit_seconds_count {self._commits}"


def _lines(counters: Iterable[Counters]) -> Iterator[str]:
    for one in counters:
        yield from _head(one.name, "counter", one.meaning)
        for labels, value in one.values.items():
            named = ",".join(f'{name}="{label}"' for name, label in labels)
            yield f"{one.name}{{{named}}} {value}" if labels else f"{one.name} {value}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
