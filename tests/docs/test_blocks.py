"""Every command and every block of code in the documents runs, from top to bottom, in an empty folder."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from dame.cli.app import app
from tests.docs.blocks import DOCUMENTS, ROOT, RUN, SHOWN, blocks_of, documents_with_code

WITH_CODE = documents_with_code()
INLINE = re.compile(r"(?<!`)`(dame [^`\n]+)`(?!`)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with what a reader of the documents has: the repository's examples, and `dame` on the path."""
    tools = tmp_path / ".tools"
    tools.mkdir()
    for name, words in {"dame": "-m dame", "python": "", "python3": ""}.items():
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', "utf-8")
        script.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def play(document: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    port = free_port()
    environment = {
        **os.environ,
        "PATH": f"{folder / '.tools'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "COLUMNS": "100",
        "MPLBACKEND": "agg",
        "HOME": str(folder),
        "DAME_PORT": str(port),
        "DAME_SERVER": f"http://127.0.0.1:{port}",
    }
    player = subprocess.Popen(
        [sys.executable, "-m", "tests.docs.play", str(document), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = player.communicate(timeout=600)
    finally:  # a service that a failing document left running goes too
        with contextlib.suppress(ProcessLookupError):
            os.killpg(player.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(player.args, player.returncode, out, err)


def free_port() -> int:
    """A port for a service that a document starts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.name)
def test_the_blocks_of_a_document_run_in_order(document, folder):
    done = play(document, folder)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.name)
def test_the_long_blocks_run_too(document, folder):
    done = play(document, folder, "--long")
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_has_a_language_that_is_run_or_shown(document):
    text = document.read_text("utf-8")
    assert "\n```\n" not in re.sub(r"^```\w.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for block in blocks_of(text):
        assert block.language in (*RUN, *SHOWN), f"{document.name}:{block.line} {block.language}"
        assert not block.rule or len(block.words) > 8, f"{document.name}:{block.line}: why?"


def test_most_blocks_are_run():
    blocks = [block for path in WITH_CODE for block in blocks_of(path.read_text("utf-8")) if block.language in RUN]
    run = [block for block in blocks if block.quick is not None]
    assert len(blocks) > 20
    assert len(run) > len(blocks) / 2


def options_of(words: list[str]) -> set[str]:
    """The options of the command that the words name."""
    command = typer.main.get_command(app)
    for word in words:
        below = getattr(command, "commands", None)
        if not below:
            break
        assert word in below, word
        command = below[word]
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}


def inline_commands() -> list[tuple[str, str]]:
    return [(path.name, words) for path in DOCUMENTS for words in INLINE.findall(path.read_text("utf-8"))]


@pytest.mark.parametrize(("document", "words"), sorted(set(inline_commands())))
def test_commands_within_sentences_exist_with_their_options(document, words):
    first, *rest = shlex.split(words.replace("…", "").replace("|", " "))
    assert first == "dame"
    named = [word for word in rest if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word)]
    if not rest or rest[0].startswith("-"):
        return
    assert set(named) <= options_of(rest), f"{document}: {words}"


def test_a_wrong_command_is_noticed(folder):
    """The runner itself: a block that fails, and one that is wrong Python, fail their document."""
    for language, code in (("sh", "dame plan --users 0 --alpha 1 --sizes constant:1"), ("python", "assert False")):
        document = folder / "wrong.md"
        document.write_text(f"# Wrong\n\n```{language}\n{code}\n```\n", "utf-8")
        assert play(document, folder).returncode != 0
    indented = folder / "indented.md"
    indented.write_text("# Indented\n\n    dame no-such-command\n\nafter\n", "utf-8")
    assert play(indented, folder).returncode != 0
