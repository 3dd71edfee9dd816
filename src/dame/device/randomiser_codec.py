"""The randomisers of questions as JSON objects, and back: thresholds as 16 hexadecimal digits."""

from __future__ import annotations

from dame import checks
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.errors import InvalidInput


def code_json(code: UnaryCode) -> dict[str, object]:
    """A unary code as a JSON object."""
    return {"yes": _hex(code.yes), "no": _hex(code.no)}


def noise_json(noise: OneBit | DiscreteLaplace) -> dict[str, object]:
    """The noise of a measurement as a JSON object."""
    if isinstance(noise, OneBit):
        return {"kind": "one-bit", "low": _hex(noise.low), "high": _hex(noise.high)}
    return {"kind": "laplace", "steps": noise.steps, "scale": noise.scale}


def noise_from_json(document: object) -> OneBit | DiscreteLaplace:
    """The noise that a JSON object describes."""
    kind = document.get("kind") if isinstance(document, dict) else document
    if kind == "one-bit":
        fields = checks.keys("noise", document, frozenset({"kind", "low", "high"}), frozenset())
        return OneBit(low=_unhex(fields["low"]), high=_unhex(fields["high"]))
    if kind == "laplace":
        fields = checks.keys("noise", document, frozenset({"kind", "steps", "scale"}), frozenset())
        return DiscreteLaplace(steps=fields["steps"], scale=fields["scale"])  # type: ignore[arg-type]
    raise InvalidInput("noise kind", kind, "'one-bit' or 'laplace'")


def code_from_json(document: object) -> UnaryCode:
    """The unary code that a JSON object describes."""
    return UnaryCode(**_thresholds(document))


def choice_from_json(document: object) -> OneOfMany:
    """The choice of one mark that a JSON object describes."""
    return OneOfMany(**_thresholds(document))


def _thresholds(document: object) -> dict[str, int]:
    fields = checks.keys("code", document, frozenset({"yes", "no"}), frozenset())
    return {name: _unhex(threshold) for name, threshold in fields.items()}


def _hex(threshold: int) -> str:
    return f"{threshold:016x}"


def _unhex(value: object) -> int:
    if not isinstance(value, str) or len(value) != 16 or not set(value) <= set("0123456789abcdef"):
        raise InvalidInput("threshold", value, "16 hexadecimal digits")
    return int(value, 16)
