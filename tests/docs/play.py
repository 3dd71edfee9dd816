"""Runs the blocks of one document, one after the other, in the folder that it is started in.

    python -m tests.docs.play DOCUMENT [--long]

Python blocks share their names; shell blocks stop at the first command that fails.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.docs.blocks import RUN, Block, blocks_of


def play(document: Path, long: bool) -> None:
    scope: dict[str, object] = {"__name__": "document"}
    for block in blocks_of(document.read_text("utf-8")):
        code = block.code if long and block.rule == "long" else block.quick
        if block.language not in RUN or code is None:
            continue
        started = time.perf_counter()
        run_block(document, block, code, scope)
        print(f"[{document.name}:{block.line} took {time.perf_counter() - started:.1f} s]", flush=True)


def run_block(document: Path, block: Block, code: str, scope: dict[str, object]) -> None:
    print(f"[{document.name}:{block.line}]\n{code}", flush=True)
    if block.language == "python" and block.rule != "tested as":
        exec(compile(code, f"{document.name}:{block.line}", "exec"), scope)
    else:
        subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)


if __name__ == "__main__":
    play(Path(sys.argv[1]), "--long" in sys.argv)
