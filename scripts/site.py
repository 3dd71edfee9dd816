"""Hooks of the site: the command reference is made from the commands, and the notebook is a page of its own."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
# Typer may bring its own copy of Click: parameters are read by their attributes, whoever made them.
COMMANDS = "<!-- commands -->"
INCLUDED = re.compile(r"<!-- include: (\S+) -->")
NOTEBOOK_LINK = re.compile(r"\]\(\.\./notebooks/([\w-]+)\.ipynb\)")
NOTEBOOKS, EXAMPLES = ROOT / "notebooks", ROOT / "examples"
MARKUP = re.compile(r"\[/?(?:bold|dim|italic)\]")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Completes the menu: its section on deployment takes pages that no other has, and drops those not yet written."""
    folder, text = Path(config.docs_dir), Path(config.config_file_path).read_text("utf-8")
    deploy = next(section["Deploy"] for section in config.nav or [] if "Deploy" in section)
    deploy[:] = [page for page in deploy if all((folder / name).exists() for name in page.values())]
    deploy.extend(path.name for path in sorted(folder.glob("*.md")) if f": {path.name}\n" not in text)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what lives outside of the documents: notebooks, as pages with their pictures, and examples."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for name, content in notebook_pages(path).items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for path in sorted(EXAMPLES.glob("*.*")):
        files.append(File.generated(config, f"examples/{path.name}", content=path.read_text("utf-8")))
    return files


def notebook_pages(path: Path) -> dict[str, str | bytes]:
    """A page of Markdown and its pictures, by their names."""
    pictures: dict[str, str | bytes] = {}
    parts = []
    for cell_ in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell_["source"]).replace("](../docs/", "](../")
        parts.append(source if cell_["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell_.get("outputs", ()):
            parts.append(output_markdown(output, path.stem, pictures))
    return {f"{path.stem}.md": "\n\n".join(filter(None, parts)), **pictures}


def output_markdown(output: dict[str, Any], stem: str, pictures: dict[str, str | bytes]) -> str:
    """What a cell printed or drew; drawings are added to the pictures."""
    if output["output_type"] == "stream" and output["name"] == "stdout":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    drawing = output.get("data", {}).get("image/png")
    if not drawing:
        return ""
    name = f"{stem}-{len(pictures) + 1}.png"
    pictures[name] = base64.b64decode("".join(drawing))
    return f"![Drawn by the cell above]({name})"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the reference of all commands, or another document, in place of its marker."""
    del page, config, files
    if COMMANDS in markdown:
        return markdown.replace(COMMANDS, command_reference())
    markdown = NOTEBOOK_LINK.sub(r"](notebooks/\1.md)", markdown).replace("](../examples/", "](examples/")
    return INCLUDED.sub(lambda found: included(found[1]), markdown)


def included(name: str) -> str:
    """A document that stands beside the folder of documents, its links seen from within."""
    return (ROOT / name).read_text("utf-8").replace("](docs/", "](")


def command_reference() -> str:
    """Every command with its arguments and options, as the command line itself explains them."""
    from dame.cli.app import app

    return "\n\n".join(section("dame", typer.main.get_command(app)))


def section(name: str, command: Any) -> Iterator[str]:
    """The text of a command, and of those below it."""
    below = getattr(command, "commands", None)
    if not below:
        yield f"## `{name}`"
        yield plain(command.help or "")
        yield f"```text\n{usage(name, command)}\n```"
        yield parameters(command)
        return
    if name != "dame":
        yield f"## `{name}`"
        yield plain(command.help or "")
    for child in below.values():
        yield from section(f"{name} {child.name}", child)


def usage(name: str, command: Any) -> str:
    """The line that shows how a command is called."""
    words = [metavar(param) for param in command.params if is_argument(param)]
    return " ".join([name, *words, "[OPTIONS]"])


def parameters(command: Any) -> str:
    """The table of arguments and options."""
    lines = ["| | | default |", "|---|---|---|"]
    for param in command.params:
        if getattr(param, "hidden", False) or "--help" in param.opts:
            continue
        lines.append(f"| {label(param)} | {cell(getattr(param, 'help', '') or '')} | {default(param)} |")
    return "\n".join(lines)


def label(param: Any) -> str:
    """The name of a parameter, with what it takes."""
    if is_argument(param):
        return f"`{metavar(param)}`"
    switch = getattr(param, "is_flag", False)
    names = " / ".join([*param.opts, *param.secondary_opts])
    return f"`{names}`" if switch else f"`{names} {metavar(param)}`"


def metavar(param: Any) -> str:
    """What stands for the value of a parameter: its own word, or its name in capitals."""
    word = param.metavar or param.name.upper().replace("_", "-")
    return f"{word} …" if param.nargs == -1 else str(word)


def is_argument(param: Any) -> bool:
    """Whether a parameter is given by its place."""
    return param.param_type_name == "argument"


def default(param: Any) -> str:
    """The default, where there is one that says something."""
    value = param.default
    if param.required:
        return "required"
    if (
        value is None
        or value is False
        or value in ((), [], "")
        or callable(value)
        or "Sentinel" in type(value).__name__
    ):
        return ""
    words = " ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return f"`{words}`"


def plain(text: str) -> str:
    """Help text as Markdown."""
    return MARKUP.sub("", text).replace("\b", "").strip()


def cell(text: str) -> str:
    """Help text in a cell of a table."""
    return " ".join(plain(text).split()).replace("|", "\\|")
