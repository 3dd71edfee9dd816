"""From the tally of a round to what it says of θ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from dame.device.channels import Bits
from dame.device.lenses import Bins, Lens, Windows
from dame.device.parts import narrowed
from dame.errors import Mismatch
from dame.planning.brief import Brief
from dame.protocols.adaptive.models import in_whole_range
from dame.protocols.adaptive.posterior import Heard, HeardBits, HeardWindow
from dame.protocols.adaptive.votes import HeardVotes
from dame.tally import Tally


@singledispatch
def heard(lens: Lens, tally: Tally, brief: Brief) -> Heard:
    """What a tally with at least one report says."""
    raise Mismatch(f"adaptive does not read {lens.kind}")


@heard.register
def _votes(lens: Bins, tally: Tally, brief: Brief) -> Heard:
    return HeardVotes.of(lens, tally, brief)


@heard.register
def _bits(lens: Windows, tally: Tally, brief: Brief) -> Heard:
    pairs = zip(lens.windows, tally.windows, strict=True)
    windows = [
        HeardWindow(where.centre, told.reports, told.sums[0] / told.reports) for where, told in pairs if told.reports
    ]
    return HeardBits(lens=lens, channel=narrowed(Bits, tally.question.channel), windows=tuple(windows))


@singledispatch
def centres_of(lens: Lens) -> Iterator[float]:
    """About where a lens looks more closely than at the whole range."""
    del lens
    return iter(())


@centres_of.register
def _centres_of_windows(lens: Windows) -> Iterator[float]:
    if not in_whole_range(lens):
        yield sum(window.centre for window in lens.windows) / len(lens.windows)
