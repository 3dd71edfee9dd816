"""The grid on which places and borders lie, so that every machine asks the very same question."""

GRID = 512


def on_grid(place: float) -> float:
    """The nearest multiple of 1/512 within the range."""
    return round(min(max(float(place), -1.0), 1.0) * GRID) / GRID
