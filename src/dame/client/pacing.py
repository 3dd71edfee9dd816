"""When a device speaks next: at moments that do not depend on how long it took to read its records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PACE_SECONDS = 5.0
"""A device that has looked at its records speaks again a whole number of paces after it last heard the service.

Averaging a million records takes about two seconds here: whoever has fewer speaks after one pace, like anybody else.
"""


class Pace:
    """The clock of one conversation with a service."""

    def __init__(
        self,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds = PACE_SECONDS if seconds is None else seconds
        self._clock = clock
        self._sleep = sleep
        self._heard_at = clock()

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """A request, and its answer: the paces are counted from its end."""
        try:
            yield
        finally:
            self._heard_at = self._clock()

    def wait(self) -> None:
        """Sleeps until a whole number of paces, at least one, has gone by since the service was heard."""
        if self._seconds > 0:
            gone = self._clock() - self._heard_at
            paces = max(math.ceil(gone / self._seconds), 1)
            self._sleep(max(self._heard_at + paces * self._seconds - self._clock(), 0.0))
