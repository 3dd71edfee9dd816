"""`one-bit`: each user sends one bit, 1 with probability 1/2 + mean/(2B), B = (e^α+1)/(e^α-1)."""

from __future__ import annotations

from dame.device.channels import Bits, Channel
from dame.protocols.whole_range import WholeRange, bit_risk


class OneBitMean(WholeRange):
    """Unbiased; variance (B² - θ²) / n, whatever the records."""

    name = "one-bit"
    summary = "one randomised bit from every user, one round"
    shapes = frozenset({("windows bits",)})

    def channel(self, alpha: float) -> Channel:
        """The bit that spends α over the whole range."""
        return Bits.single(alpha)

    def risk(self, channel: Channel, users: float) -> float:
        """The variance of the mean of the bits."""
        return bit_risk(channel, users)
