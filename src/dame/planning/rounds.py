"""Rounds of a plan: who is asked, through which lens and channel, and what error that is expected to leave."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dame import checks
from dame.device.channels import Channel
from dame.device.lenses import Lens, Window, Windows
from dame.device.questions import Question
from dame.planning.brief import Brief
from dame.sizes import Sizes
from dame.vectorised.lenses import weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round as planned, for a share of the users.

    Where its lens follows from the answers before it, `lens` is what it would be without any: windows around 0.
    `error_after` is the error of the mean that the planner expects after this round, on the inner scale.
    """

    name: str
    share: float
    lens: Lens
    channel: Channel
    error_after: float = 1.0

    def __post_init__(self) -> None:
        checks.text("name", self.name, 32)
        checks.positive("share", self.share, 1.0)
        checks.real("error_after", self.error_after, 0.0, 1e6)

    @property
    def shape(self) -> str:
        """The kinds of its lens and its channel."""
        return shape(self.lens, self.channel)

    def ask(self, brief: Brief, index: int, lens: Lens | None = None) -> Question:
        """The question of this round, through its own lens or the one that follows from answers."""
        return Question(
            study=brief.study,
            target=brief.target,
            round=index,
            alpha=brief.alpha,
            statistic=brief.statistic,
            lens=lens or self.lens,
            channel=self.channel,
        )


def shape(lens: Lens, channel: Channel) -> str:
    """The kinds of a lens and a channel, as in `bins bits`."""
    return f"{lens.kind} {channel.kind}"


def windows_around_zero(
    half_width: float, *, cap: float | None, dither: float = 0.0, fitted: bool = False, between_sd: float = 0.0
) -> Windows:
    """A window of z (see `Windows`) around 0; two of them, so far to the left and to the right, with a `dither`.

    `fitted` windows give people with few records the weight at which their means just reach the ends.
    """
    centres = (-dither, dither) if dither else (0.0,)
    return Windows(
        windows=tuple(Window(centre, -half_width, half_width) for centre in centres),
        cap=cap,
        between_sd=between_sd,
        least_weight=half_width / (1 + dither) if fitted else 0.0,
    )


def moved(lens: Windows, centre: float) -> Windows:
    """Windows around 0, moved to a centre, where nobody's mean is farther away than it can be."""
    reach = max(abs(window.centre) for window in lens.windows)
    return Windows(
        windows=tuple(window._replace(centre=centre + window.centre) for window in lens.windows),
        cap=lens.cap,
        between_sd=lens.between_sd,
        least_weight=lens.least_weight * (1 + reach) / (1 + abs(centre) + reach),
    )


def mean_weight(lens: Windows, sizes: Sizes) -> float:
    """The expected weight of a user under M; E sqrt(m ∧ cap) in the plainest case."""
    if lens.between_sd or lens.least_weight:
        return sizes.expectation(lambda points: weights(lens, points))
    return sizes.mean_sqrt(math.inf if lens.cap is None else lens.cap)
