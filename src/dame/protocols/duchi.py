"""`duchi`: Laplace noise of scale 2/α on each user's mean, the baseline that the paper calls Duchi et al."""

from __future__ import annotations

from dame.device.randomisers import DiscreteLaplace
from dame.protocols.whole_range import WholeRange


class Duchi(WholeRange):
    """Unbiased; variance (8/α² + Var of a user's mean) / n."""

    name = "duchi"
    summary = "Laplace noise on every user's mean, one round"

    def noise(self, alpha: float) -> DiscreteLaplace:
        """Discrete Laplace noise over the whole range."""
        return DiscreteLaplace.spending(alpha)
