"""Scripts for whoever writes a device: the lens `stripes`, from thresholds to fine digits."""

from __future__ import annotations

from dame.device.channels import Bits, Laplace
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from dame.device.stripes import Level, Stripes
from vectors.channel_scripts import telling_answers, window_word
from vectors.outcomes import Document, answer_operation
from vectors.people import alike
from vectors.spoilt import changed_lens, lacking_lens

TYING = 0.7299270072992701
"""A wavelength with two phases in which 0.5 lies on a border, to the last bit: a dark stripe ends there, or begins."""


LEVELS = (Level(4.2, 5), Level(1 / 3, 3, 3), Level(TYING, 2, 4), Level(0.01, 118, 2))
"""As many patterns as there may be, of four widths, some of them for people with several records."""


def stripe_questions() -> dict[str, dict[str, Question]]:
    """Questions about stripes, by the kind of their channel."""
    return {"bits": _bits(), "laplace": _laplace()}


def _bits() -> dict[str, Question]:
    """Thresholds all over the range; digits, asked of people with several records; and levels of all kinds together."""
    return {
        "thresholds": Question(
            study="vectors", round=0, alpha=1.0, lens=Stripes.single(4.0, phases=8), channel=Bits.single(1.0),
        ),
        "digits": Question(
            study="vectors", round=1, alpha=22 / 35, lens=Stripes.single(TYING, phases=2, min_size=3),
            channel=Bits.single(22 / 35),
        ),
        "levels": Question(
            study="vectors", round=0, alpha=1.0, lens=Stripes(levels=LEVELS), channel=Bits.single(1.0),
        ),
    }  # fmt: skip


def _laplace() -> dict[str, Question]:
    """The finest digits that there are, with noise on the mark, which is whole, half or none."""
    return {
        "finest": Question(
            study="vectors", round=0, alpha=1.0, statistic=Value(low=0.0, high=10.0),
            lens=Stripes.single(1e-6, phases=4, min_size=2), channel=Laplace.spending(1.0, steps=10),
        ),
    }  # fmt: skip


def stripe_refusals() -> list[Document]:
    """Documents with stripes that must be refused."""
    good = _bits()["thresholds"]
    changes: list[Document] = [
        {"levels": []}, {"levels": 4.0}, {"levels": [[9e-7, 8, 1]]}, {"levels": [[8.1, 8, 1]]},
        {"levels": [[4.0, 0, 1]]}, {"levels": [[4.0, 3, 1]]}, {"levels": [[4.0, 8.0, 1]]}, {"levels": [[4.0, 256, 1]]},
        {"levels": [[4.0, 8, 0]]}, {"levels": [[4.0, 8]]}, {"levels": [[4.0, 8, 1, 1]]},
        {"levels": [[4.0, 8, 1], [1.0, 4, 1]]},
        {"levels": [[4.0, 64, 1]] * 4}, {"levels": [4.0, 8, 1]}, {"wavelength": 4.0}, {"bins": 1},
    ]  # fmt: skip
    return [*(changed_lens(good, change) for change in changes), *lacking_lens(good)]


def stripe_answers(kind: str) -> list[Document]:
    """People at both bounds and in the middle, some with too few records; and coins that tell the sides apart."""
    script = []
    for name, question in stripe_questions()[kind].items():
        for seed, (mean, size) in enumerate([(-1.0, 3), (1.0, 3), (0.0, 3), (0.5, 2)]):
            script.append(answer_operation(name, question, alike(question, mean, size), seed))
    return [*script, *(_sides() if kind == "bits" else [])]


def _sides() -> list[Document]:
    """On a border in both phases, inside of a dark stripe and of a light one; and somebody with too few records."""
    question = _bits()["digits"]
    dark = narrowed(Bits, question.channel).no  # the least word that is a one on dark stripes only
    script = []
    for mean, window in ((0.5, 0), (0.5, 1), (0.0, 0), (0.0, 1), (-1.0, 0), (-1.0, 1)):
        coins = [*window_word(question.lens, window, last=False), dark]
        script.append(answer_operation("digits", question, alike(question, mean, 3), 7, coins))
    return [*script, *telling_answers("digits", question, alike(question, 0.5, 2), 1), *_levels()]


def _levels() -> list[Document]:
    """The first and the last pattern of each level, on its border and with exactly enough records."""
    question = _bits()["levels"]
    dark, first, script = narrowed(Bits, question.channel).no, 0, []
    for level in LEVELS:
        for window in (first, first + level.phases - 1):
            for mean, size in ((0.5, level.min_size), (-0.3, level.min_size), (0.5, max(level.min_size - 1, 1))):
                coins = [*window_word(question.lens, window, last=False), dark]
                script.append(answer_operation("levels", question, alike(question, mean, size), 7, coins))
        first += level.phases
    return script
