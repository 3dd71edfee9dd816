"""All tuned constants of `one-round`, in one frozen value: what a planner proposes and how answers are read.

A study keeps the question that it has asked, whatever these constants become: see `Protocol.next`.
"""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeTuning:
    """The constants of version 1."""

    # --- which distributions are feared (responses)

    fair: Numbers = (0.0, 0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
    """Means of records that are -1 and 1 only."""
    leaning: Numbers = (-0.4, 0.0, 0.4)
    """Means of records of which a third is -1 and the others are alike: about as skewed as the mean allows."""
    suspects: tuple[int, ...] = (0, 13)
    """Places of those among all of these for which a wrong stripe is most likely: fair signs, and records all alike."""
    size_groups: int = 64
    """M in so many groups."""

    # --- the search for levels (design)

    coarsest: Numbers = (4.2, 3.0, 2.5, 2.2)
    """Wavelengths of the first level to try: from a little more than twice the range on."""
    frequency_step: float = 1.08
    """Between the finest frequencies that are tried."""
    highest: float = 1.7
    """The highest frequency, in units of the square root of the largest size."""
    fewest: Numbers = (0.0, 0.25, 0.4, 0.6, 1.0, 1.5, 2.5, 4.0)
    """Least sizes of the finest level, in units of its squared frequency."""
    coarse_fewest: float = 0.5
    """Least sizes of the other levels, in the same units."""
    finalists: int = 9
    sparse: int = 5
    """So many of the finest frequencies are tried with all ladders that may lead to them, and of those far below the
    best every fifth."""
    close: float = 1.05
    thinned: int = 6
    searches: int = 6
    """So many designs, not so much worse than the best, are improved by taking phases away here and there."""
    more_levels: int = 5
    """So many ladders are tried, each with a level more."""
    largest_ratio: float = 9.0
    """Between the frequencies of two neighbouring levels."""
    phases: tuple[int, ...] = (3, 5, 7, 9, 11, 13, 15, 19, 23, 27, 31, 37, 43, 51)
    """Of each level but the finest: odd, since an even number of phases has each border twice."""
    most_on_ladder: float = 0.8
    """The largest share of people on levels that only tell which stripe of the finest one is meant."""
    most_points: int = 2**20
    """Of the grid on which a stripe is chosen: finer stripes are not asked for."""
    gain: float = 0.97
    """Stripes are chosen where their risk is below this part of that of plain bits."""

    # --- how answers are read (reading)

    grid: int = 16
    """Points of the grid to a wavelength of the finest level."""
    least_amplitude: float = 0.5
    """An amplitude below this part of the expected one is not believed."""
    doubt: float = 0.005
    """If other stripes have more than this chance together, the interval takes them in."""
    doubt_left: float = 0.002
    """The chance of all stripes that an interval in doubt leaves out."""
    skew_variance: float = 0.5
    """The variance, in units of its square, of the bias that records as skewed as possible would cause."""


TUNING = StripeTuning()
