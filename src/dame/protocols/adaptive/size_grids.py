"""Which sizes the planner tries: from how many records on users vote, and how many of them count."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dame.planning.brief import Brief
from dame.protocols.adaptive.tuning import TUNING

Floats = NDArray[np.float64]


def _quantiles(brief: Brief, levels: Sequence[float], power: float = 0.0) -> list[int]:
    """Quantiles of sizes, where a person counts as that power of her size."""
    sizes, weights = brief.sizes.nodes()
    below = np.cumsum(weights * sizes**power)
    places = np.searchsorted(below / below[-1], np.asarray(levels) * (1 - 1e-12))
    return [max(int(sizes[min(place, len(sizes) - 1)]), 1) for place in places]


def _apart(sizes: Sequence[int]) -> list[int]:
    """The sizes in their order, without those that are within half of one that is kept before them."""
    kept: list[int] = []
    for size in sizes:
        if all(size * 1.5 <= other or size >= other * 1.5 for other in kept):
            kept.append(size)
    return kept


def caps_of(brief: Brief) -> Floats:
    """Caps to try: none, sizes that only the larger users reach, and others between and below these."""
    largest, *caps = _apart([int(brief.sizes.nodes()[0][-1]), *_quantiles(brief, TUNING.cap_quantiles)])
    anchors = [float(largest), *sorted(map(float, caps), reverse=True), TUNING.least_cap]
    filled = [cap for above, below in itertools.pairwise(anchors) for cap in _steps(above, below)]
    return np.array([math.inf, *sorted(map(brief.effective, [*caps, *filled]), reverse=True)])


def _steps(above: float, below: float) -> list[float]:
    """Numbers between two, evenly apart on a logarithmic scale, where these are far apart."""
    if above <= below * TUNING.cap_steps:
        return []
    count = math.ceil(math.log(above / below) / math.log(TUNING.cap_steps))
    return [float(cap) for cap in np.geomspace(above, below, count + 1)[1:-1]]


def voting_sizes(brief: Brief) -> list[int]:
    """Sizes from which on users may vote."""
    sizes = [*_quantiles(brief, TUNING.voting_quantiles), *_quantiles(brief, TUNING.voting_roots, 0.5)]
    return [size for size in _apart(sizes) if size >= TUNING.fewest_voting_records]
