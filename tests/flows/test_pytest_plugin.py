"""The pytest plugin as a user meets it: in a session of its own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from flows.page_commands import outputs_of, snippets_of
from talks import talk

pytest_plugins = ["pytester"]

MODULE = "dialogauge.door.pytest_plugin"
ROOT = Path(__file__).resolve().parents[2]
LOADED = () if entry_points(group="pytest11", name="dialogauge") else ("-p", MODULE)
FORGETFUL = talk(
    "u: Hi, order 7731 should have come on Monday. Where is it?",
    "a: Order 7731 left our warehouse on Saturday and is due tomorrow.",
    "u: Tomorrow I am away. Can it go to a pick-up point?",
    "a: Could you tell me your order number, please? Then I can look it up.",
    "u: I told you already: 7731.",
    "a: Sorry. Order 7731 now goes to the pick-up point at the station.",
    id="order-7731",
)
HELPFUL = talk("u: Where is order 7731?", "a: Order 7731 left on Saturday and comes tomorrow.", id="helpful")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a log of two conversations and a test that runs once for each."""
    lines = [
        json.dumps(
            {
                "conversation_id": c.id,
                "messages": [{"role": m.role, "content": m.content} for m in c.messages],
            }
        )
        for c in (FORGETFUL, HELPFUL)
    ]
    pytester.path.joinpath("log.jsonl").write_text("\n".join(lines))
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.conversations("*.jsonl")
        @pytest.mark.dialogauge("findings==0")
        def test_replies(conversation, assert_quality):
            assert_quality(conversation)
        """
    )
    return pytester


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return suite.runpytest_inprocess(*LOADED, "-p", "no:cacheprovider", *arguments)


@pytest.mark.long
def test_a_failure_quotes_the_turn_and_the_evidence(suite):
    result = run(suite)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*findings==0: met by 2 of 3 turns*",
            "*assistant: Could you tell me your order number, please?*",
            "*Asks for the order number, which the user gave in turn 1.*",
        ]
    )
    assert not [path for path in suite.path.iterdir() if path.name == "runs"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "snippet"),
    [
        (page, s)
        for page in ("README.md", "docs/pytest.md")
        for s in snippets_of(page, "python")
        if "def test" in s
    ],
)
def test_the_tests_that_a_page_shows_find_the_fault(suite, page, snippet):
    """A log of which one conversation has a fault, and an assistant that talks as in that one."""
    suite.mkdir("logs")
    suite.path.joinpath("log.jsonl").rename(suite.path / "logs" / "log.jsonl")
    suite.makeconftest(
        """
        import json, pathlib, pytest

        class Assistant:
            def talk(self, said):
                line = pathlib.Path("logs/log.jsonl").read_text().splitlines()[0]
                return json.loads(line)["messages"][: 2 * len(said)]

        @pytest.fixture
        def assistant():
            return Assistant()
        """
    )
    suite.makepyfile(snippet)
    result = run(suite)
    conversations = "mark.conversations" in snippet
    result.assert_outcomes(passed=int(conversations), failed=1)
    printed = {line.rstrip() for line in result.stdout.lines}
    for shown in outputs_of(page) if conversations else ():
        assert [line for line in shown.splitlines() if line not in printed] == []


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_session_has_one_page(suite, workers):
    for more in ((), workers):  # the second session takes the place of the first
        result = run(suite, "--dialogauge-report", "pages", *more)
        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines([f"dialogauge: {suite.path}/pages/report.html"])
    page = (suite.path / "pages" / "report.html").read_text(encoding="utf-8")
    assert "2 assertions in 2 tests: 1 not met." in page
    assert page.count("Could you tell me your order number, please?") >= 1
    assert len(list((suite.path / "pages" / "runs").iterdir())) == (2 if workers else 1)


@pytest.mark.long
def test_tests_of_a_log_share_one_run_for_each_of_their_settings(suite):
    suite.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.conversations("*.jsonl")

        def test_replies(conversation, assert_quality):
            run = assert_quality(conversation, "findings<=1")
            assert [talk.id for talk in run.conversations()] == ["order-7731", "helpful"]

        def test_again(conversation, assert_quality):
            assert_quality(conversation, "findings==0")

        def test_a_gate_is_asked_of_one_conversation(conversation, assert_quality):
            assert len(assert_quality(conversation, "failed<=0").conversations()) == 1

        def test_what_is_wrong_is_raised_in_each(conversation, assert_quality):
            assert_quality(conversation, "findings==0", rubric="none/such")
        """
    )
    result = run(suite, "--dialogauge-report", "pages")
    result.assert_outcomes(passed=5, failed=3)
    result.stdout.fnmatch_lines(["*findings==0: met by 2 of 3 turns*", "*none/such*"])
    assert len(list((suite.path / "pages" / "runs").iterdir())) == 3
    page = (suite.path / "pages" / "report.html").read_text(encoding="utf-8")
    assert "6 assertions in 6 tests: 1 not met." in page


def test_settings_and_conditions_come_from_markers_and_calls(suite):
    suite.makepyfile(
        """
        import dialogauge
        import pytest

        pytestmark = pytest.mark.dialogauge(rubric="satisfaction")

        def test_a_log(assert_quality):
            run = assert_quality("log.jsonl", "failed<=0")
            assert run.rubric.id == "satisfaction"
            with pytest.raises(AssertionError, match="satisfaction>=6: met by 0 of 4 turns"):
                assert_quality(run, "satisfaction>=6", unchecked=True)

        def test_an_unknown_dimension(assert_quality):
            with pytest.raises(dialogauge.DialogaugeError, match="no dimension 'mood'"):
                assert_quality("log.jsonl", "mood>=4")
        """
    )
    run(suite).assert_outcomes(passed=2)


@pytest.mark.long
def test_what_was_asked_wrongly_is_said_without_our_code(suite):
    suite.makepyfile('def test_a_log(assert_quality):\n    assert_quality("log.jsonl", "helpfullness>=4")')
    result = run(suite)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*did you mean 'helpfulness'*"])
    assert "condition.py" not in result.stdout.str()


@pytest.mark.long
def test_a_log_that_cannot_be_read_is_no_empty_test(suite):
    suite.path.joinpath("log.jsonl").write_text('{"messages": 3}\n')
    result = run(suite)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*log.jsonl: unknown format: it is JSON, and its first record has*"])
    assert "Traceback" not in result.stdout.str()


def test_a_folder_with_something_else_is_left_as_it_is(suite):
    suite.mkdir("mine").joinpath("letter.txt").write_text("dear")
    result = run(suite, "--dialogauge-report", "mine")
    result.stderr.fnmatch_lines(["*mine holds something else (letter.txt)*"])
    assert (suite.path / "mine" / "letter.txt").read_text() == "dear"
