"""The text form of sizes, as the command line and the plan write it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dame import checks
from dame.errors import InvalidInput
from dame.sizes import distributions, observed, scipy_distributions
from dame.sizes.distributions import SizeDistribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to write sizes: how it is used, and what makes a law of the text after the first colon."""

    usage: str
    read: Callable[[str], SizeDistribution]


def parse(spec: str) -> SizeDistribution:
    """The law that a text describes."""
    if not isinstance(spec, str):
        raise InvalidInput("sizes", spec, "a text such as 'poisson:5'")
    name, _, rest = spec.partition(":")
    if name not in FORMS:
        raise InvalidInput("sizes", spec, "one of " + ", ".join(form.usage for form in FORMS.values()))
    try:
        return FORMS[name].read(rest)
    except InvalidInput as error:
        reason = error.allowed if error.field == "law" else error
        raise InvalidInput("sizes", spec, f"{FORMS[name].usage} ({reason})") from None


def _constant(rest: str) -> SizeDistribution:
    (size,) = _words(rest, 1)
    return distributions.constant(_whole(size))


def _poisson(rest: str) -> SizeDistribution:
    (mean,) = _words(rest, 1)
    return distributions.poisson(_number(mean))


def _uniform(rest: str) -> SizeDistribution:
    low, high = _words(rest, 2)
    return distributions.uniform(_whole(low), _whole(high))


def _binomial(rest: str) -> SizeDistribution:
    trials, success = _words(rest, 2)
    return distributions.binomial(_whole(trials), _number(success))


def _geometric(rest: str) -> SizeDistribution:
    (success,) = _words(rest, 1)
    return distributions.geometric(_number(success))


def _zipf(rest: str) -> SizeDistribution:
    exponent, largest = _words(rest, 2)
    return distributions.zipf(_number(exponent), _whole(largest))


def _two_point(rest: str) -> SizeDistribution:
    first, second, share = _words(rest, 3)
    return distributions.two_point(_whole(first), _whole(second), _number(share))


def _histogram(rest: str) -> SizeDistribution:
    pairs = [item.split("=") for item in rest.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidInput("histogram", rest, "a list of SIZE=WEIGHT with commas")
    return observed.from_weights([_whole(size) for size, _ in pairs], [_number(weight) for _, weight in pairs])


def _scipy(rest: str) -> SizeDistribution:
    name, *arguments = rest.split(":")
    return scipy_distributions.named(name, tuple(_number(argument) for argument in arguments))


def _words(rest: str, count: int) -> list[str]:
    words = rest.split(":")
    if len(words) != count:
        raise InvalidInput("numbers", rest, f"{count} with colons between them")
    return words


def _number(word: str) -> float:
    return checks.number_from_text("number", word)


def _whole(word: str) -> int:
    value = _number(word)
    if not 0 <= value <= distributions.LARGEST or value != int(value):
        raise InvalidInput("size", word, f"a whole number from 1 to {distributions.LARGEST:g}")
    return int(value)


FORMS = {
    "constant": Form(usage="constant:SIZE", read=_constant),
    "poisson": Form(usage="poisson:MEAN", read=_poisson),
    "uniform": Form(usage="uniform:LOW:HIGH", read=_uniform),
    "binomial": Form(usage="binomial:TRIALS:PROBABILITY", read=_binomial),
    "geometric": Form(usage="geometric:PROBABILITY", read=_geometric),
    "zipf": Form(usage="zipf:EXPONENT:LARGEST", read=_zipf),
    "two-point": Form(usage="two-point:SIZE:SIZE:SHARE", read=_two_point),
    "counts": Form(usage="counts:FILE", read=lambda rest: observed.from_file(Path(rest))),
    "histogram": Form(usage="histogram:SIZE=WEIGHT,…", read=_histogram),
    "scipy": Form(usage="scipy:NAME:NUMBER:…", read=_scipy),
}
