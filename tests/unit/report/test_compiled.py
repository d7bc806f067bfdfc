from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from dialogauge.report.compiled import CompiledTemplates


def page(module: Path, text: str) -> str:
    loader = DictLoader({"page": text})
    return Environment(loader=loader, bytecode_cache=CompiledTemplates(module)).get_template("page").render()


def kept(module: Path) -> list[Path]:
    return sorted((module.parent / "__pycache__").glob("*.jinja"))


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "__pycache__").mkdir()
    return tmp_path / "page.py"


def test_a_template_is_compiled_once_and_again_when_it_changes(module):
    assert page(module, "{{ 1 + 1 }}") == "2"
    (file,) = kept(module)
    before = file.read_bytes()
    assert page(module, "{{ 1 + 1 }}") == "2"
    assert file.read_bytes() == before
    assert page(module, "{{ 1 + 2 }}") == "3"


def test_a_damaged_file_is_compiled_anew(module):
    page(module, "{{ 1 + 1 }}")
    kept(module)[0].write_bytes(b"not what was written")
    assert page(module, "{{ 1 + 1 }}") == "2"


def test_nothing_is_written_where_python_writes_nothing(module, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert page(module, "{{ 1 + 1 }}") == "2"
    assert kept(module) == []


def test_without_the_folder_the_page_is_written_all_the_same(module):
    module.parent.joinpath("__pycache__").rmdir()
    assert page(module, "{{ 1 + 1 }}") == "2"
