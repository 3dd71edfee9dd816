"""DAME measured against its peers: one table (markdown and csv) and one figure.

    python -m benchmarks                     everything, in some minutes; results in ./out/benchmarks
    python -m benchmarks --quick             that it works, in less than two minutes; not a result
    python -m benchmarks accuracy --data F   one part, with the real tables NAME.parquet + NAME.json of a folder

Install the peers with  pip install -e '.[bench]'. Those that are missing are named in the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.peers import accuracy, footprint, speed
from benchmarks.peers.page import draw, into_page, markdown
from benchmarks.peers.rows import Row, to_csv

PARTS = ("accuracy", "speed", "footprint")
DATA = "DAME_BENCHMARK_DATA"


def main(arguments: list[str] | None = None) -> int:
    """Measures, and writes the files."""
    options = parse(arguments)
    started = time.perf_counter()
    rows = list(measure(options, lambda words: print(words, file=sys.stderr, flush=True)))
    options.out.mkdir(parents=True, exist_ok=True)
    facts = f"{time.perf_counter() - started:.0f} s; load of the machine at the end {speed.load()}"
    text = markdown(rows, facts)
    (options.out / "results.csv").write_text(to_csv(rows), "utf-8")
    (options.out / "results.md").write_text(text, "utf-8")
    picture = draw(rows)
    for suffix, content in picture.items():
        (options.out / f"results{suffix}").write_bytes(content)
    if options.page:
        into_page(options.page, text, to_csv(rows), picture)
    print(text)
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all when absent")
    parser.add_argument("--quick", action="store_true", help="small numbers of everything")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="folder of the results")
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of real tables (or ${DATA})")
    parser.add_argument("--records", type=speed.parse_records, help="records of the table that is piloted (1e7)")
    parser.add_argument("--page", type=Path, help="put table and figure into this document, between its markers")
    options = parser.parse_args(arguments)
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"part must be one of {', '.join(PARTS)}, not {part}")
    if options.data is not None and not Path(options.data).is_dir():
        parser.error(f"data must be a folder of tables, not {options.data}")
    return options


def measure(options: argparse.Namespace, say: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the parts that are wanted."""
    parts = options.parts or PARTS
    data = Path(options.data) if options.data else None
    quick = options.quick
    pace = speed.QUICK if quick else speed.Effort()
    if options.records:
        pace = replace(pace, records=options.records)
    if "accuracy" in parts:
        yield from accuracy.measure(accuracy.QUICK if quick else accuracy.Effort(), data, say)
    if "speed" in parts:
        yield from speed.measure(pace, say)
    if "footprint" in parts:
        say("footprint")
        yield from footprint.measure(1 if quick else 5)


if __name__ == "__main__":
    sys.exit(main())
