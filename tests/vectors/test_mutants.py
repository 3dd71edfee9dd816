"""The vectors notice a broken device: each of these mutants of the device from the page fails some operation."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

import pytest

from tests.vectors import reference_device, reference_statistics
from tests.vectors.test_vectors import DEVICE_OPERATIONS, FILES, play_by_the_reference

MUTANTS = [
    # statistic
    ("scale + 0.5) - 2**30", "scale) - 2**30"),
    ("step / 2**30 + 0.5", "step / 2**30"),
    ("step = float(value_step(asked, value))", "step = value_step(asked, value) + 1.0"),
    ("return 2 * math.floor(step", "return math.floor(step"),
    ("for value in found] or [0]", "for value in found] or [-(2**30)]"),
    ("if found else -(2**30)", "if found else 0"),
    ("steps = [2**30 if found", "steps = [2**30] * len(found) or [0 if found"),
    ("if by_name and value is None:", "if value is None:"),
    ("record.get(name) if by_name else record", "record.get(name, 0) if by_name else record"),
    ("by_name = name and isinstance", "by_name = isinstance"),
    ('holds = value == asked["than"]', 'holds = value.strip() == asked["than"].strip()'),
    ('holds = value == asked["than"]', 'holds = number_of(value) == number and number is not None'),
    ('holds = value == asked["than"]', 'holds = value.lower() == asked["than"].lower()'),
    ('"above": 1, "below": -1', '"above": -1, "below": 1'),
    ("(value > number) - (value < number)", "(value >= number) - (value < number)"),
    ("if texts and isinstance(value, str)", "if isinstance(value, str)"),
    ('r"[+-]?([0-9]+', 'r"\\s*[+-]?([0-9]+'),
    ("and math.isfinite(float(words)) else", "else"),
    ('return "" if value == "" else text(128)(value)', "return text(128)(value)"),
    ('return "" if value == "" else text(128)(value)', "return text(999)(value)"),
    ('value in ("above", "below", "is")', "isinstance(value, str)"),
    ("float(total) / float(size) / 2**30", "float(total) / (float(size) * 2**30 + 1)"),
    ("[sorted(steps)[word * len(steps) >> 64]]", "[steps[word * len(steps) >> 64]]"),
    ("[sorted(steps)[word * len(steps) >> 64]]", "[sorted(steps)[word % len(steps)]]"),
    ("word * len(steps) >> 64", "(word >> 32) * len(steps) >> 32"),
    ('next(words) if asked["kind"] == "drawn" else None', '0 if asked["kind"] == "drawn" else None'),
    # window
    ("64 - count.bit_length() + 1", "64 - count.bit_length()"),
    ("next(words) >> 64 - count.bit_length() + 1 if count > 1 else 0", "next(words) % count if count > 1 else 0"),
    # lenses
    ('(mean - lens["origin"]) / lens["width"]', '(mean + 1) / lens["width"]'),
    ('size < lens["min_size"]', 'size <= lens["min_size"]'),
    ('min(bin_ + lens["neighbours"], lens["bins"] - 1)', 'min(bin_ + lens["neighbours"] + 1, lens["bins"] - 1)'),
    ('min(size.bit_length(), lens["classes"]) - 1', 'min(size.bit_length() - 1, lens["classes"] - 2)'),
    ('lens["windows"][window]', 'lens["windows"][0]'),
    ('max(math.sqrt(effective), lens["least_weight"])', "math.sqrt(effective)"),
    ('effective = min(effective, lens["cap"])', "effective = min(effective, 1.0)"),
    ('(lens["between_sd"] * lens["between_sd"])', 'lens["between_sd"]'),
    ("= patterns[window]", "= patterns[0]"),
    ("(phase + 0.37)", "(phase + 0.5)"),
    ("wavelength / phases", "wavelength"),
    ("sum(phases for _, phases, _ in read) in POWERS", "True"),
    ("place - math.floor(place) < 0.5", "place - math.floor(place) <= 0.5"),
    ("place - math.floor(place) < 0.5", "place - int(place) < 0.5"),
    ("place - math.floor(place) < 0.5", "math.sin(2 * math.pi * place) > 0"),
    ("dark if min_size <= size", "dark if min_size < size"),
    ("dark if min_size <= size else 0.5", "dark if min_size <= size else 0.0"),
    # channels
    ("if next(words) < limit", "if next(words) <= limit"),
    ("nearest(mark, 2**32) >> 32)", "nearest(mark, 2**31) >> 31)"),
    ("if first <= j <= last else", "if first <= j < last else"),
    ("while word >= (chance :=", "while word > (chance :="),
    ('"yes" if bin_ == seen[0] else "no"', '"yes" if bin_ == 0 else "no"'),
    ('nearest(mark, channel["steps"]) if first <= 0 <= last else 0', 'nearest(mark, channel["steps"])'),
    ("if not (minus and size == 0)", "if True"),
    ("flips % 2 == 1", "flips % 2 == 0"),
    ("return -45 * channel", "return -46 * channel"),
    ('channel["steps"] + 45 * channel["scale"]', 'channel["steps"] + 50 * channel["scale"]'),
    # reports and tallies
    ('to_bytes(report_bytes(q) - 8, "little")', 'to_bytes(report_bytes(q) - 8, "big")'),
    ('low + offset <= high and window < window_count(q["lens"])', "low + offset <= high"),
    ('low + offset <= high and window < window_count(q["lens"])', 'window < window_count(q["lens"])'),
    ("[value, value * value]", "[value, abs(value)]"),
    ("counts[window] += 1", "counts[0] += 1"),
    # identity
    ("for key in sorted(value)", "for key in value"),
    ("return float(value) + 0.0", "return value"),
    ("if not -4 <= e < 16", "if not -7 <= e < 21"),
    ("{abs(e):02d}", "{abs(e)}"),
    # privacy
    ('if lens["min_size"] > 1', "if False"),
    ("4 * reach + 2", "reach + 2"),
    ("pairs <= {(0, 0), (1, 1)} and", ""),
    ("mark**gained * blank**lost", "mark**gained"),
    ("mark**gained * blank**lost", "blank**lost"),
    ('channel["yes"] + (channel["bins"] - 1) * channel["no"] == W', "True"),
    ('channel["steps"] * max(pair) <= Fraction(alpha)', 'channel["steps"] * max(pair) <= 1.01 * Fraction(alpha)'),
    ('channel.get("bins", 1) == lens_bins(q["lens"])', "True"),
    # slots
    ("sum(border <= number", "sum(border < number"),
    ("Fraction(share) for share", "share for share"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad"), MUTANTS)
def test_the_vectors_notice_a_mutant(monkeypatch, good, bad):
    sources = {module.__name__: inspect.getsource(module) for module in (reference_statistics, reference_device)}
    assert sum(good in source for source in sources.values()) == 1
    for name, source in sources.items():  # the device last: it takes its statistics from the other
        mutant = ModuleType(name)
        exec(compile(source.replace(good, bad), "mutant", "exec"), mutant.__dict__)
        monkeypatch.setitem(sys.modules, name, mutant)
    monkeypatch.setattr("tests.vectors.test_vectors.reference", mutant)
    assert not all(agrees(mutant, file, operation) for file, operation in device_operations())


def device_operations():
    for file in FILES.values():
        yield from ((file, operation) for operation in file["operations"] if operation["op"] in DEVICE_OPERATIONS)


def agrees(mutant: ModuleType, file: dict, operation: dict) -> bool:
    expected = operation["expect"]
    try:
        return play_by_the_reference(file, operation)[0] == expected
    except mutant.Refused as refusal:
        error = expected.get("error", {})
        return str(refusal) == error.get("reason", error.get("kind"))
    except Exception:  # a crash is noticed too
        return False


def test_the_device_from_the_page_itself_passes():
    assert all(agrees(reference_device, file, operation) for file, operation in device_operations())
