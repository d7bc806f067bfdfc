"""The house contract: floors, sizes, doors, and what importing the package may cost."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dialogauge

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "dialogauge"
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = ("torch", "transformers", "ray", "fastapi", "pandas", "matplotlib", "scipy", "sklearn", "pyarrow")
HEAVY += ("numpy", "pydantic", "aiohttp", "asyncio", "sqlite3", "rich")


@functools.cache
def tree_of(path: Path) -> list[ast.AST]:
    """All nodes of a file; read once, since most tests here walk over all of them."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def test_imports_point_downward() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_files_are_short_and_well_named() -> None:
    faults = []
    for path in FILES:
        name, text = path.relative_to(SOURCE), path.read_text(encoding="utf-8")
        if len(text.splitlines()) > 600:
            faults.append(f"{name} has more than 600 lines")
        if path.stem in {"utils", "helpers", "common", "misc"}:
            faults.append(f"{name} says nothing")
        if path.name != "__init__.py" and "\n__all__" in text:
            faults.append(f"{name} lists names: only the faces of packages do")
        for node in tree_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and (length := (node.end_lineno or 0) - body[0].lineno + 1) > 60:
                    faults.append(f"{name}:{node.lineno}: {node.name} has {length} lines")
    assert faults == []


ROOMS = ["dialogauge", *sorted(f"dialogauge.{m.name}" for m in pkgutil.iter_modules(dialogauge.__path__))]


def test_faces_list_what_is_there() -> None:
    for room in ROOMS:
        module = importlib.import_module(room)
        names = getattr(module, "__all__", [])
        assert len(set(names)) == len(names), room
        for name in names:
            assert hasattr(module, name), f"{room} lists {name} and has none"


def test_no_two_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in tree_of(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert shared == {}


WHAT_WAS_DONE_TO_IT = {"found", "told", "held", "said", "given"}
"""No name for a value: it does not say what the value is."""


def test_names_say_what_things_are() -> None:
    vague = []
    for path in FILES:
        for node in tree_of(path):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = (
                node.id if stored else node.arg if isinstance(node, ast.arg) else getattr(node, "name", None)
            )
            if name in WHAT_WAS_DONE_TO_IT:
                vague.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {name}")
    assert [v for v in vague if not v.startswith("judges/personal/spur.py")] == []  # a key of stored criteria


TIDY_ROOMS = ("data", "llm", "retrieval", "rubrics", "signals", "text", "training")


@pytest.mark.parametrize("room", TIDY_ROOMS)
def test_face_lists_what_other_rooms_use(room: str) -> None:
    names = importlib.import_module(f"dialogauge.{room}").__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    others = [p for p in FILES if p.relative_to(SOURCE).parts[0] != room]
    others += [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]
    used: set[str] = set()
    for path in others:
        nodes = tree_of(path)
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        for node in imports:
            if f"{node.module}.".startswith(f"dialogauge.{room}."):
                used |= {alias.name for alias in node.names}
        whole = [
            a.asname or a.name for n in imports if n.module == "dialogauge" for a in n.names if a.name == room
        ]
        used |= {
            n.attr for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", None) in whole
        }
    assert set(names) - used == set(), "nobody outside the room uses these"
    assert used - set(names) == set(), "other rooms use these"


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, dialogauge, dialogauge.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


_LOG = "judge log.jsonl"
_MODEL = "judge log.jsonl --model m --base-url http://127.0.0.1:9 --dry-run"
_OTHERS = ("studies.arena", "studies.satisfaction", "studies.agreement", "studies.fit", "studies.replay")


@pytest.mark.parametrize(
    ("words", "most", "unneeded"),
    [
        ("--version", 40, ("app.command", "studies")),
        ("runs", 70, ("app.command", "studies.judging")),
        (_LOG, 235, (*_OTHERS, "llm.http", "judges.rubric.judge", "judges.encoder", "judges.personal")),
        (_MODEL, 236, (*_OTHERS, "judges.local.judge", "judges.encoder", "judges.personal")),
    ],
)
def test_a_command_loads_what_it_needs(
    words: str, most: int, unneeded: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text(
        '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}'
    )
    code = """
import atexit, sys
atexit.register(lambda: print(*(name for name in sys.modules if name[:11] == "dialogauge."), file=sys.stderr))
from dialogauge.__main__ import main
main()"""
    command = [sys.executable, "-c", code, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    loaded = done.stderr.splitlines()[-1].split()
    assert len(loaded) <= most
    rooms = [f"dialogauge.{room}" for room in unneeded]
    assert [name for name in loaded if any(f"{name}.".startswith(f"{room}.") for room in rooms)] == []


def test_errors_survive_pickling() -> None:
    import pickle

    from dialogauge.core import errors

    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.DialogaugeError):
            error = kind("found", place=errors.Place("a.jsonl", 3), hint="do this")
            again = pickle.loads(pickle.dumps(error))
            assert type(again) is kind
            assert str(again) == "a.jsonl:3: found (do this)"


def test_the_source_distribution_holds_what_the_tests_need() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    held = build["targets"]["sdist"]["include"]
    used = {"src", "tests", "tools", "benchmarks", "examples", "docs"}
    assert used <= set(held)
    assert [name for name in held if not (ROOT / name).exists()] == []


def test_types_are_checked_without_any_extra() -> None:
    """In a fresh clone no extra is installed. multidict and yarl come with aiohttp."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    missing = {name for rule in project["tool"]["mypy"]["overrides"] for name in rule["module"]}
    core = {re.split(r"[<>=\[]", name)[0] for name in project["project"]["dependencies"]}
    core |= {"dialogauge", "pytest", "multidict", "yarl"}
    nodes = [node for path in FILES for node in tree_of(path)]
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    extra = {name.partition(".")[0] for name in named} - sys.stdlib_module_names - core - {"compression"}
    assert sorted(extra - {name.removesuffix(".*") for name in missing}) == []


@pytest.mark.parametrize("ci", ["", "true"])
def test_everybody_draws_the_same_examples(ci: str) -> None:
    code = "import conftest, hypothesis; print(hypothesis.settings.default)"
    where = {"CI": ci} if ci else {}
    environment = {k: v for k, v in os.environ.items() if k != "CI"} | where
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert "derandomize=True" in done.stdout
    assert "database=None" in done.stdout
