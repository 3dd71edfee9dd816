"""Group commit: while one transaction is being written, the reports that arrive wait together for the next."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from dame.service.metrics import Metrics
from dame.service.problems import Problem
from dame.service.uploads import Judged, Upload

MOST_IN_GROUP = 4000
MOST_WAITING = 50_000
"""Reports that may wait; beyond this the service says that it is busy."""

Verdicts = Sequence[Problem | None]


class GroupCommit:
    """Hands groups of uploads to one writer thread; each caller learns what became of hers after the commit."""

    def __init__(
        self, accept: Callable[[Sequence[Upload]], Judged], metrics: Metrics, when_full: Callable[[], None]
    ) -> None:
        self._accept = accept
        self._metrics = metrics
        self._when_full = when_full
        self._writer = ThreadPoolExecutor(1, "dame-writer")
        self._waiting: list[tuple[Sequence[Upload], asyncio.Future[Verdicts]]] = []
        self._size = 0
        self._busy = False

    async def submit(self, uploads: Sequence[Upload]) -> Verdicts:
        """What became of each of the uploads, once that is on the disk."""
        if self._size + len(uploads) > MOST_WAITING:
            raise Problem("unavailable", "too many reports are waiting: try again in a few seconds")
        future: asyncio.Future[Verdicts] = asyncio.get_running_loop().create_future()
        self._waiting.append((uploads, future))
        self._size += len(uploads)
        if not self._busy:
            self._busy = True
            # The next turn of the loop: whatever arrived in this one goes along.
            asyncio.get_running_loop().call_soon(self._write)
        return await future

    def _write(self) -> None:
        group = self._next_group()
        uploads = [upload for some, _ in group for upload in some]
        writing = asyncio.get_running_loop().run_in_executor(self._writer, self._timed, uploads)
        writing.add_done_callback(lambda done: self._written(group, done))

    def _next_group(self) -> list[tuple[Sequence[Upload], asyncio.Future[Verdicts]]]:
        taken = size = 0
        for uploads, _ in self._waiting:
            if taken and size + len(uploads) > MOST_IN_GROUP:
                break
            taken, size = taken + 1, size + len(uploads)
        group, self._waiting = self._waiting[:taken], self._waiting[taken:]
        self._size -= size
        return group

    def _timed(self, uploads: Sequence[Upload]) -> Judged:
        with self._metrics.commit_of(len(uploads)):
            judged = self._accept(uploads)
        refused = Counter(refusal.reason for refusal in judged.refusals if refusal is not None)
        self._metrics.judged(len(uploads) - refused.total(), refused)
        return judged

    def _written(
        self, group: list[tuple[Sequence[Upload], asyncio.Future[Verdicts]]], done: asyncio.Future[Judged]
    ) -> None:
        problem = done.exception()
        start = 0
        for uploads, future in group:
            if not future.done():  # a caller that went away does not wait any more
                if problem is not None:
                    future.set_exception(problem)
                else:
                    future.set_result(done.result().refusals[start : start + len(uploads)])
            start += len(uploads)
        if problem is None and done.result().full:
            self._when_full()
        if self._waiting:
            self._write()
        else:
            self._busy = False

    def close(self) -> None:
        """Waits for the transaction that is being written."""
        self._writer.shutdown(wait=True)
