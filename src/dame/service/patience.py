"""What could not be done is tried again, after pauses that grow."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 600.0


class Patience:
    """When each of several things may be tried again. `clock` counts seconds, and is never set back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._resting: dict[Hashable, tuple[float, float]] = {}
        """The time from which each may be tried, and the pause before it."""

    def may_try(self, what: Hashable) -> bool:
        """Whether there is no pause now."""
        return what not in self._resting or self._resting[what][0] <= self._clock()

    def failed(self, what: Hashable) -> float:
        """The pause until the next attempt: twice the one before."""
        before = self._resting.get(what, (0.0, FIRST_PAUSE / 2))[1]
        pause = min(2 * before, LONGEST_PAUSE)
        self._resting[what] = (self._clock() + pause, pause)
        return pause

    def done(self, what: Hashable) -> None:
        """Forgets all pauses before something that was done."""
        self._resting.pop(what, None)
