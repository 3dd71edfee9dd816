"""Documents quote the code that runs and name what exists; the README's Python runs; every command is documented."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
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
    assert isinstance(scope["step"], dame.device.Question)
    error, interval = capsys.readouterr().out.splitlines()
    assert 0 < float(error) < 1
    low, high = map(float, interval.strip("()").split(","))
    assert low < 6 < high, "beta:2:6 on 24 hours has the mean 6"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_pictures_of_documents_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (document.parent / target).exists(), f"{document.name} points to {target}"


# --- names


DOTTED = re.compile(r"(?:`|^::: )(dame(?:\.\w+)+)", re.MULTILINE)
PATHS = re.compile(r"(?<![\w/.-])((?:src|tests|scripts|examples|vectors|benchmarks)/[\w./-]*\w)")
MODULES = re.compile(r"python3? -m (benchmarks[.\w]*)")
CLASSES = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`")
ELSEWHERE = {"Authorization", "BigInt", "Dockerfile", "Origin", "dame.sqlite", "dame.service"}
"""Names of other people's things, and of a file."""
TEXTS = {path: path.read_text("utf-8") for path in (*DOCUMENTS, ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*/*.md"))}
SOURCES = "\n".join(
    path.read_text("utf-8") for room in ("src", "examples", "tests") for path in (ROOT / room).rglob("*.py")
)


def named(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Each document, and a name in it."""
    found = {(path.name, name) for path, text in TEXTS.items() for name in pattern.findall(text)}
    return sorted((document, name) for document, name in found if name not in ELSEWHERE)


@pytest.mark.parametrize(("document", "name"), named(DOTTED))
def test_names_of_the_package_exist(document: str, name: str) -> None:
    assert pkgutil.resolve_name(name), document


@pytest.mark.parametrize(("document", "name"), named(CLASSES))
def test_classes_exist(document: str, name: str) -> None:
    assert re.search(rf"^class {name}\b", SOURCES, re.MULTILINE), document


@pytest.mark.parametrize(("document", "name"), named(PATHS))
def test_files_exist(document: str, name: str) -> None:
    assert (ROOT / name).exists(), document


@pytest.mark.parametrize(("document", "name"), named(MODULES))
def test_benchmarks_can_be_started(document: str, name: str) -> None:
    assert importlib.import_module(name), document


# --- commands


COMMANDS = sorted(info.name or info.callback.__name__ for info in app.registered_commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_a_document_and_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(f"dame {command}" in path.read_text("utf-8") for path in DOCUMENTS)
    assert run([command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out
