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
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, count, islice
from typing import Any

import orjson

from dialogauge.core import UsageError, digest_text
from dialogauge.runs.records import json_line
from dialogauge.training.guards import RewardFigures, RewardGuard
from dialogauge.training.losses import Advantages, group_advantages
from dialogauge.training.policy import Policy
from dialogauge.training.rollouts import PolicyModel, Rollout, RolloutPrompt, SessionPlayer
from dialogauge.training.train_settings import OnlineSettings
from dialogauge.training.trl_backend import PLAYED, quietly, train_with_trl, trl_arguments, trl_silenced
from dialogauge.training.tuning import SESSIONS_FILE, Trained, TuneFolder, TuneJob


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
        rounds = SessionRounds(self, settings, policy, folder)
        try:
            with trl_silenced():
                finished = self.train(rounds)
        except _GuardStop as stop:
            return Trained(model=rounds.model, counts=rounds.counts(stop.step), guard=str(stop))
        done = rounds.steps if finished else folder.last_checkpoint()[0] // settings.iterations
        return Trained(model=rounds.model, counts=rounds.counts(done), finished=finished)

    def train(self, rounds: SessionRounds) -> bool:
        """Train by TRL's own `GRPOTrainer`, and say whether it came to the last step.

        What is ours are the sessions, their masks and their rewards.
        """
        from datasets import Dataset
        from trl import GRPOConfig, GRPOTrainer

        warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
        s, policy, times = rounds.settings, rounds.policy, rounds.settings.iterations
        arguments = trl_arguments(
            policy,
            s,
            rounds.folder,
            rounds.steps * times,
            logging_steps=s.log_every * times,
            save_steps=s.save_every * times,
            num_generations=s.group,
            num_iterations=times,
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
            train_dataset=Dataset.from_dict({"prompt": [str(n) for n in rounds.numbers[:: s.group]]}),
            reward_funcs=_reward,
            rollout_func=partial(_rolled_out, rounds),
            peft_config=policy.adapter,
        )
        rounds.model = trainer.model
        return train_with_trl(trainer, rounds.folder)


class SessionRounds:
    """The sessions of a training, batch by batch: played, scored, kept and watched."""

    def __init__(
        self, trainer: OnlineTrainer, settings: OnlineSettings, policy: Policy, folder: TuneFolder
    ) -> None:
        """Draw the prompts of all steps."""
        self.trainer, self.settings, self.policy, self.folder = trainer, settings, policy, folder
        # Updates are what the optimiser calls steps: checkpoints stand between two batches of sessions.
        folder.updates = settings.iterations
        self.steps = settings.total_steps(len(trainer.prompts))
        """Batches of sessions."""
        self.guard = RewardGuard(settings.reply_tokens)
        self.model: Any = policy.model
        """As it is trained."""
        rows, groups = len(trainer.prompts), self.steps * (settings.sessions // settings.group)
        epochs = (random.Random(f"{settings.seed} {i}").sample(range(rows), rows) for i in count())
        drawn = islice(chain.from_iterable(epochs), groups)  # each epoch in an order of its own
        self.numbers = [number for number in drawn for _ in range(settings.group)]
        """Of the prompts of all sessions, step by step, each as often as a group has sessions."""

    def play(
        self,
        model: Any,  # noqa: ANN401
        numbers: Sequence[int],
        step: int,
    ) -> tuple[list[Rollout], Advantages, dict[str, float]]:
        """Play a session for each prompt, score it, and return what the log holds of them beside.

        Args:
            model: Samples.
            numbers: Of the prompts, each as often as a group has sessions.
            step: Counted from 0.

        Raises UsageError where every session failed.
        """
        import torch

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
        rewards = [float("nan") if r.reward is None else r.reward for r in rollouts]
        advantages = group_advantages(torch.tensor(rewards, device=self.policy.device), s.group)
        figures = self._figures(rollouts, advantages, step)
        with (self.folder.path / SESSIONS_FILE).open("ab") as file:
            file.writelines(json_line({"step": step + 1, **r.to_row()}) for r in rollouts)
        if (reason := self.guard.observe(figures)) is not None:
            raise _GuardStop(reason, step)
        logged = {name: float(n) for name, n in asdict(figures).items() if n is not None and name != "step"}
        return rollouts, advantages, logged

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


def _rolled_out(rounds: SessionRounds, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:  # noqa: ANN401
    """Play the sessions of a step: `rollout_func` of TRL, which hands a prompt over for each of its sessions.

    A session that is left out, or whose group is, has no token that is trained on: neither its advantage
    nor its divergence counts.
    """
    from trl.models import unwrap_model_for_generation

    group, policy = rounds.settings.group, rounds.policy
    groups = [set(prompts[i : i + group]) for i in range(0, len(prompts), group)]
    if len(prompts) % group or any(len(of) != 1 for of in groups):
        msg = f"TRL handed over {len(prompts)} prompts that do not stand in groups of {group} alike"
        raise UsageError(msg, hint="this version of TRL is not supported: pip install 'trl>=1.16,<2'")
    gather = trainer.args.ds3_gather_for_generation
    wrapped = trainer.model_wrapped, trainer.accelerator
    with unwrap_model_for_generation(*wrapped, gather_deepspeed3_params=gather) as model:
        step = trainer.state.global_step // rounds.settings.iterations
        rollouts, advantages, figures = rounds.play(model, [int(prompt) for prompt in prompts], step)
    end, kept = [policy.tokenizer.end_of_turn], advantages.kept.tolist()
    tokens = [
        (r.tokens.prompt, r.tokens.completion, r.tokens.mask) if k else (end, end, [0])
        for r, k in zip(rollouts, kept, strict=True)
    ]
    prompt_ids, completion_ids, masks = (list(of) for of in zip(*tokens, strict=True))
    return {
        "prompt_ids": prompt_ids,
        "completion_ids": completion_ids,
        "env_mask": masks,
        "logprobs": None,
        "reward": [r.reward for r in rollouts],
        "figures": [figures] * len(rollouts),
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
        log_metric(PLAYED + name, value)
    return list(reward)
