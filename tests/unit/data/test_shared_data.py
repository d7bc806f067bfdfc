"""The public data sets, where they are at hand; counts are facts of the files."""

import json
import os
from pathlib import Path

import pytest

from dialogauge.core import Conversation
from dialogauge.data import inspect_conversations, read_conversations, read_ratings
from talks import write_conversations

SHARED = os.environ.get("DIALOGAUGE_SHARED")
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
]
DATA = Path(SHARED or ".") / "data"


def test_recllmsim_counts():
    reader = read_conversations([str(DATA / "recllmsim")])
    conversations = list(reader)
    assert len(conversations) == 694
    assert conversations[0].id == "User_0__旅行规划__0.json"
    split = json.loads((DATA / "recllmsim" / "split.json").read_text(encoding="utf-8"))
    turns = {
        part: sum(m.role == "assistant" for c in conversations if c.user_id in users for m in c.messages)
        for part, users in split.items()
    }
    assert turns == {"train": 1413, "test": 1594}
    assumed = {n.text.split(":")[0]: n.count for n in reader.notes if n.kind == "assumed"}
    assert assumed == {
        "conversations have consecutive messages of one role": 39,
        "conversations have no assistant reply": 1,
    }


def test_recllmsim_ratings():
    report = inspect_conversations(read_conversations([str(DATA / "recllmsim")]), min_turns=1)
    assert report.users == 42
    assert report.rated_turns == 3007
    assert report.ratings["satisfaction"] == {"1": 54, "2": 100, "3": 289, "4": 1217, "5": 1347}


def test_tau_counts():
    reader = read_conversations([str(DATA / "tdeval" / "tau_trajectories")])
    report = inspect_conversations(reader, min_turns=1)
    assert report.formats == {"tau": 13}
    assert (report.conversations, report.fault_count) == (1040, 0)
    assert report.ratings["reward"] == {"0": 590, "1": 408}
    assert report.empty_conversations >= 42


def test_uss_counts():
    conversations = list(read_conversations([str(DATA / "uss" / "MWOZ.txt")]))
    assert len(conversations) == 1000
    rated = sum(len({r.turn for r in c.ratings}) for c in conversations)
    assert rated == 12_553, "every USER line is rated, the overall one included"


@pytest.mark.long
@pytest.mark.parametrize("folder", ["recllmsim", "tdeval/tau_trajectories", "uss"])
def test_real_conversations_survive_writing(tmp_path, folder):
    found = read_conversations([str(DATA / folder)])
    conversations = [c for c in found if isinstance(c, Conversation) and c.messages]
    path = tmp_path / "x.jsonl"
    write_conversations(path, conversations)
    assert list(read_conversations([str(path)])) == conversations


def test_tdeval_human_ratings():
    found = read_ratings(DATA / "tdeval" / "human_ratings.csv")
    (again,) = (note for note in found.notes if "again by the same rater" in note.text)
    assert (len(found.ratings), again.count, len(found.faults)) == (2739 - 27, 27, 0)
    assert {place.conversation_id for place in again.examples} == {"airline_15"}
