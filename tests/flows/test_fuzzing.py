"""A short campaign against every reader; the long one is `python -m benchmarks.fuzz`."""

from __future__ import annotations

import ast
import gzip
import json
import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dialogauge
from dialogauge.app.option_groups import Options
from dialogauge.core import Conversation, InputError
from dialogauge.core.settings import settings_of
from dialogauge.data import format_names, read_conversations
from dialogauge.judges.rubric.reply import ReplyFault, parse_reply
from dialogauge.llm.json_text import NoJsonObject, extract_object
from dialogauge.rubrics import Scope, load_rubric
from fuzzing import seeds
from fuzzing.files import FILES, NO_FILE, OWN_FILES, READERS, SETTINGS, SLOW
from fuzzing.logs import ENDINGS
from fuzzing.targets import TARGETS
from sets import examples, some_short

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "messages", "turns", "text", "from", "value", "id", "score", "turn", ""]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("target", some_short(list(TARGETS), 2))
@given(seed=st.integers(0, 2**32))
@examples(150)
def test_broken_inputs_are_read_or_refused(target: str, seed: int, tmp_path: Path) -> None:
    TARGETS[target](random.Random(seed), tmp_path)


# In one process: each would first run every command that writes one of these files.
@pytest.mark.xdist_group("files")
@pytest.mark.parametrize("target", some_short(list(FILES)))
def test_broken_files_end_every_command_as_any_may_end(target: str, tmp_path: Path) -> None:
    for number in range(2):
        FILES[target](random.Random(f"{target}/{number}"), tmp_path)


def test_every_setting_that_names_a_file_is_fuzzed() -> None:
    folder = Path(dialogauge.__file__).parent
    for path in (*folder.glob("app/**/settings.py"), *folder.glob("app/**/option_groups.py")):
        import_module(".".join(("dialogauge", *path.relative_to(folder).with_suffix("").parts)))
    texts = {
        name
        for kind in _below(Options)
        for name, one in settings_of(kind).items()
        if one.kind is str and not one.choices
    }
    assert texts == SETTINGS.keys() | NO_FILE.keys()
    assert SETTINGS.keys().isdisjoint(NO_FILE)


def test_every_module_that_opens_files_is_fuzzed() -> None:
    source = Path(dialogauge.__file__).parent
    opening = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _name(node.func) in ("open", "connect", "read_text", "read_bytes")
    }
    assert opening == READERS.keys() | OWN_FILES
    known = TARGETS.keys() | FILES.keys() | SLOW.keys()
    assert {case for cases in (*READERS.values(), *SETTINGS.values()) for case in cases} <= known
    assert ENDINGS.keys() == set(format_names())


def _below(kind: type[Options]) -> Iterator[type[Options]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@pytest.mark.parametrize("format", format_names())
@given(record=JSON)
@examples(60)
def test_any_json_is_read_or_refused(format: str, record: object, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    _read(path, format)


@given(data=st.binary(max_size=200))
@examples(300)
@example(data=b"[")
@example(data=b"\xff\xfe[")
@example(data=b"role,content\n\x00,\x00\n")
def test_any_bytes_are_read_or_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(data)
    _read(path, None)


@pytest.mark.parametrize("format", ["openai", "csv", "uss"])
def test_gzip_cut_off_anywhere_is_read_or_refused(format: str, tmp_path: Path) -> None:
    text = {"csv": seeds.CSV, "uss": seeds.USS}.get(format) or "\n".join(
        map(json.dumps, seeds.RECORDS["openai"])
    )
    packed = gzip.compress(text.encode())
    for stop in range(len(packed)):
        path = tmp_path / "log.gz"
        path.write_bytes(packed[:stop])
        _read(path, None)


def _read(path: Path, format: str | None) -> None:
    try:
        for outcome in read_conversations([str(path)], format=format):
            if not isinstance(outcome, Conversation):
                _placed(outcome)
    except InputError as error:
        _placed(error)


def _placed(error: InputError) -> None:
    assert error.place is not None
    assert error.message


@given(text=st.text(st.sampled_from('{}[]"\\:,<>/`\nthink1a n'), max_size=60), value=JSON)
@examples(400)
def test_any_reply_is_read_or_refused(text: str, value: object) -> None:
    card = load_rubric("card")
    for reply in (text, text + json.dumps(value), json.dumps({"per_turn": value, "verdict": value}) + text):
        try:
            parse_reply(card, Scope((1, 2), ("turn", "conversation")), extract_object(reply).value)
        except (NoJsonObject, ReplyFault) as error:
            if not str(error):
                pytest.fail("a fault without a word")
