"""Training on rows, on the toy: parity with TRL, what the mask is worth, margins, CPU and memory.

    python -m benchmarks.tuning offline [FOLDER]
    python -m benchmarks.tuning online [FOLDER] [PART...]

Margins are measured on held-out characters, on the tokens of the character. The learning rate was chosen on
characters that are trained on.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.plain_loop import plain_offline
from benchmarks.toy_roleplay import HELD_OUT, TRAIN, build_policy, segment_pairs
from dialogauge.training import PairSettings, Policy, TuneFolder, TuneJob, load_policy, train_offline, tune
from dialogauge.training.offline import OfflineObjective, encoded_rows, pair_trainer
from dialogauge.training.trl_backend import trl_arguments, trl_silenced

RATE = 1e-3
"""Chosen among 2e-4, 5e-4, 1e-3 and 2e-3 by the loss on new pairs of the training characters."""
STEPS = 60


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def settings_of(**changes: object) -> PairSettings:
    return PairSettings(
        **{"learning_rate": RATE, "steps": STEPS, "save_every": 1000, "precision": "fp32", **changes}
    )


def stock_trainer(policy: Policy, settings: PairSettings, folder: TuneFolder, file: Path) -> Any:  # noqa: ANN401
    """Return TRL's own trainer on the same rows: all that follows the prompt is trained on."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [row for row in rows if row["score_chosen"] > row["score_rejected"]]
    columns = [{key: row[key] for key in ("prompt", "chosen", "rejected")} for row in rows]
    arguments = trl_arguments(policy, settings, folder, settings.total_steps(len(rows)), max_length=None)
    return DPOTrainer(
        model=policy.model,
        args=DPOConfig(**arguments, beta=settings.beta),
        train_dataset=Dataset.from_list(columns),
        processing_class=policy.tokenizer.tokenizer,
    )


def parity(policy: Policy, rows: list[Any], folder: TuneFolder) -> float:
    """Return how far TRL's loss and ours are apart on one batch of a policy that has moved."""
    from copy import deepcopy

    import torch

    settings = settings_of(steps=1)
    objective = OfflineObjective(policy, settings, deepcopy(policy.model).eval())
    trainer = pair_trainer(objective, folder, rows[:8], 1)
    torch.manual_seed(1)
    with torch.no_grad():
        for weights in policy.model.parameters():
            weights.add_(0.02 * torch.randn_like(weights))
    ours, _ = objective(policy.model.eval(), rows[:8])
    examples = [trainer.train_dataset[i] for i in range(8)]
    theirs = trainer.compute_loss(trainer.model.eval(), trainer.data_collator(examples))
    print(f"  loss of TRL {theirs.item():.7f}, ours {ours.item():.7f}")
    return abs(ours.item() - theirs.item())


def offline(base: Path) -> None:
    """Print the figures of training on rows."""
    started = time.process_time()
    model = build_policy(base / "policy")
    print(f"policy: {time.process_time() - started:.0f} s of CPU")
    train = written(base / "train.jsonl", segment_pairs(TRAIN, 512, seed=1))
    held_out = written(base / "held_out.jsonl", segment_pairs(HELD_OUT, 64, seed=2))
    job = TuneJob(method="dspo", settings=settings_of(steps=12), model=model, data=train, held_out=held_out)
    started = time.process_time()
    with trl_silenced():
        policy = load_policy(model, job.settings, "cpu")
        rows = encoded_rows(train, "dspo", policy.tokenizer).rows
        measured = encoded_rows(held_out, "dspo", policy.tokenizer)
        gap = parity(policy, rows, TuneFolder(base / "parity"))
        print(f"parity of DSPO: {gap:.1e} (at most 1e-6)")
        margins, seconds = {}, {}
        for name in ("masked", "stock"):
            policy, folder = load_policy(model, job.settings, "cpu"), TuneFolder(base / name)
            reference = load_policy(model, job.settings, "cpu").model.eval()
            objective = OfflineObjective(policy, job.settings, reference)
            if name == "masked":
                trainer = pair_trainer(objective, folder, rows, 12)
            else:
                trainer = stock_trainer(policy, job.settings, folder, train)
            begun = time.process_time()
            trainer.train()
            seconds[name] = (time.process_time() - begun) / 12
            margins[name] = objective.measure(trainer.model, measured)["margin"].value
    ratio = margins["masked"] / margins["stock"]
    print(f"margin after 12 steps: {margins['masked']:.3f}, stock {margins['stock']:.3f}: {ratio:.2f} (2)")
    cost = seconds["masked"] / seconds["stock"]
    print(f"CPU of a step: {seconds['masked']:.3f} s, stock {seconds['stock']:.3f} s: {cost:.2f} (1.15)")
    for loop, train_rows in (("trl", train_offline), ("plain", plain_offline)):
        job = TuneJob(method="dspo", settings=settings_of(), model=model, data=train, held_out=held_out)
        begun = time.process_time()
        manifest = tune(job, train_rows, TuneFolder(base / loop), fresh=True)
        after = {name: of.value for name, of in manifest.after.items()}
        print(
            f"{loop}, {STEPS} steps: margin {after['margin']:.2f} (3), accuracy {after['accuracy']:.3f} "
            f"(.9), reward of the winner {after['reward_chosen']:.2f}, divergence {after['kl']:.2f}, "
            f"{time.process_time() - begun:.0f} s of CPU (60)"
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"all: {time.process_time() - started:.0f} s of CPU, {memory:.2f} GB (1)")


if __name__ == "__main__":
    assert sys.argv[1:2] in (["offline"], ["online"]), __doc__
    with TemporaryDirectory() as folder:
        base = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder)
        if sys.argv[1] == "offline":
            offline(base)
        else:
            from benchmarks.tuning_online import online

            online(base, sys.argv[3:] or ("gsrpo", "guard", "dspo"))
