"""The pytest plugin: conversations as tests, and one page of a whole session.

Registered as an entry point; it loads nothing of dialogauge before a test asks for it. See docs/pytest.md.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from dialogauge.core import Conversation, DialogaugeError
    from dialogauge.door.quality import Quality, SharedRun
    from dialogauge.door.run import Run

_MARKER: Final = "dialogauge"
_CONVERSATIONS: Final = "conversations"
_RUNS: Final[pytest.StashKey[dict[str, SharedRun | DialogaugeError]]] = pytest.StashKey()
"""What came of the conversations of a marker, by marker and settings."""
_RECORDS: Final = "tests*.jsonl"
_PAGE: Final = "report.html"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--dialogauge-report` and its line of the configuration file."""
    text = "Write a page of all conversations that the tests judged, and their runs, into this folder."
    group = parser.getgroup("dialogauge")
    group.addoption("--dialogauge-report", metavar="DIR", default=None, help=text)
    parser.addini("dialogauge_report", text)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and empty the folder of an earlier session."""
    usual = "conditions and settings of assert_quality in this test"
    config.addinivalue_line("markers", f"{_MARKER}(*conditions, **settings): {usual}")
    each = "run the test for each conversation of the files, as `conversation`"
    config.addinivalue_line("markers", f"{_CONVERSATIONS}(*paths, **reading): {each}")
    folder = _folder(config)
    if folder is not None and not hasattr(config, "workerinput"):
        _emptied(folder)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each conversation that the marker `conversations` names."""
    marker = metafunc.definition.get_closest_marker(_CONVERSATIONS)
    if marker is None:
        return
    import dialogauge

    base = metafunc.definition.path.parent
    paths = [str(path) for name in marker.args for path in _named(base, name)]
    try:
        read = dialogauge.read(paths, **marker.kwargs)
        if read.faults:
            raise read.faults[0]
    except dialogauge.DialogaugeError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    metafunc.parametrize("conversation", list(read), ids=[conversation.id for conversation in read])


@pytest.fixture
def assert_quality(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 - a function
    """Return `dialogauge.assert_quality`, with the conditions and settings of the markers around the test.

    What it judges is on the page of the session.
    """
    markers = list(request.node.iter_markers(_MARKER))
    folder = _folder(request.config)
    usual = tuple(text for marker in reversed(markers) for text in marker.args)
    settings = {name: value for marker in reversed(markers) for name, value in marker.kwargs.items()}
    count = 0

    def check(data: Any, *conditions: str, **more: Any) -> Run:  # noqa: ANN401 - as in assert_quality
        from dialogauge.core import DialogaugeError
        from dialogauge.door.quality import quality_of
        from dialogauge.door.run import Run

        nonlocal count
        __tracebackhide__ = True
        count += 1
        chosen = {**settings, **more}
        if isinstance(data, Run):
            chosen = {name: value for name, value in chosen.items() if name == "unchecked"}
        try:
            quality = _of_shared(request, data, (*usual, *conditions), chosen)
            if quality is None:
                if folder is not None and not isinstance(data, Run):
                    chosen.setdefault("out", folder / "runs" / f"{_as_name(request.node.nodeid)}-{count}")
                quality = quality_of(data, *usual, *conditions, **chosen)
        except DialogaugeError as error:
            raise error.with_traceback(None) from None  # what is wrong stands in its words
        if folder is not None:
            _record(folder, request, quality)
        if not quality.met:
            raise AssertionError(quality.message())
        return quality.run

    return check


def _of_shared(
    request: pytest.FixtureRequest,
    data: Any,  # noqa: ANN401 - as in assert_quality
    conditions: Sequence[str],
    settings: dict[str, Any],
) -> Quality | None:
    """Judge all selected conversations of a marker once, and return what came of one of them.

    None for anything else, for a gate, which asks of a run as a whole, with a run of its own by `out`, and in
    a worker of pytest-xdist, which does not know what the others test.
    """
    from dialogauge.core import DialogaugeError
    from dialogauge.door.quality import SharedRun
    from dialogauge.studies.judging.condition import is_condition

    source, config = _source(request.node), request.config
    apart = "out" in settings or hasattr(config, "workerinput") or not all(map(is_condition, conditions))
    if source is None or source[1] is not data or apart or not conditions:
        return None
    key = f"{source[0]} {sorted(settings.items())}"
    runs = config.stash.setdefault(_RUNS, {})
    if key not in runs:
        sources = filter(None, map(_source, request.session.items))
        every = {conversation.id: conversation for name, conversation in sources if name == source[0]}
        folder = _folder(config)
        out = None if folder is None else folder / "runs" / _as_name(key)
        try:
            runs[key] = SharedRun(list(every.values()), out=out, **settings)
        except DialogaugeError as error:  # raised in each test
            runs[key] = error
    shared = runs[key]
    if isinstance(shared, DialogaugeError):
        raise shared
    return shared.quality(data.id, conditions)


def _source(item: pytest.Item) -> tuple[str, Conversation] | None:
    """Return which marker a test's conversation comes from, and the conversation; None for another test."""
    marker, call = item.get_closest_marker(_CONVERSATIONS), getattr(item, "callspec", None)
    if marker is None or call is None or "conversation" not in call.params:
        return None
    return f"{item.path.parent} {marker.args} {marker.kwargs}", call.params["conversation"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the page, once all workers are done."""
    folder = _folder(session.config)
    if folder is None or hasattr(session.config, "workerinput"):
        return
    records = list(_records(folder))
    if records:
        from dialogauge.door.quality_page import write_page

        write_page(records, folder / _PAGE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the page is."""
    folder = _folder(terminalreporter.config)
    if folder is not None and (folder / _PAGE).is_file():
        terminalreporter.write_line(f"dialogauge: {folder / _PAGE}")


def _folder(config: pytest.Config) -> Path | None:
    name = config.getoption("--dialogauge-report") or config.getini("dialogauge_report")
    return None if not name else config.rootpath / str(name)


def _emptied(folder: Path) -> None:
    """Delete what an earlier session left; refuse a folder that holds something else."""
    if not folder.exists():
        return
    ours = {*folder.glob(_RECORDS), folder / _PAGE, folder / "runs"}
    if others := [path.name for path in folder.iterdir() if path not in ours]:
        msg = f"--dialogauge-report: {folder} holds something else ({others[0]}); name a folder of its own"
        raise pytest.UsageError(msg)
    for path in ours:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _named(base: Path, name: str) -> list[Path]:
    """Return the files of a name or pattern beside the test file; the name itself where there is none."""
    return sorted(base.glob(name)) or [base / name]


def _as_name(nodeid: str) -> str:
    """Return a folder's name for a test: readable, and another one for every test."""
    digest = hashlib.sha256(nodeid.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', nodeid.rpartition('/')[2])[:60]}-{digest}"


def _record(folder: Path, request: pytest.FixtureRequest, quality: Quality) -> None:
    """Add what came of an assertion to the file of this process."""
    record = {
        "test": request.node.nodeid,
        "run": str(quality.run.path),
        "sentences": list(quality.sentences),
        "misses": [
            [target.conversation_id, target.turn, ", ".join(reasons)]
            for target, reasons in quality.misses.items()
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    worker = getattr(request.config, "workerinput", {}).get("workerid", "")
    with (folder / f"tests{worker and '-'}{worker}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(_RECORDS)):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)
