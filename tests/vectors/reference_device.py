"""A second device, written from docs/vectors.md alone: it imports nothing of this package."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from fractions import Fraction

from tests.vectors.reference_statistics import (
    Refused,
    clamp,
    double,
    fields,
    integer,
    one_of,
    require,
    statistic,
    summarise,
    text,
)

W = 2**64
POWERS = (1, 2, 4, 8, 16, 32, 64, 128)


def nearest(mark, steps):
    return math.floor(mark * steps + 0.5)


# --- reading documents


def threshold(value):
    require(isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) and int(value, 16) >= 1)
    return int(value, 16)


def cap(value):
    return None if value is None else double(1e-12, 2.0**62)(value)


def windows(value):
    require(isinstance(value, list) and len(value) in POWERS)
    for window in value:
        require(isinstance(window, list) and len(window) == 3)
    limits = (3, 1e12, 1e12)
    read = [[double(-most, most)(end) for end, most in zip(window, limits, strict=True)] for window in value]
    require(all(right - left >= 1e-12 for _, left, right in read))
    return read


def levels(value):
    require(isinstance(value, list) and 1 <= len(value) <= 128)
    read = [level(one) for one in value]
    require(sum(phases for _, phases, _ in read) in POWERS)
    return read


def level(value):
    require(isinstance(value, list) and len(value) == 3)
    checks = (double(1e-6, 8), integer(1, 128), integer(1, 2**62))
    return [check(one) for check, one in zip(checks, value, strict=True)]


LENSES = {
    "bins": {
        "bins": integer(1, 2**20), "width": double(1e-12, 1e12), "origin": double(-1, 1), "neighbours": integer(0, 16),
        "min_size": integer(1, 2**62),
    },
    "size-classes": {"classes": integer(1, 2**20)},
    "windows": {"windows": windows, "cap": cap, "between_sd": double(0, 1), "least_weight": double(0, 1e12)},
    "stripes": {"levels": levels},
}  # fmt: skip
CHANNELS = {
    "bits": {"bins": integer(1, 2**20), "yes": threshold, "no": threshold},
    "choice": {"bins": integer(2, 2**20), "yes": threshold, "no": threshold},
    "laplace": {"steps": integer(1, 2**24), "scale": integer(1, 2**45)},
}
QUESTION = {
    "version": integer(1, 1), "study": text(128), "target": text(64), "round": integer(0, 63),
    "alpha": double(1e-6, 32), "statistic": statistic, "lens": one_of(LENSES), "channel": one_of(CHANNELS),
}  # fmt: skip


def question(document):
    """The question of a document, checked, with doubles as doubles and thresholds as integers."""
    q = fields(QUESTION, document)
    channel = q["channel"]
    if "yes" in channel:
        require(channel["no"] < channel["yes"])
    if channel["kind"] == "choice":
        require(channel["yes"] + (channel["bins"] - 1) * channel["no"] == W)
    require(channel.get("bins", 1) == lens_bins(q["lens"]))
    require(honest(channel, differences(q["lens"]), q["alpha"]))
    return q


def lens_bins(lens):
    return {"bins": lens.get("bins"), "size-classes": lens.get("classes")}.get(lens["kind"], 1)


# --- privacy


def differences(lens):
    if lens["kind"] in ("windows", "stripes"):
        return {(0, 0), (0, 1), (1, 0)}
    if lens["kind"] == "size-classes":
        return {(0, 0), (1, 1)} if lens["classes"] > 1 else {(0, 0)}
    reach = lens["neighbours"]
    few = min(lens["bins"], 4 * reach + 2)
    readings = [set(range(max(j - reach, 0), min(j + reach, few - 1) + 1)) for j in range(few)]
    if lens["min_size"] > 1:
        readings.append(set())
    return {(len(one - other), len(other - one)) for one in readings for other in readings}


def honest(channel, pairs, alpha):
    if channel["kind"] == "laplace":
        return all(channel["steps"] * max(pair) <= Fraction(alpha) * channel["scale"] for pair in pairs)
    yes, no = channel["yes"], channel["no"]
    if channel["kind"] == "choice":
        return pairs <= {(0, 0), (1, 1)} and ((1, 1) not in pairs or Fraction(yes, no) <= exp_below(alpha))
    mark, blank = Fraction(yes, no), Fraction(W - no, W - yes)
    return all(mark**gained * blank**lost <= exp_below(alpha) for gained, lost in pairs)


def exp_below(alpha):
    unit, x = 2**256, Fraction(alpha)
    total, term, order = 0, unit, 0
    while term:
        total, order = total + term, order + 1
        term = term * x.numerator // (x.denominator * order)
    return Fraction(total, unit)


# --- identity


def written(q):
    """A question as JSON, doubles and integers told apart."""
    channel = {name: f"{value:016x}" if name in ("yes", "no") else value for name, value in q["channel"].items()}
    return {**q, "channel": channel}


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, str):
        return '"' + "".join(map(escaped, value)) + '"'
    return decimal(value) if isinstance(value, float) else str(value)


def escaped(letter):
    if letter in '"\\':
        return "\\" + letter
    if " " <= letter <= "~":
        return letter
    raw = letter.encode("utf-16-be")
    return "".join(f"\\u{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, len(raw), 2))


def decimal(x):
    """Shortest digits, found by trying; then set as the page says."""
    if x == 0:
        return "0.0"
    shortest = next(one for n in range(17) if float(one := f"{abs(x):.{n}e}") == abs(x))
    mantissa, exponent = shortest.split("e")
    digits, e = mantissa.replace(".", "").rstrip("0") or "0", int(exponent)
    sign = "-" if x < 0 else ""
    if not -4 <= e < 16:
        return f"{sign}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{'-' if e < 0 else '+'}{abs(e):02d}"
    if e < 0:
        return f"{sign}0.{'0' * (-e - 1)}{digits}"
    digits = digits.ljust(e + 1, "0")
    return f"{sign}{digits[: e + 1]}.{digits[e + 1 :] or '0'}"


def identity(q):
    return hashlib.sha256(canonical(written(q)).encode("ascii")).digest()


# --- answers


def answer(q, records, coins):
    """Window, value, encoded report and the steps on the way, from coins in hex, all of which must be used."""
    words = iter([int(coins[i : i + 16], 16) for i in range(0, len(coins), 16)])
    size, _, mean = summarise(q["statistic"], records, words)
    count = window_count(q["lens"])
    window = next(words) >> 64 - count.bit_length() + 1 if count > 1 else 0
    seen = READINGS[q["lens"]["kind"]](q["lens"], size, mean, window)
    value = DRAWS[q["channel"]["kind"]](q["channel"], seen, words)
    assert not list(words), "coins are left over"
    return window, value, encode(q, window, value), {"size": size, "mean": mean, "reading": list(seen)}


def window_count(lens):
    return sum(phases for _, phases, _ in lens["levels"]) if "levels" in lens else len(lens.get("windows", [None]))


def bins_reading(lens, size, mean, _):
    bin_ = clamp(math.floor((mean - lens["origin"]) / lens["width"]), 0, lens["bins"] - 1)
    if size < lens["min_size"]:
        return 1, 0, 1.0
    return max(bin_ - lens["neighbours"], 0), min(bin_ + lens["neighbours"], lens["bins"] - 1), 1.0


def class_reading(lens, size, _, __):
    own = min(size.bit_length(), lens["classes"]) - 1
    return own, own, 1.0


def window_reading(lens, size, mean, window):
    centre, left, right = lens["windows"][window]
    effective = float(size)
    if lens["between_sd"] > 0:
        effective = effective / (1 + effective * (lens["between_sd"] * lens["between_sd"]))
    if lens["cap"] is not None:
        effective = min(effective, lens["cap"])
    z = max(math.sqrt(effective), lens["least_weight"]) * (mean - centre)
    return 0, 0, clamp((z - left) / (right - left), 0.0, 1.0)


def stripe_reading(lens, size, mean, window):
    patterns = [(*level, phase) for level in lens["levels"] for phase in range(level[1])]
    wavelength, phases, min_size, phase = patterns[window]
    offset = (phase + 0.37) * wavelength / phases
    place = (mean - offset) / wavelength
    dark = 1.0 if place - math.floor(place) < 0.5 else 0.0
    return 0, 0, dark if min_size <= size else 0.5


READINGS = {
    "bins": bins_reading, "size-classes": class_reading, "windows": window_reading, "stripes": stripe_reading,
}  # fmt: skip


def draw_bits(channel, seen, words):
    first, last, mark = seen
    marked = channel["no"] + ((channel["yes"] - channel["no"]) * nearest(mark, 2**32) >> 32)
    limits = [marked if first <= j <= last else channel["no"] for j in range(channel["bins"])]
    return sum(2**j for j, limit in enumerate(limits) if next(words) < limit)


def draw_choice(channel, seen, words):
    """The words are dealt out from the left: to each bin as many as its chance."""
    word, bin_ = next(words), 0
    while word >= (chance := channel["yes" if bin_ == seen[0] else "no"]):
        word, bin_ = word - chance, bin_ + 1
    return bin_


def draw_laplace(channel, seen, words):
    first, last, mark = seen
    point = nearest(mark, channel["steps"]) if first <= 0 <= last else 0
    return clamp(point + noise(words, channel["scale"]), *values(channel))


DRAWS = {"bits": draw_bits, "choice": draw_choice, "laplace": draw_laplace}


def below(words: Iterator[int], limit: int) -> int:
    shift = 64 - (limit - 1).bit_length()
    while True:
        if (number := next(words) >> shift) < limit:
            return number


def exp_coin(words, p, q):
    flips = 1
    while below(words, q * flips) < p:
        flips += 1
    return flips % 2 == 1


def noise(words, scale):
    while True:
        fraction = below(words, scale)
        if not exp_coin(words, fraction, scale):
            continue
        wholes = 0
        while exp_coin(words, 1, 1):
            wholes += 1
        size = fraction + scale * wholes
        minus = below(words, 2) == 1
        if not (minus and size == 0):
            return -size if minus else size


# --- reports, tallies and slots


def values(channel):
    if channel["kind"] == "laplace":
        return -45 * channel["scale"], channel["steps"] + 45 * channel["scale"]
    return 0, 2 ** channel["bins"] - 1 if channel["kind"] == "bits" else channel["bins"] - 1


def value_bits(q):
    low, high = values(q["channel"])
    return (high - low).bit_length()


def report_bits(q):
    return value_bits(q) + window_count(q["lens"]).bit_length() - 1


def report_bytes(q):
    return 8 + -(-report_bits(q) // 8)


def encode(q, window, value):
    code = window * 2 ** value_bits(q) + value - values(q["channel"])[0]
    return identity(q)[:8] + code.to_bytes(report_bytes(q) - 8, "little")


def decode(q, encoded):
    require(len(encoded) == report_bytes(q), "length")
    require(encoded[:8] == identity(q)[:8], "question")
    window, offset = divmod(int.from_bytes(encoded[8:], "little"), 2 ** value_bits(q))
    low, high = values(q["channel"])
    require(low + offset <= high and window < window_count(q["lens"]), "range")
    return window, low + offset


def tally(q, reports):
    """The tally document of the reports that are accepted, and how many are not, by reason."""
    windows_, entries, rejected = window_count(q["lens"]), q["channel"].get("bins", 2), {}
    counts, sums = [0] * windows_, [[0] * entries] * windows_
    for encoded in reports:
        try:
            window, value = decode(q, encoded)
        except Refused as refusal:
            rejected[str(refusal)] = rejected.get(str(refusal), 0) + 1
            continue
        counts[window] += 1
        sums[window] = [a + b for a, b in zip(sums[window], added(q["channel"], value), strict=True)]
    return {"question": written(q), "reports": counts, "sums": sums}, rejected


def added(channel, value):
    if channel["kind"] == "laplace":
        return [value, value * value]
    if channel["kind"] == "choice":
        return [1 if j == value else 0 for j in range(channel["bins"])]
    return [value >> j & 1 for j in range(channel["bins"])]


def slot_of(study, shares, participant):
    try:
        name = f"{study}\n{participant}".encode()
    except UnicodeEncodeError:
        raise Refused("InvalidInput") from None
    number = int.from_bytes(hashlib.sha256(name).digest()[:8], "big")
    exact = [Fraction(share) for share in shares]
    borders = [math.floor(W * sum(exact[: i + 1]) / sum(exact)) for i in range(len(exact) - 1)]
    return number, borders, sum(border <= number for border in borders)
