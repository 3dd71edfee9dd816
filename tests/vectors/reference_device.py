"""A second device, written from docs/vectors.md alone: it imports nothing of this package."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

W = 2**64
SHARED = {"kind", "version", "study", "round", "alpha", "low", "high"}
VOTE = SHARED | {"bins", "width", "origin", "neighbours", "min_size", "code"}
SIZE_VOTE = SHARED | {"bins", "code"}
PLACE_VOTE = SHARED | {"places", "code"}
MEASURE = SHARED | {"centre", "left", "right", "cap", "between_sd", "least_weight", "dither", "noise"}
PART_MEASURE = SHARED | {"borders", "noise"}
INTEGERS = {
    "round": (0, 63), "bins": (1, 2**20), "neighbours": (0, 16), "min_size": (1, 2**62), "steps": (1, 2**24),
    "scale": (1, 2**45),
}  # fmt: skip
DOUBLES = {
    "alpha": (1e-6, 32), "low": (-1e100, 1e100), "high": (-1e100, 1e100), "width": (1e-12, 1e12), "origin": (-1, 1),
    "centre": (-1, 1), "left": (-1e12, 1e12), "right": (-1e12, 1e12), "cap": (1e-12, 2.0**62), "between_sd": (0, 1),
    "least_weight": (0, 1e12), "dither": (0, 2),
}  # fmt: skip


class Refused(Exception):
    """An input that must be refused, with the kind of error."""


def clamp(x, a, b):
    return min(max(x, a), b)


# --- questions


def question(document):
    """The question of a document, checked, with doubles as doubles."""
    kinds = {
        "vote": VOTE, "size-vote": SIZE_VOTE, "place-vote": PLACE_VOTE, "measure": MEASURE,
        "part-measure": PART_MEASURE,
    }  # fmt: skip
    require(isinstance(document, dict) and isinstance(document.get("kind"), str) and document["kind"] in kinds)
    require(document.keys() == kinds[document["kind"]])
    require(type(document["version"]) is int and document["version"] == 1)
    q = dict(document)
    study = q["study"]
    require(isinstance(study, str) and 1 <= len(study) <= 128 and all(printable(letter) for letter in study))
    for name in q.keys() & INTEGERS.keys():
        q[name] = integer(q[name], *INTEGERS[name])
    for name in q.keys() & DOUBLES.keys():
        q[name] = None if name == "cap" and q[name] is None else double(q[name], *DOUBLES[name])
    require(q["low"] < q["high"] and q["high"] - q["low"] >= 1e-100)
    if "code" in q:
        q["code"] = thresholds(q["code"], {"yes", "no"})
        require(q["code"]["no"] < q["code"]["yes"])
        if q["kind"] == "place-vote":
            q["places"] = rising(q["places"], range(2, 9))
            require(q["code"]["yes"] + (len(q["places"]) - 1) * q["code"]["no"] == W)
        require(vote_loss(q) <= exp_below(q["alpha"]))
        return q
    q["noise"] = noise_of(q["noise"])
    if q["kind"] == "part-measure":
        q["borders"] = rising(q["borders"], (3, 5, 9))
        require(q["noise"]["kind"] == "one-bit")
    else:
        require(q["right"] - q["left"] >= 1e-12)
        require(not q["dither"] or q["noise"]["kind"] == "one-bit")
    require(honest(q["noise"], q["alpha"]))
    return q


def require(condition, kind="InvalidInput"):
    if not condition:
        raise Refused(kind)


def printable(letter):
    return letter == " " or unicodedata.category(letter)[0] not in "CZ"


def integer(value, low, high):
    require(type(value) is int and low <= value <= high)
    return value


def double(value, low, high):
    require(type(value) in (int, float) and low <= value <= high)
    return float(value) + 0.0


def thresholds(document, names):
    require(isinstance(document, dict) and document.keys() == names)
    require(all(isinstance(text, str) and re.fullmatch("[0-9a-f]{16}", text) for text in document.values()))
    values = {name: int(text, 16) for name, text in document.items()}
    require(all(value >= 1 for value in values.values()))
    return values


def noise_of(document):
    require(isinstance(document, dict) and document.get("kind") in ("one-bit", "laplace"))
    rest = {name: value for name, value in document.items() if name != "kind"}
    if document["kind"] == "one-bit":
        values = thresholds(rest, {"low", "high"})
        require(values["low"] < values["high"])
        return {"kind": "one-bit", **values}
    require(rest.keys() == {"steps", "scale"})
    return {"kind": "laplace", **{name: integer(value, *INTEGERS[name]) for name, value in rest.items()}}


def rising(values, counts):
    require(isinstance(values, list) and len(values) in counts)
    places = [double(value, -1, 1) for value in values]
    require(all(places[i + 1] - places[i] >= 1e-12 for i in range(len(places) - 1)))
    return places


def exp_below(alpha):
    unit, x = 2**256, Fraction(alpha)
    total, term, order = 0, unit, 0
    while term:
        total, order = total + term, order + 1
        term = term * x.numerator // (x.denominator * order)
    return Fraction(total, unit)


def honest(noise, alpha):
    if noise["kind"] == "laplace":
        return noise["steps"] <= Fraction(alpha) * noise["scale"]
    low, high = noise["low"], noise["high"]
    return max(Fraction(high, low), Fraction(W - low, W - high)) <= exp_below(alpha)


def vote_loss(q):
    if q["kind"] == "place-vote":
        return Fraction(q["code"]["yes"], q["code"]["no"])
    reach = q.get("neighbours", 0)
    few = min(q["bins"], 4 * reach + 2)
    votes = [set(range(max(j - reach, 0), min(j + reach, few - 1) + 1)) for j in range(few)] + [set()]
    yes, no = q["code"]["yes"], q["code"]["no"]
    mark, blank = Fraction(yes, no), Fraction(W - no, W - yes)
    return max(mark ** len(one - other) * blank ** len(other - one) for one in votes for other in votes)


def written(q):
    """A question as JSON, doubles and integers told apart."""
    hexed = {"code": ("yes", "no"), "noise": ("low", "high")}
    out = dict(q)
    for part, names in hexed.items():
        if part in out:
            out[part] = {k: f"{v:016x}" if k in names else v for k, v in out[part].items()}
    return out


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
    text = next(one for n in range(17) if float(one := f"{abs(x):.{n}e}") == abs(x))
    mantissa, exponent = text.split("e")
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


def value_bits(q):
    if "code" in q:
        return len(q["places"]) if q["kind"] == "place-vote" else q["bins"]
    if q["kind"] == "part-measure":
        return {3: 2, 5: 3, 9: 4}[len(q["borders"])]
    if q["noise"]["kind"] == "one-bit":
        return 2 if q["dither"] else 1
    return (q["noise"]["steps"] + 45 * q["noise"]["scale"]).bit_length() + 1


def report_bytes(q):
    return 8 + (value_bits(q) + 7) // 8


# --- answers


def summarise(records, low, high):
    require(isinstance(records, list) and records, "BadRecords")
    total = 0
    scale = 2147483648 / (high - low)
    for record in records:
        require(type(record) in (int, float) and math.isfinite(record), "BadRecords")
        total += math.floor((clamp(float(record), low, high) - low) * scale + 0.5) - 2**30
    size = len(records)
    return size, total, clamp(float(total) / float(size) / 2**30, -1.0, 1.0)


def answer(q, records, coins):
    """The encoded report, from coins as hexadecimal words, all of which must be used."""
    words = iter([int(coins[i : i + 16], 16) for i in range(0, len(coins), 16)])
    size, _, mean = summarise(records, q["low"], q["high"])
    if q["kind"] == "size-vote":
        own = min(size.bit_length(), q["bins"]) - 1
        value = sum(1 << j for j in range(q["bins"]) if next(words) < q["code"]["yes" if j == own else "no"])
    elif q["kind"] == "place-vote":
        value = place_value(q, mean, next(words))
    elif q["kind"] == "vote":
        value = vote_value(q, size, mean, words)
    elif q["kind"] == "part-measure":
        value = part_value(q, mean, words)
    elif q["noise"]["kind"] == "one-bit":
        value = bit_value(q, size, mean, words)
    else:
        n = q["noise"]
        point = nearest(position(q, size, mean, q["centre"]), n["steps"])
        value = clamp(point + laplace(words, n["scale"]), -45 * n["scale"], n["steps"] + 45 * n["scale"])
    assert not list(words), "coins are left over"
    return value, encode(q, value)


def vote_value(q, size, mean, words):
    bin_ = clamp(math.floor((mean - q["origin"]) / q["width"]), 0, q["bins"] - 1)
    marked = range(max(bin_ - q["neighbours"], 0), min(bin_ + q["neighbours"], q["bins"] - 1) + 1)
    marked = marked if size >= q["min_size"] else ()
    return sum(1 << j for j in range(q["bins"]) if next(words) < q["code"]["yes" if j in marked else "no"])


def place_value(q, mean, word):
    """The words are dealt out from the left: to each place `no` of them, and the rest to the two around the mean."""
    places, no, extra = q["places"], q["code"]["no"], q["code"]["yes"] - q["code"]["no"]
    first = 0
    while first < len(places) - 2 and places[first + 1] <= mean:
        first += 1
    way = clamp((mean - places[first]) / (places[first + 1] - places[first]), 0.0, 1.0)
    moved = extra * nearest(way, 2**32) // 2**32
    shares = [no] * len(places)
    shares[first] += extra - moved
    shares[first + 1] += moved
    place = 0
    while word >= shares[place]:
        word -= shares[place]
        place += 1
    return 1 << place


def position(q, size, mean, centre):
    effective = float(size)
    if q["between_sd"] > 0:
        effective = effective / (1 + effective * (q["between_sd"] * q["between_sd"]))
    if q["cap"] is not None:
        effective = min(effective, q["cap"])
    weight = max(math.sqrt(effective), q["least_weight"])
    z = weight * (mean - centre)
    return clamp((z - q["left"]) / (q["right"] - q["left"]), 0.0, 1.0)


def nearest(place, steps):
    return math.floor(place * steps + 0.5)


def bit_value(q, size, mean, words):
    arm, centre = 0, q["centre"]
    if q["dither"]:
        arm = next(words) >> 63
        centre = centre + q["dither"] if arm else centre - q["dither"]
    return 2 * arm + noisy_bit(q["noise"], position(q, size, mean, centre), next(words))


def part_value(q, mean, words):
    part = next(words) * (len(q["borders"]) - 1) >> 64
    left, right = q["borders"][part], q["borders"][part + 1]
    return 2 * part + noisy_bit(q["noise"], clamp((mean - left) / (right - left), 0.0, 1.0), next(words))


def noisy_bit(noise, place, word):
    low, high = noise["low"], noise["high"]
    return word < low + ((high - low) * nearest(place, 2**32) >> 32)


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


def laplace(words, scale):
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


# --- reports and rounds


def is_signed(q):
    return q["kind"] == "measure" and q["noise"]["kind"] == "laplace"


def encode(q, value):
    order = "big" if is_signed(q) else "little"
    return identity(q)[:8] + value.to_bytes(report_bytes(q) - 8, order, signed=is_signed(q))


def decode(q, encoded):
    if len(encoded) != report_bytes(q):
        raise Refused("length")
    if encoded[:8] != identity(q)[:8]:
        raise Refused("question")
    value = int.from_bytes(encoded[8:], "big" if is_signed(q) else "little", signed=is_signed(q))
    low, high = 0, 2 ** value_bits(q) - 1
    if is_signed(q):
        low, high = -45 * q["noise"]["scale"], q["noise"]["steps"] + 45 * q["noise"]["scale"]
    if not low <= value <= high:
        raise Refused("range")
    if q["kind"] == "place-vote" and bin(value).count("1") != 1:
        raise Refused("range")
    return value


def round_of(study, shares, participant):
    number = int.from_bytes(hashlib.sha256(f"{study}\n{participant}".encode()).digest()[:8], "big")
    exact = [Fraction(share) for share in shares]
    borders = [math.floor(W * sum(exact[: i + 1]) / sum(exact)) for i in range(len(exact) - 1)]
    return number, borders, sum(border <= number for border in borders)
