"""`one-bit`: each user sends one bit, 1 with probability 1/2 + mean/(2B), B = (e^α+1)/(e^α-1)."""

from __future__ import annotations

from dame.device.randomisers import OneBit
from dame.protocols.whole_range import WholeRange


class OneBitMean(WholeRange):
    """Unbiased; variance (B² - θ²) / n, whatever the records."""

    name = "one-bit"
    summary = "one randomised bit from every user, one round"

    def noise(self, alpha: float) -> OneBit:
        """The bit that spends α over the whole range."""
        return OneBit.spending(alpha)
