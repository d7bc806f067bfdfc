"""Short conversations written to try the local judge: faulty ones, and clean ones that look faulty.

The signals were mended on them afterwards, so that these figures guard and do not measure;
`docs/development/experiments/local_signals.md` has the figures of the first look.
"""

from pathlib import Path

from dialogauge.data import read_conversations
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.text import has_chinese

HERE = Path(__file__).parent


def judged(name):
    for conversation in read_conversations([str(HERE / f"{name}.jsonl")]):
        yield conversation, LocalJudge().judge_now(conversation)


NOT_SOUGHT = ("ignored_correction", "drift")
"""Faults for which nothing is looked for in the reply: only what the user says of them counts."""


def test_the_faulty_turn_is_named():
    sought = [(c, rows) for c, rows in judged("faulty") if c.metadata["fault"] not in NOT_SOUGHT]
    missed = [c.id for c, rows in sought if rows[-1].outcome.weakest_turn != c.metadata["fault_turn"]]
    assert len(sought) == 30
    assert len(missed) <= 3, missed


def test_nothing_is_raised_where_there_is_nothing():
    raised = [c.id for c, rows in judged("look_alikes") if any(r.outcome.issues for r in rows)]
    assert raised == []
    assert all(rows[-1].outcome.weakest_turn is None for _, rows in judged("look_alikes"))


def test_chinese_conversations_are_spoken_of_in_chinese():
    for conversation, rows in [*judged("faulty"), *judged("look_alikes")]:
        whole = rows[-1].outcome
        said = [whole.rationale, *whole.issues, *whole.details["notes"].values()]
        chinese = [any("\u4e00" <= c <= "\u9fff" for c in text) for text in said]
        assert all(chinese) if whole.details["language"] == "zh" else not any(chinese[:1]), conversation.id


def test_notes_in_another_language_change_no_score():
    for name in ("faulty", "look_alikes"):
        for conversation in read_conversations([str(HERE / f"{name}.jsonl")]):
            usual, english, chinese = (
                LocalJudge(language=of).judge_now(conversation) for of in ("auto", "en", "zh")
            )
            for rows in zip(usual, english, chinese, strict=True):
                one, *others = [row.outcome for row in rows]
                for other in others:
                    assert other.scores == one.scores
                    assert other.details["language"] == one.details["language"]
                    assert [(e.turn, e.quote) for e in other.evidence] == [
                        (e.turn, e.quote) for e in one.evidence
                    ]
            said = [english[-1].outcome.rationale, chinese[-1].outcome.rationale]
            assert [has_chinese(text) for text in said] == [False, True], conversation.id
