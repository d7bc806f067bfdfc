from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any

import pytest

from dialogauge.llm.identity import folder_digest, function_digest


def test_another_text_and_another_name_are_another_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "judges_5512.py"
    code = "class J:\n    def __call__(self, m): return 'x'\ndef a(m): ...\ndef b(m): ...\nj = J()\n"
    file.write_text(code)
    module: Any = importlib.import_module("judges_5512")
    a, b, j = (function_digest(f) for f in (module.a, module.b, module.j))
    assert len({a, b, j, None}) == 4
    assert function_digest(functools.partial(module.a)) == a
    file.write_text(code + "# changed\n")
    assert function_digest(module.a) not in (a, None)


def test_a_function_without_a_file_has_none() -> None:
    scope: dict[str, Any] = {}
    exec("def f(m): return ''", scope)
    assert function_digest(scope["f"]) is None
    assert function_digest(len) is None


def test_another_content_or_name_is_another_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = folder_digest(tmp_path)
    assert folder_digest(tmp_path) == first
    (tmp_path / "config.json").write_text("[]")
    second = folder_digest(tmp_path)
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    assert len({first, second, folder_digest(tmp_path)}) == 3
