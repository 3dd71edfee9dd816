"""What an experiment is: tasks that make rows, a drawing of the rows, and a section of the report about them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from dame.experiments.tidy import Row, TidyTable


class Task(ABC):
    """A piece of work for one process: its fields say all that it does, and it travels to any worker."""

    __slots__ = ()

    @property
    def stream(self) -> int:
        """Which stream of random numbers the task draws from; tasks that are compared share one."""
        return 0

    @abstractmethod
    def rows(self, seed: int) -> list[Row]:
        """The rows that this task adds to the table; the same for the same seed, wherever it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A figure or a table: everything that it shows and says is read from the table that its tasks make."""

    name: str
    title: str
    tasks: Callable[[bool], Sequence[Task]]
    """The tasks; fewer and smaller ones when asked to be quick."""
    draw: Callable[[TidyTable], Figure]
    section: Callable[[TidyTable], str]
    """Markdown: what the run shows, what agrees with the paper and what does not."""


def stream_seed(seed: int, name: str, stream: int) -> int:
    """The seed of one stream of an experiment, whatever else runs before or beside it."""
    digest = hashlib.sha256(f"{seed}/{name}/{stream}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
