"""Limits: how often one address may ask, how much it may send, how long headers may be."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Message, Receive

from dame.service.problems import Problem

MOST_ADDRESSES = 10_000
MOST_HEADER_BYTES = 32 * 1024


class RateLimit:
    """Token buckets, one for each address: so many requests a second, and `burst` at once. A rate of 0 is no limit."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str, cost: float = 1.0) -> bool:
        """Whether the address may go on; takes `cost` from its bucket if so."""
        if not self._rate:
            return True
        now = self._clock()
        left, since = self._buckets.get(address, (self._burst, now))
        left = min(left + max(now - since, 0.0) * self._rate, self._burst)
        allowed = left >= cost
        self._buckets[address] = (left - cost if allowed else left, now)
        self._buckets.move_to_end(address)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)  # whoever was silent longest has a full bucket again anyway
        return allowed

    def spent(self, address: str) -> bool:
        """Whether nothing is left for the address."""
        return not self.take(address, 0.0) or (bool(self._rate) and self._buckets[address][0] < 1.0)


async def whole_body(receive: Receive, limit: int) -> bytes:
    """The body of a request, if it is not longer than the limit."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False) and len(body) <= limit:
        return body
    parts, size = [body], len(body)
    while message.get("more_body", False) and size <= limit:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
    if size > limit:
        raise oversized(limit)
    return b"".join(parts)


def limited(receive: Receive, limit: int) -> Receive:
    """`receive` that refuses a body when it turns out to be longer than the limit."""
    size = 0

    async def counting() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise oversized(limit)
        return message

    return counting


def oversized(limit: int) -> Problem:
    """The refusal of a body that is too long."""
    return Problem("oversized", f"the body must have at most {limit} bytes")
