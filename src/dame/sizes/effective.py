"""Effective sizes: what many records of one user are worth where users differ."""

from __future__ import annotations

from typing import Any


def effective(size: Any, between_sd: float) -> Any:
    """1 / (1/size + b²), for a number or an array: so many records of different users tell as much as these of one."""
    # The order of the operations is that of the device, so that both come to the same double.
    return size / (1.0 + size * (between_sd * between_sd))
