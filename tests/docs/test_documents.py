"""Documents that quote code quote the code that runs; the README's Python runs; every command is documented."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import dame
from dame.cli.app import app, run

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
QUOTE = re.compile(r"<!-- quote: (\S+) (\w+) -->\n```python\n(.*?)```", re.DOTALL)
QUOTES = [(path.name, *match.groups()) for path in DOCUMENTS for match in QUOTE.finditer(path.read_text("utf-8"))]


def test_there_are_documents_and_quotes() -> None:
    assert len(DOCUMENTS) >= 4
    assert QUOTES


@pytest.mark.parametrize(("document", "source", "name", "quoted"), QUOTES)
def test_quoted_code_is_the_code_that_runs(document: str, source: str, name: str, quoted: str) -> None:
    module = importlib.import_module(source.removeprefix("src/").removesuffix(".py").replace("/", "."))
    assert inspect.getsource(getattr(module, name)).strip() == quoted.strip(), document


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), scope)
    assert isinstance(scope["step"], dame.device.Measure | dame.device.Vote)
    assert "Estimate(" in capsys.readouterr().out


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_pictures_of_documents_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (document.parent / target).exists(), f"{document.name} points to {target}"


COMMANDS = sorted(info.name or info.callback.__name__ for info in app.registered_commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_a_document_and_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(f"dame {command}" in path.read_text("utf-8") for path in DOCUMENTS)
    assert run([command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out
