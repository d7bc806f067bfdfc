"""The memory that is a model: what it learns from, and who answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialogauge.agents.memory import CheckedMemory, Feedback, MemoryAgent, TrainedMemory
from dialogauge.core import Conversation, Message, UsageError
from dialogauge.core.protocols import AgentReply, AgentTurn
from dialogauge.data.tasks import RoundFeedback


class Parrot:
    """Says one text."""

    def __init__(self, text):
        self.name = self.digest = self.text = text

    def describe(self):
        return {}

    async def reply(self, conversation, *, seed=0):
        return AgentTurn(AgentReply(self.text))


class Tunes:
    """Makes of turns a parrot of the last reply."""

    def __init__(self, folder: Path):
        self.folder, self.seen = folder, []
        (folder / "adapter_model.safetensors").write_bytes(b"weights")

    def describe(self):
        return {"base": "b", "training": {"lora_r": 8}}

    async def tuned(self, turns):
        self.seen.append([turn[-1]["content"] for turn in turns])
        return Parrot(turns[-1][-1]["content"]), self.folder


def dialogue(name, reply, *actions, then=()):
    """Return a dialogue of two rounds with what its user did about each."""
    said = [Message("user", "When?"), Message("assistant", reply)]
    said += [Message("user", "Sure?"), Message("assistant", "Yes.")]
    rounds = (RoundFeedback(1, actions), RoundFeedback(2, then))
    return Conversation(name, tuple(said)), Feedback(rounds)


@pytest.fixture
def adapter(tmp_path):
    (tmp_path / "tuned").mkdir()
    return tmp_path / "tuned"


async def filled(memory, *dialogues):
    for one in dialogues:
        await memory.add_dialogue(*one)
    return memory


async def said_by(memory):
    agent = MemoryAgent(memory, Parrot("base"))
    return (await agent.answer(Conversation("q", (Message("user", "When?"),)))).turn.outcome.text


LIKED = dialogue("a", "At nine.", "like")
COPIED = dialogue("b", "At ten.", "copy", then=("dislike",))
DISLIKED = dialogue("c", "Never.", "dislike", then=("like", "copy"))
LATE = dialogue("e", "Maybe.", then=("like",))


async def test_it_is_trained_on_first_replies_that_were_liked_or_copied(adapter) -> None:
    memory = CheckedMemory(TrainedMemory(tunes := Tunes(adapter)))
    await memory.learn()
    assert (await said_by(memory), tunes.seen) == ("base", [])  # it holds no dialogue
    await filled(memory, LIKED, COPIED, DISLIKED, LATE, (LIKED[0], None))
    await memory.add_corpus([LIKED[0]])
    await filled(memory, LIKED)
    await memory.learn()
    assert tunes.seen == [["At ten.", "At nine."]]
    assert memory.inner.turns["a"] == [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At nine."},
    ]
    assert await said_by(memory) == "At nine."


async def test_it_says_why_it_cannot_learn(adapter) -> None:
    memory = TrainedMemory(tunes := Tunes(adapter))
    unloved = [DISLIKED, dialogue("d", "Perhaps."), (COPIED[0], None)]
    with pytest.raises(UsageError, match=r"like or copy in none of 3 dialogues \(nothing 2, dislike 1\)"):
        memory.expect_liked(unloved)
    with pytest.raises(UsageError, match=r"none of 0 dialogues \(there are no logs\)"):
        memory.expect_liked([])
    memory.expect_liked([*unloved, LIKED])
    with pytest.raises(UsageError, match="a copy in none of 1 dialogue "):
        TrainedMemory(tunes, ("copy",)).expect_liked([LIKED])
    await filled(memory, *unloved)
    await memory.learn()
    assert (await said_by(memory), tunes.seen) == ("base", [])  # another batch may have some


async def test_a_fork_and_a_saved_one_are_trained_anew_on_all_they_hold(adapter, tmp_path) -> None:
    memory = await filled(TrainedMemory(tunes := Tunes(adapter)), LIKED)
    await memory.learn()
    other = await filled(memory.fork(), COPIED)
    await other.learn()
    assert tunes.seen == [["At nine."], ["At nine.", "At ten."]]
    assert (memory.turns.keys(), other.turns.keys()) == ({"a"}, {"a", "b"})
    assert (await said_by(memory), await said_by(other)) == ("At nine.", "At ten.")
    (tmp_path / "saved").mkdir()
    other.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "adapter" / "adapter_model.safetensors").read_bytes() == b"weights"
    loaded = TrainedMemory(tunes)
    await loaded.load(tmp_path / "saved")
    assert loaded.turns == other.turns
