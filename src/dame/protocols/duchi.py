"""`duchi`: Laplace noise of scale 2/α on the mean of each user, one round."""

from __future__ import annotations

from dame.device.channels import Channel, Laplace
from dame.protocols.whole_range import WholeRange


class Duchi(WholeRange):
    """Unbiased up to the grid; variance (8/α² + Var(mean)) / n."""

    name = "duchi"
    summary = "Laplace noise on every user's mean, one round: ignores sizes"
    shapes = frozenset({("windows laplace",)})

    def channel(self, alpha: float) -> Channel:
        """The noise that spends α over the whole range."""
        return Laplace.spending(alpha)

    def risk(self, channel: Channel, users: float) -> float:
        """The variance of the noise, and of means of one record each."""
        return (4 * channel.variance(0.5) + 1.0) / users
