"""Sessions whose replies another trainer samples."""

from __future__ import annotations

import pytest

from dialogauge.core import DialogaugeError, EndpointError, Judged, JudgeFailure, Target, UsageError
from dialogauge.door.session_host import SessionHost
from dialogauge.rubrics import load_rubric
from dialogauge.training import DialogueTokenizer
from dialogauge.training.rollouts import SessionPlayer, SessionScorer

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

ROLES = """
[roles.simulator]
model = "m"
base_url = "http://127.0.0.1:9/v1"
[roles.judge]
model = "m"
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture
def toy():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks import toy_roleplay

    return toy_roleplay


def hosted(tmp_path, judge, toy, **settings):
    file = tmp_path / "roles.toml"
    file.write_text(ROLES)
    host = SessionHost(str(file), **settings)
    host.player = SessionPlayer(lambda _: toy.ToyUser(), SessionScorer(judge, ("session",)))
    return host


def sampler(tokenizer, seen):
    """Return a policy that says one thing after another; the second reply does not end."""
    lines = ["By the old oak!<|im_end|>", "My sister", "好。<|im_end|>"]

    async def sample(ids):
        seen.append(list(ids))
        return tokenizer(lines[(len(seen) - 1) % 3])["input_ids"]

    return sample


SCENARIO = {"id": "rosa", "kind": "task", "name": "Rosa", "text": "-"}


async def test_tokens_are_used_as_they_were_sampled(tmp_path, toy):
    tokenizer, seen = toy.build_tokenizer(), []
    host = hosted(tmp_path, toy.CatchphraseJudge(), toy, turns=3)
    character = next(c for c in toy.TRAIN if c.phrase == "By the old oak!")
    prompt = [{"role": "system", "content": character.system}, {"role": "assistant", "content": "Come in."}]
    rollout = await host.play(
        DialogueTokenizer(tokenizer, 4_000), prompt, SCENARIO, sampler(tokenizer, seen), seed=1
    )
    tokens = rollout.tokens
    ids = tokens.prompt + tokens.completion
    for given in seen:
        assert ids[: len(given)] == given
    trained = [
        i if m else tokenizer.pad_token_id for i, m in zip(tokens.completion, tokens.mask, strict=True)
    ]
    said = [part for part in tokenizer.decode(trained).split(tokenizer.pad_token) if part]
    assert said == ["By the old oak!<|im_end|>", "My sister", "好。<|im_end|>"]
    assert tokenizer.decode(ids) == tokenizer.apply_chat_template(
        [{"role": m.role, "content": m.text} for m in rollout.conversation.messages], tokenize=False
    )
    # 3, one of three replies in character; less a half for the one that was cut off.
    assert rollout.score == 4.0
    assert rollout.reward == 3.5


class Failing:
    """Judges nothing the first times."""

    name, digest, reads, together = "failing", "d", frozenset(), False

    def __init__(self, judge, failures):
        self.judge_after, self.failures, self.dimensions = judge, failures, judge.dimensions

    async def judge(self, request):
        self.failures -= 1
        if self.failures < 0:
            return await self.judge_after.judge(request)
        target = Target(request.conversation.id, "conversation", None, None)
        return (Judged(target, JudgeFailure("schema", "it wrote a poem")),)


async def played(tmp_path, toy, failures):
    tokenizer = toy.build_tokenizer()
    host = hosted(tmp_path, Failing(toy.CatchphraseJudge(), failures), toy, turns=1)
    prompt = [{"role": "system", "content": toy.TRAIN[0].system}]
    sample = sampler(tokenizer, [])
    return await host.play(DialogueTokenizer(tokenizer, 4_000), prompt, SCENARIO, sample, seed=1)


async def test_a_session_that_is_not_judged_is_played_anew(tmp_path, toy):
    assert (await played(tmp_path, toy, 2)).reward is not None


async def test_a_session_without_a_score_is_no_reward(tmp_path, toy):
    with pytest.raises(EndpointError, match="came to no score: it wrote a poem"):
        await played(tmp_path, toy, 3)


def test_the_rubric_scores_the_sessions(tmp_path):
    file = tmp_path / "roles.toml"
    file.write_text(ROLES)
    usual, plain = SessionHost(str(file)), SessionHost(str(file), rubric="roleplay-plain")
    names = {d.name for d in load_rubric("roleplay-plain").asks_people("conversation")}
    assert set(plain.player.scorer.dimensions) == names
    assert plain.player.scorer.judge.digest != usual.player.scorer.judge.digest
    with pytest.raises(UsageError, match="'roleplay-turn' scores no session as a whole"):
        SessionHost(str(file), rubric="roleplay-turn")
    with pytest.raises(DialogaugeError, match=r"none\.toml"):
        SessionHost(str(file), weights=str(tmp_path / "none.toml"))


def test_a_role_that_is_missing_is_named(tmp_path):
    file = tmp_path / "roles.toml"
    file.write_text(ROLES.partition("[roles.judge]")[0])
    with pytest.raises(UsageError, match="does not say who is the judge"):
        SessionHost(str(file))
