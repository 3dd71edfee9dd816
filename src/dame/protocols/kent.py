"""`kent`: the procedure of Kent, Berrett and Yu for equal sizes, with m̃ = the smallest size of M."""

from __future__ import annotations

from dame.planning.brief import Brief
from dame.protocols.paper import Paper


class Kent(Paper):
    """DAME that treats every user as if she had as few records as the user with fewest."""

    name = "kent"
    summary = "DAME with m̃ = the smallest size: what a method for equal sizes can do"

    def effective_size(self, brief: Brief) -> int:
        """The smallest size of M."""
        return brief.sizes.smallest
