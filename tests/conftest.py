"""What every test shares: repeatable Hypothesis examples, and long statistics only when they are asked for."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("default", derandomize=True, max_examples=60, **COMMON)
settings.register_profile("explore", derandomize=False, max_examples=1000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests run only with  pytest -m slow  (or any other -m that names them)."""
    if "slow" in (config.getoption("markexpr") or ""):
        return
    slow = [item for item in items if "slow" in item.keywords]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if "slow" not in item.keywords]
