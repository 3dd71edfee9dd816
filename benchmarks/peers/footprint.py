"""Footprint: what must be installed, how long an import takes, how many bytes a report has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from benchmarks.coins import seconds
from benchmarks.peers.installed import MISSING, PEERS, is_installed
from benchmarks.peers.rows import Row
from benchmarks.peers.speed import run_python, vote
from dame import Sizes, first, plan
from dame.device.reports import report_bytes

OURS = "dame-ldp"
EXTRAS = ("", "cli", "engine", "plots", "service", "spark")
IMPORTS = {
    "dame.device": "import dame.device",
    "dame": "import dame",
    "dame, with a plan's modules": "import dame; dame.plan",
    "diffprivlib": "import diffprivlib.mechanisms",
    "opendp": "import opendp.prelude",
    "pure-ldp": "import pure_ldp.frequency_oracles.unary_encoding",
    "multi-freq-ldpy": "import multi_freq_ldpy.pure_frequency_oracles.UE",
    "python-dp": "import pydp",
}


def measure(turns: int) -> Iterator[Row]:
    """All rows of this part."""
    yield from sizes()
    yield from import_times(turns)
    yield from report_sizes()


def sizes() -> Iterator[Row]:
    """Megabytes of a package and all that it needs, Python itself not counted."""
    alone = megabytes(OURS, "")
    for extra in EXTRAS:
        name = f"**{OURS}**" if not extra else f"{OURS}[{extra}]"
        yield size_row(name, megabytes(OURS, extra), alone, "not installed")
    for package in PEERS:
        yield size_row(package, megabytes(package, "") if is_installed(package) else None, alone, MISSING)


def size_row(name: str, value: float | None, alone: float | None, note: str) -> Row:
    """A row of megabytes."""
    ratio = value / alone if value and alone else None
    return Row(
        part="footprint",
        setting="installed, with what it needs",
        contestant=name,
        value=value,
        unit="MB",
        ratio=ratio,
        note="" if value else note,
    )


def megabytes(package: str, extra: str) -> float | None:
    """The size of all files of a package and of what it needs; None if some of that is not installed."""
    found: set[str] = set()
    try:
        _collect(package, extra, found)
        return sum(_files_size(name) for name in found) / 1e6
    except metadata.PackageNotFoundError:
        return None


def _collect(package: str, extra: str, found: set[str]) -> None:
    from packaging.requirements import Requirement

    name = re.sub(r"[-_.]+", "-", package).lower()
    if name in found and not extra:
        return
    found.add(name)
    for words in metadata.requires(package) or ():
        need = Requirement(words)
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            for wanted in need.extras or {""}:
                _collect(need.name, wanted, found)


def _files_size(package: str) -> int:
    if package == OURS:  # an editable install lists no files of its own
        import dame

        files = list(Path(dame.__file__).parent.rglob("*"))
    else:
        files = [Path(str(file.locate())) for file in metadata.distribution(package).files or ()]
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc" and path.is_file())


def import_times(turns: int) -> Iterator[Row]:
    """Milliseconds of a fresh interpreter that imports something, less those of one that imports nothing."""
    bare = min(_process("pass") for _ in range(turns + 1))
    times = {
        name: min(_process(code) for _ in range(turns)) - bare
        for name, code in IMPORTS.items()
        if name not in PEERS or is_installed(name)
    }
    for name in IMPORTS:
        known = name in times
        yield Row(
            part="footprint",
            setting="import time",
            contestant=f"**{name}**" if name == "dame.device" else name,
            value=1000 * max(times[name], 0.0) if known else None,
            unit="ms",
            ratio=times[name] / times["dame.device"] if known and times["dame.device"] > 0 else None,
            note="" if known else MISSING,
        )


def _process(code: str) -> float:
    return seconds(lambda: run_python("-c", code))


def report_sizes() -> Iterator[Row]:
    """Bytes that leave a device; eight of them name the question."""
    sizes_ = Sizes.parse("poisson:5")
    noisy = first(plan(users=1000, alpha=1.0, sizes=sizes_, protocol="duchi"))
    bit = first(plan(users=1000, alpha=1.0, sizes=sizes_, protocol="one-bit"))
    arrays = "64-bin vote, as arrays of pure-ldp and multi-freq-ldpy"
    asked = {"one bit": bit, "64-bin vote": vote(), "noisy number": noisy}
    for name, count in {**{name: report_bytes(question) for name, question in asked.items()}, arrays: 64 * 8}.items():
        yield Row(part="footprint", setting="bytes of a report", contestant=name, value=float(count), unit="bytes")
