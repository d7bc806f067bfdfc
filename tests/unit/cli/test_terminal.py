from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.app.progress import progress_line
from dialogauge.cli.terminal import TerminalObserver, plain
from dialogauge.core import Usage
from dialogauge.llm import LimiterState
from dialogauge.runs import Progress
from talks import judged_rows, talk


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "价格：１２元\u3000全角",
        "10\xa0000 €",
        "👨‍👩‍👧 ❤️",
        "می\u200cخواهم",
        "",
    ],
)
def test_text_of_any_script_is_kept(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("report\nreport: forged", "report\\nreport: forged"),
        ("a\tb", "a\\tb"),
        ("bell\x07", "bell\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202etxt.exe", "abc\\u202etxt.exe"),
        ("\u2028next", "\\u2028next"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("cut \ud83d", "cut \\ud83d"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
    ],
)
def test_what_a_terminal_would_obey_becomes_visible(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.long
@given(st.text())
def test_nothing_is_left_that_moves_the_cursor(text: str) -> None:
    shown = plain(text)
    assert not any(c < " " for c in shown)
    assert not any("\x7f" <= c < "\xa0" for c in shown)
    shown.encode("utf-8")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def progress(elapsed: float = 0.0, **counts: object) -> Progress:
    clock = Clock()
    made = Progress(clock=clock)
    clock.now = elapsed
    for name, value in counts.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (progress(), "0/0+ done · 0.0/s"),
        (progress(10.0, planned=7, done=5), "5/7+ done · 0.5/s"),
        (progress(10.0, total=100, done=5), "5/100 done · 0.5/s · 3 min 10 s left"),
        (progress(10.0, total=100, resumed=85, done=5), "90/100 done · 0.5/s · 20 s left"),
        (progress(10.0, total=9000, done=5, failed=2), "5/9000 done · 2 failed · 0.5/s · 4 h 59 min left"),
        (progress(10.0, total=5, done=5), "5/5 done · 0.5/s · 0 s left"),
        (
            progress(10.0, total=5, done=5, usage=Usage(9, 3, 1200, 34, 0.5)),
            "5/5 done · 3 cached · 1,234 tokens · cost 0.5000 · 0.5/s · 0 s left",
        ),
        (progress(10.0, done=1, usage=Usage(1, cost=None)), "1/0+ done · cost unknown · 0.1/s"),
    ],
)
def test_the_progress_in_one_line(made: Progress, line: str) -> None:
    assert progress_line(made, None) == line


def limiter(**values: object) -> LimiterState:
    import dataclasses

    state = {f.name: 0 for f in dataclasses.fields(LimiterState)}
    return LimiterState(**{**state, **values})  # type: ignore[arg-type]


def test_the_limiter_is_shown() -> None:
    line = progress_line(progress(), limiter(in_flight=3, limit=8, paused_for=0.0))
    assert line.endswith("3 of 8 in flight")
    line = progress_line(progress(), limiter(in_flight=3, limit=8, paused_for=2.4))
    assert line.endswith("3 of 8 in flight · waiting 2 s on the rate limit")


def test_a_watcher_of_a_pipe_writes_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    observer = TerminalObserver()
    observer.say("hello \x1b[2J")
    observer.interrupted(True)
    observer.interrupted(False)
    with observer.watching(progress(), lambda: None):
        pass
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "hello \\x1b[2J",
        "finishing what is in flight; press Ctrl-C again to stop at once",
        "stopping",
    ]


def test_a_quiet_watcher_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    observer = TerminalObserver(quiet=True)
    observer.say("hello")
    with observer.watching(progress(), lambda: None):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_failed_unit_shows_in_the_line() -> None:
    made = progress(4.0, total=2)
    made.took(judged_rows(talk("u: a", "a: b"), failed=True))
    assert progress_line(made, None) == "1/2 done · 1 failed · 0.2/s · 4 s left"
