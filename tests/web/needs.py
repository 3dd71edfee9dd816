"""What these tests need beyond Python: Node and Chromium, as scripts/browsers installs them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "dame" / "web"
DEVICE = WEB / "device"


def program(*names: str) -> str:
    """The path of the first of these programs that is there."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    assert found is not None, f"{names[0]} is missing: scripts/browsers installs it"
    return found


def node(script: str, *arguments: str | Path, stdin: Any) -> Any:
    """What a script of this folder prints, as JSON."""
    command = [program("node", "nodejs"), str(Path(__file__).parent / script), *map(str, arguments)]
    done = subprocess.run(command, input=json.dumps(stdin), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
