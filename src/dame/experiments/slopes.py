"""Slopes of straight lines on logarithmic axes: what a rate such as 1/n looks like in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def slope(x: Floats, y: Floats) -> float:
    """The slope of the straight line through log y against log x, by least squares."""
    return float(_weights(x) @ np.log(y))


def slope_error(x: Floats, y: Floats, y_error: Floats) -> float:
    """The standard error of that slope, from independent standard errors of y."""
    return float(np.sqrt(np.sum((_weights(x) * y_error / y) ** 2)))


def _weights(x: Floats) -> Floats:
    """The slope is a weighted sum of the logarithms of y."""
    centred = np.log(x) - np.log(x).mean()
    weights: Floats = centred / (centred @ centred)
    return weights
