"""The loop closed on the toy: simulate, judge, search, rows, five ways of training, and judge again.

    python -m benchmarks.training_loop [FOLDER]

Two candidates: the policy of the toy, and one that was trained for a third of the time. User and judges are
functions (`benchmarks/toy_roles.py`). All is done by the commands of dialogauge, as a user would do it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.toy_roleplay import HELD_OUT, TRAIN, Character, build_policy
from benchmarks.toy_roles import write_rubric
from dialogauge.agents.personas import scenario_json

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = "py:benchmarks.toy_roles"
POOL = "--candidate strong=file:toy --candidate weak=file:weak"
USER = f"--role simulator={FUNCTIONS}:user"
JUDGE = f"--role judge={FUNCTIONS}:judge"
ROLES = f"{USER} {JUDGE} --role second={FUNCTIONS}:second --rubric toy.toml"
TUNE = f"--model toy {ROLES} --device cpu --max-length 600 --reply-tokens 20 --turns 3 --unchecked"
OFFLINE = f"{TUNE} --held-out-personas held.jsonl --learning-rate 5e-4 --steps 40"
ONLINE = f"{TUNE} --held-out held.jsonl --learning-rate 3e-4 --batch-size 16"
COMMANDS = f"""
simulate train.jsonl {POOL} {USER} --turns 3 -o sessions
judge sessions {JUDGE} --rubric toy.toml --unchecked -o judged
lookahead train.jsonl {POOL} {USER} {JUDGE} --rubric toy.toml --segments 2 --segment-turns 3 -o search
pairs search --kind segment --unchecked -o segment.jsonl
pairs search --kind sft --unchecked -o sft.jsonl
pairs search --kind rl --unchecked -o rl.jsonl
simulate train.jsonl --candidate strong=file:toy {USER} --turns 1 --sessions-per 4 -o strong-turns
simulate train.jsonl --candidate weak=file:weak {USER} --turns 1 --sessions-per 4 -o weak-turns
judge strong-turns {JUDGE} --rubric toy-turn.toml --unchecked -o strong-judged
judge weak-turns {JUDGE} --rubric toy-turn.toml --unchecked -o weak-judged
pairs strong-judged weak-judged --kind dpo --unchecked -o dpo.jsonl
tune sft --data sft.jsonl {OFFLINE} -o sft
tune dpo --data dpo.jsonl {OFFLINE} -o dpo
tune dspo --data segment.jsonl {OFFLINE} -o dspo
tune grpo --data rl.jsonl {ONLINE} --steps 20 -o grpo
tune gsrpo --data rl.jsonl {ONLINE} --steps 30 -o gsrpo
tune compare sft dpo dspo grpo gsrpo -o compared
simulate held.jsonl --candidate gsrpo=file:gsrpo --candidate strong=file:toy {USER} --turns 3 -o after
judge after {JUDGE} --rubric toy.toml --unchecked -o after-judged
"""


def scenarios(path: Path, characters: Iterable[Character]) -> Path:
    path.write_text("".join(json.dumps(scenario_json(c.scenario)) + "\n" for c in characters))
    return path


def main(folder: Path) -> None:
    """Do all of it; a command that fails ends the loop with what it said."""
    build_policy(folder / "weak", steps=200, seed=1)
    build_policy(folder / "toy", steps=600)
    scenarios(folder / "train.jsonl", TRAIN[::3])
    scenarios(folder / "held.jsonl", HELD_OUT)
    write_rubric(folder / "toy.toml", "conversation")
    write_rubric(folder / "toy-turn.toml", "turn")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "HF_HUB_OFFLINE": "1"}
    for command in COMMANDS.strip().splitlines():
        print(f"\n$ dialogauge {command}", flush=True)
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "dialogauge", *command.split()], cwd=folder, env=environment, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        print(done.stdout, done.stderr[-1500:], f"exit {done.returncode}, {time.monotonic() - started:.0f} s")
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with TemporaryDirectory() as temporary:
            main(Path(temporary))
