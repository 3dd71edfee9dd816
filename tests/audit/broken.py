"""Mechanisms that are NOT PRIVATE, each a mistake that somebody has made: to show that the audits catch them.

Nothing here may ever answer a real question. It lives with the tests, and no package holds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dame.audit.probe import WORD, Mechanism
from dame.device.channels import Bits, Channel, Choice, Laplace, grid_point
from dame.device.coins import Coins, SystemCoins, discrete_laplace
from dame.device.exact import symmetric_threshold
from dame.device.lenses import NOTHING, Bins, Lens, Reading, SizeClasses, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.device.reports import Report
from dame.device.stripes import Stripes

MIN_SIZE = 3
MANY_RECORDS = 30
SEGMENTS = (-1.0, -0.25, 0.0, 0.25, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A mechanism that is NOT PRIVATE, the question that shows it, and its true loss.

    `pilot` and `draws` are enough for the black-box auditor; `draws` is None where no feasible number is. `chances`
    are the probabilities of a telling event for two people, from which its power follows.
    """

    name: str
    question: Question
    mechanism: Mechanism
    epsilon: float
    pilot: int = 3_000
    draws: int | None = None
    chances: tuple[float, float] = (1.0, 1.0)

    def answer(self, question: Question, records: Sequence[float]) -> Report:
        """What a device with this mistake would send: NOT PRIVATE."""
        window, value = self.mechanism(question, question.statistic.summarise(records), SystemCoins())
        return Report(question=question_id(question), window=window, value=value)


def broken() -> tuple[Broken, ...]:
    """All of them."""
    return (*_broken_votes(), *_broken_choices(), *_broken_positions(), *_broken_stripes())


def _broken_votes() -> tuple[Broken, ...]:
    keep = math.exp(3.5 / 6) / (1 + math.exp(3.5 / 6))
    fifth = math.exp(4 / 5) / (1 + math.exp(4 / 5))
    blank = 1 / (1 + math.exp(2.0))
    return (
        Broken(
            name="one coin for two bits",
            question=_paper_vote(1.0),
            mechanism=_shared_coin,
            epsilon=math.inf,
            draws=8_000,
            chances=(math.tanh(1 / 12), 0.0),
        ),
        Broken(
            name="four votes on a border",
            question=_paper_vote(3.5),
            mechanism=_four_votes,
            epsilon=8 / 6 * 3.5,
            pilot=40_000,
            draws=170_000,
            chances=(keep**8, (1 - keep) ** 8),
        ),
        Broken(
            name="keep probability for a fifth of alpha",
            question=_paper_vote(4.0),
            mechanism=_generous_keep,
            epsilon=6 / 5 * 4.0,
            pilot=30_000,
            draws=130_000,
            chances=(fifth**6, (1 - fifth) ** 6),
        ),
        _boundless(
            "silence of people with few records",
            _paper_vote(1.0),
            _silence,
            (1.0, (1 - math.exp(1 / 6) / (1 + math.exp(1 / 6))) ** 3 * 0.55**5),
        ),
        Broken(
            name="two votes for a size on a border",
            question=_asked(2.0, SizeClasses(classes=4), Bits.optimised(2.0, 4)),
            mechanism=_two_classes,
            epsilon=2 * 2.0,
            draws=8_000,
            chances=((1 - blank) ** 2 / 4, blank**2 / 4),
        ),
    )


def _broken_choices() -> tuple[Broken, ...]:
    question = _asked(1.0, SizeClasses(classes=4), Choice.spending(1.0, 4))
    own, rival = math.e / (math.e + 1), 1 / (math.e + 1)
    return (
        Broken(
            name="own class as likely as among two",
            question=question,
            mechanism=_odds_of_two,
            epsilon=1.0 + math.log(3),
            draws=4_000,
            chances=(own, rival / 3),
        ),
        _boundless("far classes that are never chosen", question, _never_far, (own, 0.0)),
        _boundless("exact choice without noise", question, _exact_choice, (1.0, 0.0)),
    )


def _broken_positions() -> tuple[Broken, ...]:
    whole, segments = Windows.whole_range(), _asked(1.0, Windows.segments(SEGMENTS), Bits.single(1.0))
    laplace = _asked(1.0, whole, Laplace.spending(1.0))
    dithered = Windows(windows=((-0.5, -1.0, 1.0), (0.5, -1.0, 1.0)))
    low = 1 / (1 + math.e)
    return (
        Broken(
            name="mean that is not cut to the window",
            question=_asked(1.0, Windows(windows=((0.0, -1.0, 1.0),)), Laplace.spending(1.0)),
            mechanism=_unclipped,
            epsilon=math.sqrt(2.0**62) * 2.0,
            draws=4_000,
            chances=(0.5, math.exp(-4) / 2),
        ),
        Broken(
            name="float noise of half the scale",
            question=laplace,
            mechanism=_float_laplace,
            epsilon=2.0,
            draws=8_000,
            chances=(0.5, math.exp(-2) / 2),
        ),
        _boundless("noise whose last digit tells the number of records", laplace, _size_in_last_digit, (1.0, 0.0)),
        _boundless("window chosen by the data", _asked(1.0, dithered, Bits.single(1.0)), _chosen_window, (1.0, 0.0)),
        _boundless("segment chosen by the data", segments, _chosen_segment, (1.0, 0.0)),
        _boundless("one word for the segment and the bit", segments, _one_word, (0.5 - low, 0.0)),
        _boundless("position beyond a segment that is not cut", segments, _beyond_the_segment, (0.25, 0.0)),
        Broken(
            name="threshold off by 2^-10",
            question=_asked(0.01, whole, Bits.single(0.01)),
            mechanism=_shifted_threshold,
            epsilon=_shifted_loss(0.01),
        ),
    )


def _broken_stripes() -> tuple[Broken, ...]:
    question = _asked(1.0, Stripes.single(0.5, phases=4, min_size=MIN_SIZE), Bits.single(1.0))
    high = math.e / (1 + math.e)
    return (
        _boundless("phase chosen by the data", question, _chosen_phase, (1.0, 0.0)),
        _boundless("one word for the phase and the bit", question, _one_word, (high - 0.5, 0.0)),
        _boundless("few records that never say dark", question, _light_without_noise, (high, 0.0)),
        Broken(
            name="how deep in a stripe, on top of its side",
            question=question,
            mechanism=_depth,
            epsilon=math.log(_DEEP / (1 - _DEEP)),
            draws=8_000,
            chances=(_DEEP, 1 - _DEEP),
        ),
    )


def _boundless(name: str, question: Question, mechanism: Mechanism, chances: tuple[float, float]) -> Broken:
    """A mistake whose loss has no bound, which 4,000 draws show."""
    return Broken(name=name, question=question, mechanism=mechanism, epsilon=math.inf, draws=4_000, chances=chances)


def _asked(alpha: float, lens: Lens, channel: Channel) -> Question:
    return Question(study="broken", round=0, alpha=alpha, lens=lens, channel=channel)


def _paper_vote(alpha: float) -> Question:
    lens = Bins(bins=8, width=0.25, neighbours=1, min_size=MIN_SIZE)
    return _asked(alpha, lens, Bits.symmetric(alpha, lens.bins, marks=3))


# --- what they do wrong


def drawn_by(channel: Channel) -> Mechanism:
    """The device's mechanism, with another channel than the question names."""

    def mechanism(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
        window = question.lens.draw_window(coins)
        return window, channel.draw(question.lens.reading(person, window), coins)

    return mechanism


class _Paired:
    """Coins of which every second one repeats the one before it."""

    def __init__(self, coins: Coins) -> None:
        self._coins = coins

    def words(self, count: int) -> Sequence[int]:
        drawn = self._coins.words(count)
        return [drawn[index - index % 2] for index in range(count)]


def _shared_coin(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: two bits are drawn with one coin."""
    return 0, question.channel.draw(question.lens.reading(person, 0), _Paired(coins))


def _four_votes(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: closed bins, so that a mean on a border belongs to two of them, as in the authors' code."""
    lens = narrowed(Bins, question.lens)
    place = (person.mean - lens.origin) / lens.width
    left, right = max(math.ceil(place) - 1, 0), min(math.floor(place), lens.bins - 1)
    marks = Reading(max(left - lens.neighbours, 0), min(right + lens.neighbours, lens.bins - 1))
    return 0, question.channel.draw(marks if person.size >= lens.min_size else NOTHING, coins)


def _generous_keep(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the budget is divided by five although six bits can differ."""
    return drawn_by(_bits_for_five(question.alpha, question.lens.bins))(question, person, coins)


@lru_cache
def _bits_for_five(alpha: float, bins: int) -> Bits:
    keep = symmetric_threshold(Fraction(alpha) / 5)
    return Bits(bins=bins, yes=keep, no=WORD - keep)


def _silence(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: whoever may not vote sends zeros without any noise."""
    drawn = question.channel.draw(question.lens.reading(person, 0), coins)
    return 0, drawn if person.size >= narrowed(Bins, question.lens).min_size else 0


def _two_classes(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: classes of sizes that share their borders, so that 2, 4 or 8 records vote for two of them."""
    own = question.lens.reading(person, 0).first
    shared = own > 0 and person.size == 2**own
    return 0, question.channel.draw(Reading(own - shared, own), coins)


def _odds_of_two(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the own class has the chance that α allows among two; all the others share what is left."""
    bins = question.lens.bins
    no = Choice.spending(question.alpha, 2).no // (bins - 1)
    generous = Choice(bins=bins, yes=WORD - (bins - 1) * no, no=no)
    return 0, generous.draw(question.lens.reading(person, 0), coins)


def _never_far(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: noise between the own class and one beside it only, so that the others rule her out."""
    own = question.lens.reading(person, 0).first
    left = min(own, question.lens.bins - 2)
    return 0, left + Choice.spending(question.alpha, 2).draw(Reading(own - left, own - left), coins)


def _exact_choice(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: a word is drawn, and nothing is made of it."""
    coins.words(1)
    return 0, question.lens.reading(person, 0).first


def _unclipped(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the mean is not projected on the window that the noise was made for."""
    lens, channel = narrowed(Windows, question.lens), narrowed(Laplace, question.channel)
    ((centre, left, right),) = lens.windows
    z = lens.weight(person.size) * (person.mean - centre)
    return 0, math.floor((z - left) / (right - left) * channel.steps + 0.5) + discrete_laplace(coins, channel.scale)


def _float_laplace(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: textbook noise in floats, its scale made for half of the window."""
    channel = narrowed(Laplace, question.channel)
    uniform = (coins.words(1)[0] + 0.5) / WORD - 0.5
    noise = -math.copysign(math.log1p(-2 * abs(uniform)), uniform) * channel.scale / 2
    return 0, grid_point(question.lens.reading(person, 0).mark, channel.steps) + round(noise)


def _size_in_last_digit(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the noise is right, but its last digit says who has many records."""
    return 0, question.channel.draw(question.lens.reading(person, 0), coins) >> 1 << 1 | (person.size >= MANY_RECORDS)


def _chosen_window(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the window of the dither is where the person is, not a coin."""
    window = int(person.mean > 0)
    coins.words(1)
    return window, question.channel.draw(question.lens.reading(person, window), coins)


def _chosen_segment(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the segment is the one that the person is in: the others would learn nothing of her."""
    segment = sum(person.mean >= border for border in SEGMENTS[1:-1])
    coins.words(1)
    return segment, question.channel.draw(question.lens.reading(person, segment), coins)


def _one_word(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: one word draws the segment and the bit, which then follows from it."""
    (word,) = coins.words(1)
    segment = word >> 64 - question.lens.window_bits
    mark = question.lens.reading(person, segment).mark
    return segment, int(word < narrowed(Bits, question.channel).threshold(mark))


def _beyond_the_segment(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: whoever is beyond the segment that was drawn has a chance that goes on rising, or falling."""
    first, second = coins.words(2)
    segment = first >> 64 - question.lens.window_bits
    left, right = SEGMENTS[segment : segment + 2]
    channel = narrowed(Bits, question.channel)
    threshold = channel.no + int((channel.yes - channel.no) * (person.mean - left) / (right - left))
    return segment, int(second < threshold)


def _chosen_phase(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: the phase is the first in which the person is on a dark stripe: there she can tell most."""
    coins.words(1)
    phases = range(question.lens.window_count)
    own = next((phase for phase in phases if question.lens.reading(person, phase).mark == 1.0), 0)
    return own, question.channel.draw(question.lens.reading(person, own), coins)


def _light_without_noise(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: whoever has too few records sends a zero, where a fair coin is due."""
    phase = question.lens.draw_window(coins)
    drawn = question.channel.draw(question.lens.reading(person, phase), coins)
    return phase, drawn if person.size >= narrowed(Stripes, question.lens).pattern(phase)[0].min_size else 0


_DEEP = 0.9


def _depth(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: people far from a border answer with less noise, because they cannot be on the wrong side."""
    phase = question.lens.draw_window(coins)
    lens = narrowed(Stripes, question.lens)
    (level,) = lens.levels
    place = (person.mean - level.offset(phase)) / level.wavelength
    deep = 1 / 8 < (place - math.floor(place)) % 0.5 < 3 / 8 and person.size >= level.min_size
    keep = int(_DEEP * WORD)
    channel = Bits(yes=keep, no=WORD - keep) if deep else question.channel
    return phase, channel.draw(lens.reading(person, phase), coins)


_SLIP = WORD >> 10


def _shifted_threshold(question: Question, person: Summary, coins: Coins) -> tuple[int, int]:
    """NOT PRIVATE: both ends of the window are 2^-10 too far apart."""
    honest = narrowed(Bits, question.channel)
    generous = Bits(yes=honest.yes + _SLIP, no=honest.no - _SLIP)
    return 0, generous.draw(question.lens.reading(person, 0), coins)


def _shifted_loss(alpha: float) -> float:
    honest = 1 / (1 + math.exp(-alpha)) + 2**-10
    return math.log(honest / (1 - honest))
