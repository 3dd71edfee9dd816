"""Counters for Prometheus: how much, how fast, refused why. Nothing about a single study or person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper ends, in seconds, of the classes in which the times of commits are counted."""

TYPE = "text/plain; version=0.0.4; charset=utf-8"


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
            return "\n".join([*self._counts(), *self._times()]) + "\n"

    def _counts(self) -> Iterator[str]:
        yield from _head("dame_http_requests_total", "counter", "Answers by method and status.")
        for (method, status), count in sorted(self._requests.items()):
            yield f'dame_http_requests_total{{method="{method}",status="{status}"}} {count}'
        yield from _head("dame_reports_accepted_total", "counter", "Uploads that were answered with accepted.")
        yield f"dame_reports_accepted_total {self._accepted}"
        yield from _head("dame_reports_refused_total", "counter", "Uploads that were refused, by reason.")
        for reason, count in sorted(self._refused.items()):
            yield f'dame_reports_refused_total{{reason="{reason}"}} {count}'
        yield from _head("dame_commits_failed_total", "counter", "Transactions of reports that failed.")
        yield f"dame_commits_failed_total {self._failed}"
        yield from _head("dame_commit_uploads_total", "counter", "Uploads in all transactions.")
        yield f"dame_commit_uploads_total {self._uploads}"
        yield from _head("dame_start_time_seconds", "gauge", "When this process began.")
        yield f"dame_start_time_seconds {self._started}"

    def _times(self) -> Iterator[str]:
        yield from _head("dame_commit_seconds", "histogram", "Duration of transactions of reports.")
        total = 0
        for end, count in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            total += count
            yield f'dame_commit_seconds_bucket{{le="{end}"}} {total}'
        yield f"dame_commit_seconds_sum {self._seconds}"
        yield f"dame_commit_seconds_count {self._commits}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
