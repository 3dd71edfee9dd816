"""The blocks of code in a document, in their order, with what their author says about running them.

A block is fenced (```sh, ```python) or, for commands, indented by four spaces. A comment before it may say

    <!-- not run: reason -->          it is never run
    <!-- long: reason -->             it is run with the slow tests only
    <!-- tested as: command -->       a quicker command is run in its place
    <!-- quote: file name -->         it is compared with the source instead
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCED = r"^```(?P<language>\w+)[^\n]*\n(?P<fenced>.*?)^```$"
COMMAND = r"(?:dame|python3?|pip|make|examples/\S+|scripts/\S+|docker|curl)\b"
INDENTED = rf"(?:^\n|\A|(?<=-->\n))(?P<indented>(?:    {COMMAND}[^\n]*\n)(?:    [^\n]*\n)*)"
REMARK = r"(?:^<!-- (?P<rule>not run|long|tested as|quote): (?P<words>.*?) -->\n+)?"
BLOCK = re.compile(f"{REMARK}(?:{FENCED}|{INDENTED})", re.DOTALL | re.MULTILINE)
SNIPPET = re.compile(r'^--8<-- "(.+?)"\n', re.MULTILINE)
RUN = ("sh", "python")
SHOWN = ("text", "json", "html", "nginx", "ini", "toml", "yaml", "sql", "js", "javascript")
"""Languages of blocks that are shown, and not meant to be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block: its language and code, and the rule about running it."""

    language: str
    code: str
    line: int
    rule: str = ""
    words: str = ""

    @property
    def quick(self) -> str | None:
        """What the quick tests run, if anything."""
        if self.rule in ("not run", "long", "quote"):
            return None
        return self.words if self.rule == "tested as" else self.code


def blocks_of(text: str) -> list[Block]:
    """All blocks of a document."""
    return [_block(text, match) for match in BLOCK.finditer(text)]


def _block(text: str, match: re.Match[str]) -> Block:
    indented = match["indented"]
    code = match["fenced"] if indented is None else re.sub(r"^    ", "", indented, flags=re.MULTILINE)
    return Block(
        language=match["language"] if indented is None else "sh",
        code=SNIPPET.sub(lambda found: (ROOT / found[1]).read_text("utf-8"), code),
        line=text.count("\n", 0, match.start()) + 1,
        rule=match["rule"] or "",
        words=match["words"] or "",
    )


def documents_with_code() -> list[Path]:
    """The documents in which something is run."""
    return [path for path in DOCUMENTS if any(block.language in RUN for block in blocks_of(path.read_text("utf-8")))]
