"""Training on sessions that the policy plays: GSRPO (DynSess, equations 6 and 7), and GRPO on single turns.

In a step each persona is played several times from the same context. How much better a session is than the
others of its group is the advantage of all tokens that the policy sampled in it. GRPO is the same with
sessions of one turn, whose user says the same to the whole group.
"""

from __future__ import annotations

import math
import random
import statistics
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

import orjson

from dialogauge.core import UsageError, digest_text
from dialogauge.runs.records import json_line
from dialogauge.training.guards import RewardFigures, RewardGuard
from dialogauge.training.losses import (
    Advantages,
    SessionTokens,
    Tensor,
    group_advantages,
    gsrpo_loss,
    token_log_probs,
)
from dialogauge.training.masks import MaskedTokens
from dialogauge.training.plain import Padded, padded, train_plain
from dialogauge.training.policy import Policy
from dialogauge.training.rollouts import (
    PolicyModel,
    Rollout,
    RolloutPrompt,
    SessionPlayer,
)
from dialogauge.training.train_settings import OnlineSettings
from dialogauge.training.trl_backend import quietly, train_with_trl, trl_arguments, trl_silenced
from dialogauge.training.tuning import SESSIONS_FILE, Trained, TuneFolder, TuneJob

T = TypeVar("T")

_TRL_FIGURES: Final = {
    "loss": "loss",
    "learning_rate": "learning_rate",
    "kl": "kl",
    "clip_ratio/region_mean": "clip_share",
}


@dataclass(frozen=True, slots=True)
class PlayedBatch:
    """The sessions that some steps train on."""

    rollouts: Sequence[Rollout]
    advantages: Advantages
    figures: RewardFigures


class _GuardStop(Exception):
    """A guard ends the training after so many steps."""

    def __init__(self, reason: str, step: int) -> None:
        super().__init__(reason)
        self.step = step


@dataclass
class OnlineTrainer:
    """Plays, scores and trains; a `Trainer` of a tuning."""

    prompts: Sequence[RolloutPrompt]
    player: SessionPlayer
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    """Runs a coroutine to its end, in the loop that the clients of users and judges belong to."""
    single_turn: bool = False
    """Whether all sessions of a group hear the same message, and have one turn: GRPO."""

    def __call__(self, job: TuneJob, policy: Policy, folder: TuneFolder) -> Trained:
        """Train, and say what it came to.

        Raises UsageError where sessions do not come in groups, and where every session of a step failed.
        """
        settings = job.settings
        if not isinstance(settings, OnlineSettings):
            msg = f"no settings of training on sessions: {type(settings).__name__}"
            raise TypeError(msg)
        if settings.sessions % settings.group:
            msg = f"a step has {settings.sessions} sessions, which are no groups of {settings.group}"
            raise UsageError(msg, hint="make --batch-size times --accumulation a multiple of --group")
        # Updates are what the optimiser calls steps: checkpoints stand between two batches of sessions.
        steps = settings.total_steps(len(self.prompts))
        folder.updates = times = settings.iterations
        settings = replace(
            settings,
            steps=steps * times,
            log_every=settings.log_every * times,
            save_every=settings.save_every * times,
        )
        rounds = SessionRounds(self, settings, policy, folder)
        train = _train_trl if settings.backend == "trl" else _train_plain
        try:
            with trl_silenced():
                model, finished = train(rounds)
        except _GuardStop as stop:
            return Trained(model=rounds.model, counts=rounds.counts(stop.step), guard=str(stop))
        done = steps if finished else folder.last_checkpoint()[0] // times
        return Trained(model=model, counts=rounds.counts(done), finished=finished)


class SessionRounds:
    """The sessions of a training, batch by batch: played, scored, kept and watched."""

    def __init__(
        self, trainer: OnlineTrainer, settings: OnlineSettings, policy: Policy, folder: TuneFolder
    ) -> None:
        """Draw the prompts of all steps."""
        self.trainer, self.settings, self.policy, self.folder = trainer, settings, policy, folder
        self.updates = settings.total_steps(len(trainer.prompts))
        self.guard = RewardGuard(settings.reply_tokens)
        self.model: Any = policy.model
        """As it is trained."""
        order = _endless(len(trainer.prompts), settings.seed)
        groups = self.updates // settings.iterations * (settings.sessions // settings.group)
        self.numbers = [
            number for _, number in zip(range(groups), order, strict=False) for _ in range(settings.group)
        ]
        """Of the prompts of all sessions, step by step, each as often as a group has sessions."""

    def play(self, model: Any, numbers: Sequence[int], step: int) -> PlayedBatch:  # noqa: ANN401
        """Play a session for each prompt, and score it.

        Args:
            model: Samples.
            numbers: Of the prompts, each as often as a group has sessions.
            step: Counted from 0.

        Raises UsageError where every session failed.
        """
        s, player = self.settings, self.trainer.player
        prompts = [self.trainer.prompts[number] for number in numbers]
        names = [f"{p.persona}/{step + 1}.{i + 1}" for i, p in enumerate(prompts)]
        seeds = [int(digest_text(f"{s.seed}\x1f{name}")[:7], 16) for name in names]
        sampling = replace(s, turns=1) if self.trainer.single_turn else s
        playing = player.play(
            PolicyModel(model, self.policy.tokenizer, sampling),
            prompts,
            names,
            seeds,
            hear_the_same=s.group if self.trainer.single_turn else 1,
            ask_second=step % s.second_every == 0,
        )
        rollouts: list[Rollout] = self.trainer.run(playing)
        if all(r.reward is None for r in rollouts):
            first = next(r.failure.message for r in rollouts if r.failure is not None)
            msg = f"every session of step {step + 1} failed: {first}"
            raise UsageError(msg, hint="nothing was learned from them; mend simulator or judge, and go on")
        advantages = self._advantages(rollouts)
        figures = self._figures(rollouts, advantages, step)
        with (self.folder.path / SESSIONS_FILE).open("ab") as file:
            file.writelines(json_line({"step": step + 1, **r.to_row()}) for r in rollouts)
        if (reason := self.guard.observe(figures)) is not None:
            raise _GuardStop(reason, step)
        return PlayedBatch(rollouts, advantages, figures)

    def _advantages(self, rollouts: Sequence[Rollout]) -> Advantages:
        import torch

        rewards = [float("nan") if r.reward is None else r.reward for r in rollouts]
        return group_advantages(torch.tensor(rewards, device=self.policy.device), self.settings.group)

    def _figures(self, rollouts: Sequence[Rollout], advantages: Advantages, step: int) -> RewardFigures:
        lengths = [n for r in rollouts for n in r.tokens.replies]
        replies = max(len(lengths), 1)
        seconds = [statistics.fmean(r.second.values()) for r in rollouts if r.second]
        return RewardFigures(
            step + 1,
            statistics.fmean(r.reward for r in rollouts if r.reward is not None),
            sum(lengths) / replies,
            sum(r.truncated for r in rollouts) / replies,
            sum(r.repeated for r in rollouts) / replies,
            _length_pays(rollouts, self.settings.group),
            advantages.failed,
            advantages.flat + advantages.few,
            sum(r.tokens.dropped > 0 for r in rollouts),
            statistics.fmean(seconds) if seconds else None,
        )

    def counts(self, steps: int) -> dict[str, int]:
        """Return what a manifest says after so many steps: of all sessions, those before a stop included."""
        import torch

        counts, rewards = Counter({"prompts": len(self.trainer.prompts), "steps": steps}), list[float]()
        with (self.folder.path / SESSIONS_FILE).open("rb") as file:
            for line in file:
                row = orjson.loads(line)
                rewards.append(float("nan") if row["reward"] is None else row["reward"])
                counts["sessions whose oldest turns did not fit"] += row["dropped"] > 0
        of = group_advantages(torch.tensor(rewards), self.settings.group)
        counts["sessions"], counts["sessions without a score"] = len(rewards), of.failed
        counts["groups without spread"], counts["groups with too few scores"] = of.flat, of.few
        return {what: n for what, n in counts.items() if n or what == "steps"}


def _length_pays(rollouts: Sequence[Rollout], group: int) -> float | None:
    """Return how scores go with tokens within groups, from -1 to 1; None where either has no spread."""
    apart = list[tuple[float, float]]()
    for start in range(0, len(rollouts), group):
        scored = [
            (r.score, sum(r.tokens.replies)) for r in rollouts[start : start + group] if r.score is not None
        ]
        means = [statistics.fmean(of) for of in zip(*scored, strict=True)]
        apart += [(score - means[0], tokens - means[1]) for score, tokens in scored]
    scale = math.sqrt(math.prod(sum(x * x for x in of) for of in zip(*apart, strict=True)))
    return sum(a * b for a, b in apart) / scale if scale else None


def _endless(rows: int, seed: int) -> Iterator[int]:
    """Yield the places of rows, epoch by epoch, each in an order of its own."""
    epoch = 0
    while True:
        yield from random.Random(f"{seed} {epoch}").sample(range(rows), rows)
        epoch += 1


def _logged(figures: RewardFigures) -> dict[str, float]:
    """Return what the log holds of the sessions of a step."""
    values = asdict(figures)
    del values["step"]
    return {name: float(value) for name, value in values.items() if value is not None}


# In plain torch


@dataclass(frozen=True, slots=True)
class _SessionPart:
    """Sessions that are on the device at once."""

    tokens: Padded
    sampled: Tensor
    """Log probabilities when they were sampled."""
    reference: Tensor | None
    advantages: Advantages
    weight: float
    """By which the loss counts: sessions that are kept, by those of an average part."""
    figures: Mapping[str, float]


def _train_plain(rounds: SessionRounds) -> tuple[Any, bool]:
    import torch

    s, policy = rounds.settings, rounds.policy
    model = rounds.model = policy.with_adapter()
    reference = model if policy.adapter is not None else deepcopy(policy.model).eval()
    parts = list[_SessionPart]()

    def log_probs(of: Any, tokens: Padded) -> Tensor:  # noqa: ANN401
        with torch.autocast(policy.device, torch.bfloat16, enabled=policy.bf16):
            logits = of(input_ids=tokens.ids, attention_mask=tokens.attention, use_cache=False).logits
        return token_log_probs(logits / s.temperature, tokens.ids)

    def before(tokens: Padded) -> Tensor | None:
        if not s.beta:
            return None
        with model.disable_adapter() if policy.adapter is not None else nullcontext():
            return log_probs(reference, tokens)

    def played(update: int) -> list[_SessionPart]:
        step = update // s.iterations
        if parts and update % s.iterations:
            return parts
        batch = rounds.play(model, rounds.numbers[step * s.sessions : (step + 1) * s.sessions], step)
        average = max(float(batch.advantages.kept.sum()) / (s.sessions / s.batch_size), 1e-9)
        parts.clear()
        for start in range(0, s.sessions, s.batch_size):
            chosen = slice(start, start + s.batch_size)
            advantages = replace(
                batch.advantages,
                values=batch.advantages.values[chosen],
                kept=batch.advantages.kept[chosen],
            )
            tokens = padded([_tokens(r, policy) for r in batch.rollouts[chosen]], policy)
            with torch.no_grad():
                sampled, of_reference = log_probs(model, tokens), before(tokens)
            weight = float(advantages.kept.sum()) / average
            parts.append(
                _SessionPart(tokens, sampled, of_reference, advantages, weight, _logged(batch.figures))
            )
        return parts

    def objective(model: Any, part: _SessionPart) -> tuple[Tensor, Mapping[str, float]]:  # noqa: ANN401
        logs = log_probs(model, part.tokens)
        tokens = SessionTokens(logs, part.sampled, part.reference, part.tokens.mask[:, 1:])
        made = gsrpo_loss(tokens, part.advantages, clip=s.clip, beta=s.beta, kl_unbiased=s.kl_unbiased)
        figures = {"kl": made.kl.item(), "clip_share": made.clipped.item(), **part.figures}
        return made.loss * part.weight, figures

    finished = train_plain(model, played, objective, s, rounds.folder)
    return model, finished


def _tokens(rollout: Rollout, policy: Policy) -> MaskedTokens:
    """Return the tokens of a session; of one that failed before anything was sampled a single one."""
    tokens = rollout.tokens
    if not tokens.completion:
        end = policy.tokenizer.end_of_turn
        return MaskedTokens([end, end], [0, 0], 1)
    mask = [0] * len(tokens.prompt) + tokens.mask
    return MaskedTokens([*tokens.prompt, *tokens.completion], mask, len(tokens.prompt), tokens.dropped)


# By TRL


def _train_trl(rounds: SessionRounds) -> tuple[Any, bool]:
    """Train by TRL's own `GRPOTrainer`: what is ours are the sessions, their masks and their rewards."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
    s, policy = rounds.settings, rounds.policy
    arguments = trl_arguments(
        policy,
        s,
        rounds.folder,
        rounds.updates,
        num_generations=s.group,
        num_iterations=s.iterations,
        max_completion_length=s.turns * s.reply_tokens,
        temperature=s.temperature,
        epsilon=s.clip,
        beta=s.beta,
        use_bias_correction_kl=s.kl_unbiased,
        loss_type="grpo",
        scale_rewards="group",
        importance_sampling_level="token",
        shuffle_dataset=False,
    )
    trainer = quietly(GRPOTrainer)(
        model=policy.model,
        args=GRPOConfig(**arguments),
        processing_class=policy.tokenizer.tokenizer,
        train_dataset=Dataset.from_dict({"prompt": [str(number) for number in rounds.numbers[:: s.group]]}),
        reward_funcs=_reward,
        rollout_func=lambda prompts, trainer: _rolled_out(rounds, prompts, trainer),
        peft_config=policy.adapter,
    )
    rounds.model = trainer.model
    own = {f"sessions/{name}": name for name in RewardFigures.__dataclass_fields__}
    finished = train_with_trl(trainer, rounds.folder, {**_TRL_FIGURES, **own})
    return trainer.model, finished


def _rolled_out(rounds: SessionRounds, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:  # noqa: ANN401
    """Play the sessions of a step: `rollout_func` of TRL, which hands a prompt over for each of its sessions.

    A session that is left out, or whose group is, has no token that is trained on: neither its advantage
    nor its divergence counts.
    """
    group, policy = rounds.settings.group, rounds.policy
    groups = [set(prompts[i : i + group]) for i in range(0, len(prompts), group)]
    if len(prompts) % group or any(len(of) != 1 for of in groups):
        msg = f"TRL handed over {len(prompts)} prompts that do not stand in groups of {group} alike"
        raise UsageError(msg, hint="this version of TRL is not supported: pip install 'trl>=1.16,<2'")
    with _generating(trainer) as model:
        step = trainer.state.global_step // rounds.settings.iterations
        batch = rounds.play(model, [int(prompt) for prompt in prompts], step)
    kept = batch.advantages.kept.tolist()
    nothing = MaskedTokens([policy.tokenizer.end_of_turn] * 2, [0, 0], 1)
    encoded = [_tokens(r, policy) if k else nothing for r, k in zip(batch.rollouts, kept, strict=True)]
    return {
        "prompt_ids": [e.ids[: e.prefix] for e in encoded],
        "completion_ids": [e.ids[e.prefix :] for e in encoded],
        "env_mask": [e.mask[e.prefix :] for e in encoded],
        "logprobs": None,
        "reward": [r.reward for r in batch.rollouts],
        "figures": [_logged(batch.figures)] * len(encoded),
    }


def _reward(
    *,
    reward: Sequence[float | None],
    figures: Sequence[Mapping[str, float]],
    log_metric: Callable[[str, float], None],
    **kwargs: object,
) -> list[float | None]:
    """Return what the sessions were worth: None where there is no score, which TRL leaves out."""
    del kwargs
    for name, value in figures[0].items():
        log_metric(f"sessions/{name}", value)
    return list(reward)


@contextmanager
def _generating(trainer: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the model of a trainer as it can sample, whatever it is wrapped in."""
    from trl.models import unwrap_model_for_generation

    gather = trainer.args.ds3_gather_for_generation
    with unwrap_model_for_generation(
        trainer.model_wrapped, trainer.accelerator, gather_deepspeed3_params=gather
    ) as model:
        yield model
