"""Questions as another release might have asked them: the same slots, with other constants in their lenses."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from dame.device.lenses import Bins, Lens, Windows
from dame.device.questions import Question

WIDER = 1.07
ASIDE = 0.011


def asked_otherwise(question: Question) -> Question:
    """The question with another window width and another centre, or with bins of another width."""
    changed = replace(question, lens=_changed(question.lens))
    assert changed != question
    return changed


@singledispatch
def _changed(lens: Lens) -> Lens:
    raise AssertionError(lens)


@_changed.register
def _wider_bins(lens: Bins) -> Lens:
    return replace(lens, width=WIDER * lens.width)


@_changed.register
def _moved_windows(lens: Windows) -> Lens:
    windows = [(centre + ASIDE, WIDER * left, WIDER * right) for centre, left, right in lens.windows]
    return replace(lens, windows=tuple(windows))
