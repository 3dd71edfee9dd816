"""Names that mean one thing: no two classes of one name, and no function in the way of the module of its name."""

from __future__ import annotations

import ast
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from types import ModuleType

import pytest

import dame

PACKAGES = [dame.__name__, *(found.name for found in walk_packages(dame.__path__, "dame.") if found.ispkg)]


def test_there_are_no_two_classes_of_one_name():
    sources = Path(dame.__file__).parent.rglob("*.py")
    trees = [ast.parse(path.read_text("utf-8")) for path in sources]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_nothing_stands_in_the_way_of_a_module(name):
    package = import_module(name)
    modules = [module.name for module in iter_modules(package.__path__)]
    assert [each for each in modules if not isinstance(vars(package).get(each, package), ModuleType)] == []
