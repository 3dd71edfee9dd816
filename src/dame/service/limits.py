"""Limits: how often one address may ask, and how often it may be wrong."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_ADDRESSES = 10_000


class RateLimit:
    """Token buckets, one for each address: so many requests a second, and `burst` at once. A rate of 0 is no limit."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """Whether the address may go on; takes one from its bucket if so."""
        if not self._rate:
            return True
        left = self._left(address)
        self._keep(address, left - 1.0 if left >= 1.0 else left)
        return left >= 1.0

    def charge(self, address: str, cost: float) -> None:
        """Takes something from a bucket that may not have it: then the address owes it, up to ten bursts."""
        if self._rate:
            self._keep(address, max(self._left(address) - cost, -10.0 * self._burst))

    def spent(self, address: str) -> bool:
        """Whether nothing is left for the address."""
        return bool(self._rate) and address in self._buckets and self._left(address) < 1.0

    def _left(self, address: str) -> float:
        now = self._clock()
        left, since = self._buckets.get(address, (self._burst, now))
        return min(left + max(now - since, 0.0) * self._rate, self._burst)

    def _keep(self, address: str, left: float) -> None:
        self._buckets[address] = (left, self._clock())
        self._buckets.move_to_end(address)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)  # whoever was silent longest has a full bucket again anyway
