"""Modules that are loaded when they are first used: half of a command's start would go into parts of SciPy that most
commands need late or never."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

SLOW = ("scipy.special", "scipy.optimize")


class _Later(ModuleType):
    """Stands in for a module until somebody asks for something in it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # What the import system looks at; with a spec of its own, an import alone loads nothing.
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, attribute: str) -> object:
        name = self.__name__
        if sys.modules.get(name) is self:
            del sys.modules[name]
        value = getattr(import_module(name), attribute)
        setattr(self, attribute, value)  # the next time it is at hand
        return value


def postpone() -> None:
    """From now on slow modules are loaded at their first use, unless they are there already."""
    for name in SLOW:
        sys.modules.setdefault(name, _Later(name))
