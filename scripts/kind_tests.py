"""Counts tests for kinds of questions: places where code asks which statistic, lens or channel it has before it.

    python scripts/kind_tests.py [--root FOLDER] [--classes NAME …] [--most-python N] [--most-javascript N]

Such a question belongs to the thing itself: a method, or a registry keyed by its class. In Python it counts
`isinstance` and `issubclass` with a class of a kind (asserts aside, which only narrow a type), `type(…)` compared with
one, `match` on one, and the `kind` of anything or the `shape` of a round compared; in JavaScript a `kind` compared or
switched on, `instanceof` such a class, and functions named for a kind, as `isBins`. Exit code 1 if there are more than
allowed.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOTS = {"Statistic", "Lens", "Channel"}
"""What every statistic, lens and channel descends from."""
MOST_PYTHON = 5
MOST_JAVASCRIPT = 10

Found = tuple[Path, int, str]


def kinds_in(folder: Path) -> set[str]:
    """The names of all classes under a folder that descend from a statistic, a lens or a channel."""
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    parents = {one.name: {_name(base) for base in one.bases} for one in classes}
    kinds: set[str] = set()
    while more := {name for name, bases in parents.items() if bases & (kinds | ROOTS)} - kinds - ROOTS:
        kinds |= more
    return kinds


def in_python(path: Path, kinds: set[str]) -> Iterator[Found]:
    """The tests in one Python file."""
    text = path.read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    narrowing = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Assert) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) not in narrowing and _tests(node, kinds):
            yield path, node.lineno, lines[node.lineno - 1].strip()  # type: ignore[attr-defined]


def _tests(node: ast.AST, kinds: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, asked]):
            return bool(_names(asked) & kinds)
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            typed = any(isinstance(one, ast.Call) and _name(one.func) == "type" for one in sides)
            return any(map(_names_a_kind, sides)) or (typed and any(_names(one) & kinds for one in sides))
        case ast.MatchClass(cls=asked):
            return _name(asked) in kinds
    return False


def _names_a_kind(node: ast.AST) -> bool:
    """Whether it is the kind of something, or the shape of a round; arrays have a `dtype.kind` and a `shape`, too."""
    match node:
        case ast.Attribute(attr="kind", value=owner):
            return _name(owner) != "dtype"
        case ast.Attribute(attr="shape", value=owner):
            return "round" in ast.unparse(owner)
    return False


def _name(node: ast.AST) -> str:
    """The last name of `a.b.c` or `c[…]`."""
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _names(node: ast.AST) -> set[str]:
    return {_name(inner) for inner in ast.walk(node)}


def in_javascript(path: Path, kinds: set[str]) -> Iterator[Found]:
    """The tests in one JavaScript file."""
    words = "|".join(sorted(kinds))
    tests = re.compile(
        rf"\b[kK]ind\)?\s*[=!]==?|[=!]==?\s*[\w.]*\bkind\b|switch\s*\([^)]*[kK]ind|instanceof\s+(?:{words})\b|\bis(?:{words})\b"
    )
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if tests.search(line) and not line.lstrip().startswith(("//", "*")):
            yield path, number, line.strip()


def main() -> int:
    """0, or 1 if there are too many."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1] / "src" / "dame")
    parser.add_argument("--classes", nargs="*", help="names of kinds, instead of those that are found")
    parser.add_argument("--most-python", type=int, default=MOST_PYTHON)
    parser.add_argument("--most-javascript", type=int, default=MOST_JAVASCRIPT)
    options = parser.parse_args()
    kinds = set(options.classes or kinds_in(options.root))
    python = [found for path in sorted(options.root.rglob("*.py")) for found in in_python(path, kinds)]
    script = [found for path in sorted(options.root.rglob("*.js")) for found in in_javascript(path, kinds)]
    for path, line, text in (*python, *script):
        print(f"{path.relative_to(options.root)}:{line}: {text}")
    print(f"{len(kinds)} kinds: {', '.join(sorted(kinds))}")
    print(f"{len(python)} tests for kinds in Python, at most {options.most_python}")
    print(f"{len(script)} tests for kinds in JavaScript, at most {options.most_javascript}")
    return int(len(python) > options.most_python or len(script) > options.most_javascript)


if __name__ == "__main__":
    sys.exit(main())
