"""The site builds without a warning, and its generated pages hold what they are generated from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from dame.cli.app import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def leaves(name: str, command: typer.models.CommandInfo | object) -> list[tuple[str, object]]:
    below = getattr(command, "commands", None)
    if not below:
        return [(name, command)]
    return [leaf for child in below.values() for leaf in leaves(f"{name} {child.name}", child)]


def test_every_document_is_a_page(site):
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).exists(), path


def test_the_command_reference_has_every_command_and_option(site):
    text = (site / "reference" / "commands.html").read_text("utf-8")
    for name, command in leaves("dame", typer.main.get_command(app)):
        assert f"<code>{name}</code>" in text
        for param in command.params:
            for option in param.opts:
                assert option in text or param.param_type_name == "argument" or option == "--help", (name, option)


def test_the_python_reference_explains_what_the_package_exports(site):
    import dame

    text = (site / "reference" / "python.html").read_text("utf-8")
    named = set(re.findall(r'id="(dame\.[\w.]+)"', text))
    for name in set(dame.__all__) - {"device"}:
        thing = getattr(dame, name)
        assert any(entry.endswith(f".{thing.__name__}") for entry in named), name


def test_documents_beside_the_folder_and_the_notebook_are_pages(site):
    assert "Unreleased" in (site / "changelog.html").read_text("utf-8").title()
    assert "scripts/check" in (site / "contributing.html").read_text("utf-8")
    assert "Apache License" in (site / "licence.html").read_text("utf-8")
    page = (site / "notebooks" / "whole-study.html").read_text("utf-8")
    pictures = re.findall(r'src="(whole-study-\d+\.png)"', page)
    assert len(pictures) >= 4
    assert all((site / "notebooks" / name).read_bytes().startswith(b"\x89PNG") for name in pictures)


def test_the_site_asks_nobody_else_for_anything(site):
    """A page about privacy loads its fonts and scripts from where it lives."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://(?!www\.w3\.org)', text), page
