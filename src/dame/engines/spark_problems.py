"""What Spark and its workers complain about, in one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from dame.errors import ClusterProblem, DameError, InvalidInput, MissingExtra

_MISSING = re.compile(r"No module named '[^']+'|\[PACKAGE_NOT_INSTALLED\][^\n]*")
_OTHER_PYTHON = re.compile(r"\[PYTHON_VERSION_MISMATCH\] ([^\n]*)")
_UNREADABLE = ("FAILED_READ_FILE", "CANNOT_MERGE_SCHEMAS")
"""Conditions under which a file is not what it should be, beyond those that are found before a job starts."""

_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*: ")


def spark_problems() -> tuple[type[Exception], ...]:
    """What Spark raises; clients of Spark Connect may come without py4j."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return (PySparkException,)
    return PySparkException, Py4JError


@contextmanager
def sentences(field: str, value: object) -> Iterator[None]:
    """Turns what Spark complains about into one sentence; what goes wrong in our code on a worker stays as it is."""
    try:
        yield
    except spark_problems() as problem:
        sentence = _sentence(problem, field, value)
        if sentence is None:
            raise
        raise sentence from None


@contextmanager
def starting(master: str | None) -> Iterator[None]:
    """Turns what goes wrong when a session starts into one sentence."""
    try:
        yield
    except ImportError as problem:  # the packages of Spark Connect
        raise MissingExtra(f"Spark ({_line(problem)})", "spark") from None
    except spark_problems() as problem:
        if master is None:
            raise ClusterProblem(f"Spark does not start: {_line(problem)}") from None
        raise InvalidInput("master", master, f"one on which Spark starts ({_line(problem)})") from None


def is_unreadable(problem: Exception) -> bool:
    """Whether Spark complains about what it was given to read, and not about the cluster."""
    from pyspark.errors import AnalysisException

    return isinstance(problem, AnalysisException) or any(condition in _text(problem) for condition in _UNREADABLE)


def _sentence(problem: Exception, field: str, value: object) -> DameError | None:
    from pyspark.errors import PythonException

    text = _text(problem)
    if is_unreadable(problem):
        return InvalidInput(field, value, f"something that Spark reads ({_line(problem)})")
    if isinstance(problem, ImportError):
        return MissingExtra(f"Spark ({_line(problem)})", "spark")
    if found := _MISSING.search(text):
        return MissingExtra(f"The Python of a worker ({found[0]})", "engine")
    if found := _OTHER_PYTHON.search(text):
        return ClusterProblem(f"workers must run the same version of Python: {found[1]}")
    if isinstance(problem, PythonException):
        return None
    return ClusterProblem(f"Spark gave up: {_line(problem)}")


def _text(problem: Exception) -> str:
    """Everything that is said, with the words of Java where there are some."""
    return str(getattr(problem, "java_exception", problem)).strip()


def _line(problem: Exception) -> str:
    """The first line of it, without the name of the class."""
    lines = _text(problem).splitlines() or [type(problem).__name__]
    return _JAVA_CLASS.sub("", lines[0])
