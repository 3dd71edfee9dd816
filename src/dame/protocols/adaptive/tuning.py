"""All tuned constants of `adaptive`, in one frozen value.

They decide what a planner proposes and how answers are read, never what a report costs. A study keeps the questions
that it has asked, whatever these constants become: see `Protocol.next`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The constants of version 1."""

    # --- the search for a plan (search)

    clips: Numbers = (0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0)
    """Half-widths of windows to try."""
    first_shares: Numbers = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.16, 0.19, 0.23, 0.29, 0.36, 0.45, 0.56, 0.7)
    growths: Numbers = (1.0, 2.0, 4.0, 7.0, 12.0, 20.0)
    """By what factor each measuring round has more users than the one before."""
    near_first: Numbers = (0.8, 0.9, 1.0, 1.12, 1.25)
    near_growths: Numbers = (0.75, 1.0, 1.33)
    """Factors on the first share and on the growth, around the best design."""
    largest_first: float = 0.8
    plain_shares: Numbers = (0.05, 0.12, 0.25)
    second_shares: Numbers = (0.05, 0.1, 0.2, 0.35, 0.5)
    """Shares of plain bits before a vote, and of that vote."""
    votes_tried: int = 3
    """Of all votes with a given share, so many are followed."""
    spacings: Numbers = (1.5, 2.0, 2.5, 3.0, 4.5, 8.0, 16.0)
    """Widths of bins, in standard deviations of the mean of a user who may just vote."""
    stretches: tuple[tuple[float, float], ...] = ((1.0, 1.0), (1.0, 0.8), (1.0, 1.25), (0.75, 1.0), (0.75, 0.8))
    """Widths to try for the windows before the last and for the last, as parts of what is best for a reader who takes
    the slope for granted. The first and the last pair are enough to compare sketches."""
    kinds: int = 3
    neighbours: int = 2
    not_hopeless: float = 3.0
    unsure: float = 0.05
    """So many sketches are compared by what all their rounds say together: the best of their kinds, among them another
    way to locate unless its error is so many times as large; then some that are like the best of these. Plain bits
    before a vote are tried where wrong places are so large a part of the error."""
    fewest_voting_records: int = 64
    """Below this size plain bits over the whole range locate: votes would be no sharper by much, and nobody would vote
    if sizes were smaller than was assumed."""
    voting_quantiles: Numbers = (0.02, 0.2, 0.5)
    voting_roots: Numbers = (0.1, 0.3, 0.6)
    """Voters have at least as many records as these quantiles of people; or of sqrt(records), which tell how much a
    person counts."""
    cap_quantiles: Numbers = (0.99, 0.95, 0.8, 0.5, 0.1)
    cap_steps: float = 4.0
    least_cap: float = 16.0
    """Caps that are further apart than this are filled up, down to the least one."""

    # --- the chance of a wrong place (doubts)

    rivals_per_bin: float = 2.0
    """A place may be in the middle of a bin or on a border."""
    rival_distance: float = 4.0
    """Rivals are at least so many bins away."""
    rival_reach: float = 6.0
    """Where θ is known up to an error, rivals are within so many times that error, both sides together."""
    elsewhere: float = 3.0
    """Once a vote has elected a wrong place, the next one is wrong so many times as likely as the first was."""
    bits_trusted: float = 0.8
    """Bits count so much of what they would say around a perfect centre."""
    offsets: int = 5
    """Places of θ between the middle and the border of its bin."""

    # --- how the error shrinks from round to round (error_path, forecasting)

    slopes: Numbers = (0.4, 0.45, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.2, 1.35, 1.6, 2.0)
    """Slopes that an undithered round may assume. Above 1, it trusts the centre before it more than its own bits."""
    too_wide: float = 6.0
    too_narrow: float = 0.7
    """Caps are not tried where even the narrowest window is so many times as wide as the error of the centre, or even
    the widest is narrower than so much of it."""
    apart: float = 0.3
    """Distance of the two windows of a round from its centre, in standard deviations of a large user's mean."""
    clearest: float = 4.0
    """A dithered round must see the difference of its windows at least so many standard errors clearly."""
    bias_disliked: float = 1.8
    """By how much squared bias counts more than variance in the choice of a round: intervals cover variance more
    evenly."""
    halfway: float = 0.2
    """Distributions with less room than this are tried halfway between the middle and a bound, where more is possible
    than at the bound; the others are those of records of -1 and 1."""

    # --- models of what may be true (models)

    tabulated_rooms: Numbers = (0.0, 0.01, 0.04, 0.12, 0.25, 0.45, 0.7, 1.0)
    """Distributions of records by their variance room·(2 - room), see `dame.theory.response`."""
    leanings: Numbers = (0.0, 0.5, 1.0)
    """How a distribution leans, from as far as one with its mean and variance can to one side, to the other."""
    trust: float = 0.8
    """The chance that sizes are as the plan assumes."""
    times_as_large: Numbers = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1 / math.sqrt(2), math.sqrt(2), 2.0, 4.0, 8.0, 16.0)
    planned_times: Numbers = (1 / 4, 4.0)
    """How many times as large sizes may be, for readers and for the planner."""
    unequal_times: Numbers = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
    unequal: float = 1.2
    """Standard deviation of the logarithm of sizes that are more unequal than was assumed."""
    power_laws: Numbers = (1.0, 8.0, 64.0)
    """Largest sizes after a power law, as multiples of the largest that was assumed."""
    exponent: float = 1.5
    groups: int = 12
    other_groups: int = 6
    """Groups of sizes in what is assumed, and in each alternative."""
    deltas: int = 101
    worst: float = 11.0
    steep: int = 8
    """How much the chance of a distribution of the largest variance adds to that of one without any, in parts of the
    latter; and how soon that wears off below the largest."""
    to_spare: float = 1.25
    """A distribution of the grid stands for its neighbours too: one with so much too large a variance stays in."""
    like_each_other: float = 1.06
    """Least weights within this factor share their table."""
    same_room: float = 1.2
    least_room: float = 0.003

    # --- reading (posterior)

    misfit: float = 0.01
    """Relative error of what a model predicts: those of the grid stand for those between them."""
    belief: float = 0.955
    """Intervals for the level 0.95 hold so much of the posterior: models cannot hold every distribution, and where the
    true one is not among them, they are somewhat too sure."""
    misled: float = 1e-6
    """The chance that a vote elects a wrong window, and its centre says nothing of θ."""
    vote_misfit: float = 0.02
    lattice: float = 0.4
    """Relative error of the share of votes that a distribution predicts for a bin; and how much is added to it for
    voters with a single record, less for others by the root of their records."""
    voting_groups: int = 4
    """Groups of sizes in which voters are looked at."""
    beside: int = 3
    """Bins on either side of θ that people may vote for."""
    place_reach: float = 3.0
    """A place is so many bins wide on either side of its middle."""
    promising: int = 4096
    first_places: int = 48
    most_places: int = 6
    """So many pairs of bins are compared by their votes and what other rounds say, so many looked at more closely, and
    so many places at most kept apart."""
    hopeless_place: float = 1e-7
    """Places of a smaller chance, compared with the likeliest, are left out."""
    hopeless: float = 1e-3
    """Sizes of smaller weight after a first look are not looked at more closely."""
    towards_the_middle: float = 0.8
    """Before anything is known well, distributions are looked at that have some room on either side."""
    first_points: int = 40
    points: int = 49
    reach: float = 6.0
    fine: float = 2.0
    """A grid is fine enough with so many points within a standard deviation."""
    saturated: float = 0.85
    surely: float = 2.0
    """A mean position so far out in the window, by so many standard errors, says that θ is outside it."""
    wider: float = 1.5
    widest: float = 64.0
    """Where θ is known less well than was planned by more than the first factor, the next window is as many times as
    wide, at most so many times."""
    doubt: float = 0.01
    unlikely: float = 0.05
    """Below this chance that sizes are as assumed, an estimate says that they seem not to be."""
    digits: int = 12
    """Centres are rounded to so many digits, so that every machine asks the very same question."""

    # --- the survey of sizes (survey)

    spare_classes: int = 6
    """Sizes may be so many doublings larger than was assumed."""
    fewest_classes: int = 12
    class_points: int = 4
    """A class of sizes is stood for by so many sizes, evenly apart on a logarithmic scale."""
    survey_trust: float = 0.5
    """The chance that sizes are as the survey found them, and not somewhat or altogether different."""
    surveyed_voters: float = 0.5
    """After a survey at least so large a share of the users votes."""
    survey_digits: int = 9
    """Shares of the classes that were found are rounded to so many digits."""

    # --- between-user variation (between_users, segments)

    few_users: int = 100
    plain_sample: float = 5.0
    """Fewer users than this, or an effective sample size below this, send plain bits: segments would be empty."""
    rounds_sample: float = 50.0
    """Users with a smaller effective sample size are asked at once: they cannot tell where most people are."""
    record_sd: float = 0.5
    """How much records of one user are taken to vary, when an error is predicted."""
    varying_interval: float = 1.3
    """How much wider intervals are than the predicted error says, where users' means have a standard deviation of a
    fifth of the half-range; 1.15 for a fifteenth, 1.5 for two fifths."""
    segment_shares: tuple[Numbers, ...] = ((1.0,), (0.4, 0.6), (0.25, 0.3, 0.45))
    """Shares of the rounds, by how many there are; more than three bring nothing."""
    predicted_studies: int = 12
    """So many studies of each width are simulated to predict the error: within about 12 %."""


TUNING = Tuning()
