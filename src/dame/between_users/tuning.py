"""The tuned constants of reading and asking about segments of the range, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTuning:
    """Constants of version 1. "Standard errors" are those of plain bits from as many users."""

    count: int = 8
    """How many segments a round asks about."""
    points: int = 65
    """Where users may be, besides the borders of all segments: so many points, evenly apart."""
    looks: int = 3
    """How often a fit is made, with the noise that the fit before it expects."""
    gathered: float = 0.5
    """What a mean distance of one standard error costs, where most people are looked for."""
    near: float = 0.6
    """Most people are within this distance of the median: others have no part in the width of the middle."""
    reach: float = 1.5
    located: float = 0.6
    """Half the middle, in widths of most people; and the error of their place, in standard errors."""
    widest_half: float = 0.6
    end: float = 0.1
    """A middle that comes so close to an end of the range reaches to it."""
    least_watch: float = 0.2
    clear: float = 4.0
    """The weight of a tail's error where nobody seems to be there: nearly all of it is cut off. It grows to 1 for an
    excess of so many standard errors."""
    trim: float = 0.45
    """At most so much of a tail's excess is taken for noise, in standard errors: with a variance of a tail that is
    below theirs, the whole error stays within 1.05 of theirs."""
    surely_noise: float = 2.0
    surely_somebody: float = 5.0
    """Between so many standard errors of the excess, less and less is taken for noise."""
    long: float = 1.1
    too_long: float = 1.7
    """So is less of a tail that is longer: its own variance is nearly all there is, and leaves no room for a bias."""
    narrowest: float = 0.05
    widest: float = 0.85
    """Standard deviations of users' means that are told apart; narrower ones are measured as the narrowest."""


SEGMENTS = SegmentTuning()


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityTuning:
    """Constants of version 1 of reading densities by penalised likelihood."""

    cells: int = 96
    points_in_cell: int = 8
    """Where the marks of people of a cell are looked at."""
    strengths: tuple[float, ...] = (1e5, 1e4, 1e3, 1e2, 10.0, 1.0, 0.1)
    """Of the prior on third differences; the first leaves bells and exponential tails, the last anything."""
    quick_strengths: tuple[float, ...] = (1e5, 1e3, 10.0, 0.1)
    """For the rounds before the last, after which only the next thresholds depend on the fit."""
    ridge: float = 1e-6
    """The precision of the prior on what third differences leave open."""
    atom: float = 0.25
    atom_share: float = 0.03
    """The precision of the logarithm of an atom's share, around this share."""
    atom_odds: float = 0.4
    """The prior odds that there is an atom in a given place."""
    atom_score: float = 0.75
    atom_places: int = 8
    """Places whose score (in standard errors) is above this are tried as atoms, at most so many."""
    least_weight: float = 0.01
    """Fits whose posterior weight is below this are left out."""
    skew: float = 0.08
    """Curved scales are finer at one end: fine as this part of the range."""
    own_scale: float = 0.3
    """In a scale of the people's own, this part of the cells is spread evenly over the range."""
    draws: int = 600
    inflation: float = 1.15
    """Posteriors of smooth densities are a little too sure of themselves: errors are stretched by this factor."""
    band_inflation: float = 1.15
    """Bands are stretched by this factor more: at an end of the range smooth densities err to one side."""
    band_floor: float = 0.6
    """The band is nowhere narrower than this part of its widest place."""
    slope_steps: int = 64
    jump: float = 1.8
    """Many people are taken to sit at a quantile where the error of its share is so many times what its own error and
    the slope of the curve explain, within one of so many steps of the scale on either side."""
    resolved: float = 2.0
    """Where many people sit is known to so many cells."""
    most_steps: int = 25
    longest_step: float = 2.0
    close: float = 0.05
    """Newton's method ends when a step gains no more than this, in the logarithm of the posterior."""


DENSITY = DensityTuning()
