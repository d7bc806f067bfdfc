"""Writes docs/reference.md from the docstrings of what `import dialogauge` offers.

python tools/library_reference.py
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import dialogauge

TARGET = Path(__file__).resolve().parents[1] / "docs" / "reference.md"
HEAD = """# Every name of the library

Written by `make docs` from the docstrings of what `import dialogauge` offers; [In Python](library.md) explains it by examples.

"""


def render() -> str:
    """Return the page."""
    names = [name for name in dialogauge.__all__ if not name.startswith("_")]
    return HEAD + "\n".join(line for name in names for line in _entry(name, getattr(dialogauge, name)))


def _entry(name: str, value: object) -> Iterator[str]:
    yield f"## {name}\n"
    yield from _code(name, value)
    if not inspect.isclass(value):
        return
    fields = list(_fields(value))
    if fields:
        yield "| field | type | |\n|---|---|---|"
        yield from fields
        yield ""
    ours = [kind for kind in value.__mro__ if kind.__module__.startswith("dialogauge")]
    members = {member: of for kind in reversed(ours) for member, of in vars(kind).items()}
    for member, of in sorted(members.items()):
        if not member.startswith("_") and (found := _member(of)) is not None:
            yield f"### {name}.{member}\n"
            yield from _code(member, found)


def _fields(kind: type) -> Iterator[str]:
    """Yield the public fields of a class as rows: name, type, and the docstring under it."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        words = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            words = " ".join(str(after.value.value).split()).replace("|", "\\|")
        if not node.target.id.startswith("_"):
            yield f"| `{node.target.id}` | `{ast.unparse(node.annotation).replace('|', 'or')}` | {words} |"


def _member(value: object) -> Callable[..., object] | None:
    """Return what has the docstring of a member; None for a plain field."""
    value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    value = getattr(value, "func", value)
    return value if inspect.isfunction(value) and inspect.getdoc(value) else None


def _code(name: str, value: object) -> Iterator[str]:
    """Yield signature and docstring as they stand in the source."""
    called = callable(value) and not inspect.isclass(value)
    signature = str(inspect.signature(value)).replace("'", "") if called else ""
    yield f"```text\n{name}{signature}\n\n{inspect.getdoc(value) or ''}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    print(TARGET)
