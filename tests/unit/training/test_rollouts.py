"""Sessions of a policy in this process: tokens as sampled, one batch for all, and what a session is worth."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from dialogauge.agents import RecordedUser, beginning
from dialogauge.core import Conversation, Judged, JudgeFailure, Message, Target, UsageError
from dialogauge.core.conversation import PREFIX
from dialogauge.core.protocols import AgentFailure, AgentTurn

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

END = "<|im_end|>"


class Scripted:
    """A model that says what it is given, token by token, whatever it is asked."""

    def __init__(self, tokenizer, *replies):
        import torch

        self.ids = [[tokenizer.encode(text) for text in batch] for batch in replies]
        self.device, self.training = torch.device("cpu"), True
        self.generation_config = type("Config", (), {"eos_token_id": tokenizer.eos_token_id})()
        self.prompts, self.modes = [], []

    def eval(self):
        self.training = False

    def train(self, mode=True):
        self.training = mode

    def generate(self, input_ids, attention_mask, pad_token_id, **kwargs):
        import torch

        self.modes.append(self.training)
        self.prompts.append(
            [row[there.bool()].tolist() for row, there in zip(input_ids, attention_mask, strict=True)]
        )
        batch = self.ids.pop(0)
        width = max(map(len, batch))
        rows = [b + [pad_token_id] * (width - len(b)) for b in batch]
        return torch.cat([input_ids, torch.tensor(rows)], 1)


@pytest.fixture
def encoder():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.toy_roleplay import build_tokenizer

    from dialogauge.training.masks import DialogueTokenizer

    return DialogueTokenizer(build_tokenizer(), 400)


def prompts_of(count, *, context=()):
    from benchmarks.toy_roleplay import TRAIN

    from dialogauge.training.rollouts import RolloutPrompt

    made = []
    for character in TRAIN[:count]:
        start = beginning(character.scenario, "x", "policy")
        messages = (*start.messages, *context)
        start = replace(start, messages=messages, metadata={PREFIX: len(messages)})
        made.append(RolloutPrompt(character.scenario, start))
    return made


def play(model, encoder, prompts, *, user=None, judge=None, turns=2, cap=12, same=1):
    from benchmarks.toy_roleplay import CatchphraseJudge, ToyUser

    from dialogauge.training.rollouts import PolicyModel, SessionPlayer, SessionScorer
    from dialogauge.training.train_settings import PlaySettings

    player = SessionPlayer(
        lambda scenario: user or ToyUser(), SessionScorer(judge or CatchphraseJudge(), ("session",))
    )
    policy = PolicyModel(model, encoder, PlaySettings(reply_tokens=cap, turns=turns))
    names = [f"s{i}" for i in range(len(prompts))]
    playing = player.play(policy, prompts, names, list(range(len(prompts))), hear_the_same=same)
    return asyncio.run(playing)


def test_tokens_are_those_sampled_and_the_users_words_are_masked(encoder):
    tokenizer = encoder.tokenizer
    model = Scripted(tokenizer, [f"By the old oak!{END}"], [f"It rained.{END}"])
    user = RecordedUser("u", ["Hello there.", "And then?"])
    (rollout,) = play(model, encoder, prompts_of(1), user=user)
    tokens = rollout.tokens
    assert tokenizer.decode(tokens.prompt).endswith(
        f"<|im_start|>user\nHello there.{END}<|im_start|>assistant\n"
    )
    between = f"<|im_start|>user\nAnd then?{END}<|im_start|>assistant\n"
    assert tokenizer.decode(tokens.completion) == f"By the old oak!{END}{between}It rained.{END}"
    trained = [t for t, m in zip(tokens.completion, tokens.mask, strict=True) if m]
    assert tokenizer.decode(trained) == f"By the old oak!{END}It rained.{END}"
    # What the model was shown is what it said before, token by token, and the template's text behind it.
    assert (
        model.prompts[1][0]
        == tokens.prompt + tokens.completion[: len(model.prompts[1][0]) - len(tokens.prompt)]
    )
    assert model.training
    assert model.modes == [False, False]
    assert [m.text for m in rollout.conversation.messages[1:]] == [
        "Hello there.",
        "By the old oak!",
        "And then?",
        "It rained.",
    ]
    assert (rollout.truncated, tokens.dropped) == (0, 0)
    # The character's phrase is in one reply of two: 3 + 1.
    assert rollout.reward == (4.0 if "old oak" in prompts_of(1)[0].scenario.text else 3.0)


def test_all_sessions_that_wait_are_sampled_in_one_batch(encoder):
    model = Scripted(
        encoder.tokenizer, [f"It rained.{END}", f"Hello.{END}", f"I am.{END}"], [f"So.{END}"] * 3
    )
    rollouts = play(model, encoder, prompts_of(3))
    assert [len(batch) for batch in model.prompts] == [3, 3]
    assert [r.conversation.messages[2].text for r in rollouts] == ["It rained.", "Hello.", "I am."]


def test_a_reply_without_an_end_is_truncated_and_closed_outside_of_the_mask(encoder):
    model = Scripted(encoder.tokenizer, ["It rained and rained", f"So.{END}"])
    cut, whole = play(model, encoder, prompts_of(2), turns=1)
    assert (cut.truncated, whole.truncated) == (1, 0)
    assert cut.tokens.completion[-1] == encoder.end_of_turn
    assert cut.tokens.mask[-1] == 0
    assert whole.tokens.mask[-1] == 1
    # A cut reply costs half a point of its three.
    assert (cut.score, cut.reward, whole.reward) == (3.0, 2.5, 3.0)


def test_a_repeated_reply_costs_and_no_score_falls_below_the_scale(encoder):
    long = "I walked to the market today and my sister sends her best from the hill again"
    model = Scripted(encoder.tokenizer, [long + END], [long + END])
    (rollout,) = play(model, encoder, prompts_of(1))
    assert (rollout.repeated, rollout.score, rollout.reward) == (1, 3.0, 2.5)
    from benchmarks.toy_roleplay import LengthJudge

    model = Scripted(encoder.tokenizer, ["So"])
    (rollout,) = play(model, encoder, prompts_of(1), judge=LengthJudge(), turns=1)
    assert rollout.reward == 1.0


def test_failures_are_no_reward_and_leave_the_others_alone(encoder):
    class Broken:
        name = digest = "broken"

        async def reply(self, conversation, *, seed=0):
            return AgentTurn(AgentFailure("timeout", "no answer in time"))

    class Undecided:
        def __init__(self):
            from benchmarks.toy_roleplay import CatchphraseJudge

            self.name, self.dimensions = "undecided", CatchphraseJudge.dimensions

        async def judge(self, request):
            target = Target(request.conversation.id, "conversation", None)
            return (Judged(target, JudgeFailure("invalid_json", "no JSON")),)

    (rollout,) = play(Scripted(encoder.tokenizer), encoder, prompts_of(1), user=Broken())
    assert rollout.reward is None
    assert "the simulator failed in turn 1: no answer in time" in rollout.failure.message
    model = Scripted(encoder.tokenizer, [f"So.{END}"])
    (rollout,) = play(model, encoder, prompts_of(1), judge=Undecided(), turns=1)
    assert (rollout.reward, rollout.failure.message) == (None, "no JSON")
    # Silence is asked for once more, then the session has failed; the other session goes on.
    model = Scripted(encoder.tokenizer, [END, f"So.{END}"], [END, f"Again.{END}"])
    silent, other = play(model, encoder, prompts_of(2))
    assert (silent.reward, other.reward) == (None, 3.0)
    assert silent.tokens.completion == []


def test_old_turns_go_and_the_persona_stays(encoder):
    context = [Message("user", "Hello there."), Message("assistant", "It rained on the hill again.")] * 12
    model = Scripted(encoder.tokenizer, [f"So.{END}"])
    (rollout,) = play(model, encoder, prompts_of(1, context=context), turns=1, cap=200)
    assert rollout.tokens.dropped > 0
    assert len(rollout.tokens.prompt) <= 200
    assert encoder.tokenizer.decode(rollout.tokens.prompt).startswith("<|im_start|>system\nYou are Rosa.")
    with pytest.raises(UsageError, match=r"leave no room for 380 in 400"):
        play(Scripted(encoder.tokenizer), encoder, prompts_of(1), turns=1, cap=380)


def test_a_group_of_single_turns_hears_the_same_message(encoder):
    model = Scripted(encoder.tokenizer, [f"So.{END}"] * 4)
    first, second = prompts_of(2)
    rollouts = play(model, encoder, [first, first, second, second], turns=1, same=2)
    heard = [r.conversation.messages[1].text for r in rollouts]
    assert heard[0] == heard[1]
    assert heard[2] == heard[3]


def test_a_template_that_rewrites_a_reply_is_refused(encoder):
    tokenizer = encoder.tokenizer
    encoder.tokenizer.chat_template = tokenizer.chat_template.replace(
        "{% if add_generation_prompt %}<|im_start|>assistant\n",
        "{% if add_generation_prompt %}<|im_start|>assistant\nSo ",
    )
    with pytest.raises(UsageError, match="opens a reply otherwise"):
        encoder.follow_up("Hello.")


def test_the_tiny_policy_samples_alike_by_seed(policy):
    from transformers import AutoModelForCausalLM

    from dialogauge.training.masks import load_dialogue_tokenizer

    model = AutoModelForCausalLM.from_pretrained(policy)
    encoder = load_dialogue_tokenizer(policy, 400)
    one, other = (play(model, encoder, prompts_of(2), turns=2) for _ in range(2))
    assert [r.conversation for r in one] == [r.conversation for r in other]
    assert isinstance(one[0].conversation, Conversation)
    assert all(sum(r.tokens.mask) == sum(r.tokens.replies) for r in one)
