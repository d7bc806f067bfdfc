"""Files for TRL, verl and OpenRLHF, and configurations that run with them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.training.targets.shards import (
    FITS,
    Row,
    SessionReward,
    TargetFiles,
    place,
    write_lines,
    write_parquet,
)

_COMMANDS: Final[Mapping[str, str]] = {"sft": "sft", "dpo": "dpo", "segment": "dspo", "rl": "gsrpo"}
"""By kind of rows what `dialogauge tune` does with them."""
_REPLY_TOKENS, _USER_TOKENS, _PROMPT_TOKENS = 256, 96, 4_096
"""Of a reply, of what the user says between two, and of a prompt, at most."""


def write_trl(to: TargetFiles) -> dict[str, Path]:
    """Write the rows as they are, and a configuration of accelerate for several GPUs."""
    write_lines(to.out, map(_with_tools_as_text, to.rows))
    files = {"data": to.out}
    if to.kind == "active" or not to.configured:
        return files
    accelerate = to.beside("accelerate.yaml")
    if to.kind in _COMMANDS:
        command = ["dialogauge", "tune", _COMMANDS[to.kind], "--model", to.names["model"]]
        command += ["--data", to.out.name, "-o", to.names["tuned"]]
        if to.reward is not None:
            command += ["--rubric", to.reward.rubric, "--turns", str(to.reward.turns)]
            command += [] if to.reward.weights is None else ["--weights", to.reward.weights]
    else:
        kto = to.beside("kto.yaml")
        names = {**to.names, "file": kto.name, "data": to.out.name, "accelerate": accelerate.name}
        files["config"] = place("kto.yaml", kto, names)
        command = ["trl.scripts.kto", "--config", kto.name]
    line = shlex.join(["accelerate", "launch", "--config_file", accelerate.name, "-m", *command])
    return {**files, "accelerate": place("accelerate.yaml", accelerate, lines={"command": line})}


def _with_tools_as_text(row: Row) -> Row:
    """Return a row with its tools as JSON: a column of objects has the same keys in all rows."""
    return {**row, "tools": json.dumps(row["tools"], ensure_ascii=False)} if row.get("tools") else row


def write_verl(to: TargetFiles) -> dict[str, Path]:
    """Write Parquet and a configuration; for RL also the loop of sessions, and who plays and judges."""
    data, config = to.out.with_suffix(".parquet"), to.beside("verl.yaml")
    names = {**to.names, "name": to.out.stem, "file": data.name}
    if to.kind == "sft":
        write_parquet(data, to.kept(_plain_dialogue), {"messages": "messages"})
    else:
        write_parquet(data, map(_verl_prompt, to.rows, count()), _VERL_PROMPT)
    if not to.configured:
        return {"data": data}
    if to.kind == "sft":
        return {"data": data, "config": place("verl_sft.yaml", config, names)}
    roles, loop = place("roles.toml", to.beside("roles.toml")), to.beside("verl_loop.yaml")
    reward = to.reward or SessionReward()
    lengths = {"turns": str(reward.turns), "length": str(_response_tokens(reward))}
    own = {"roles": roles.name, "rubric": reward.rubric}
    weights = json.dumps(reward.weights)
    return {
        "data": data,
        "config": place("verl_rl.yaml", config, {**names, "loop": loop.name}, lines=lengths),
        "loop": place("verl_loop.yaml", loop, own, lines={**lengths, "weights": weights}),
        "roles": roles,
    }


def _response_tokens(reward: SessionReward) -> int:
    """Return how many tokens a session takes behind its prompt, at most."""
    return reward.turns * _REPLY_TOKENS + (reward.turns - 1) * _USER_TOKENS


_VERL_PROMPT: Final[Mapping[str, Any]] = {
    "data_source": "text",
    "prompt": "messages",
    "reward_model": {"style": "text", "ground_truth": "text"},
    "extra_info": {"index": "whole", "scenario": "text", "persona_id": "text"},
}
"""The columns that verl asks for. A scenario is JSON: Parquet would give those of all rows the same keys."""


def _verl_prompt(row: Row, number: int) -> dict[str, Any]:
    scenario = orjson.dumps(row["scenario"]).decode()
    return {
        "data_source": "dialogauge",
        "prompt": row["prompt"],
        "reward_model": {"style": "session", "ground_truth": ""},
        "extra_info": {"index": number, "scenario": scenario, "persona_id": row["persona_id"]},
    }


def write_openrlhf(to: TargetFiles) -> dict[str, Path]:
    """Write JSON lines and the command; for RL also what plays the sessions, and who plays and judges."""
    script = to.beside("openrlhf.sh")
    names = {**to.names, "file": to.out.name, "script": script.name}
    policy = '"${1:?the folder of the model}"' if to.model is None else shlex.quote(to.names["model"])
    lines = {"argument": " DIR" if to.model is None else "", "policy": policy}
    write_lines(to.out, to.kept(_plain_dialogue) if to.kind == "sft" else map(_openrlhf_prompt, to.rows))
    if not to.configured:
        return {"data": to.out}
    if to.kind == "sft":
        return {"data": to.out, "config": place("openrlhf_sft.sh", script, names, lines=lines)}
    roles, agent = place("roles.toml", to.beside("roles.toml")), to.beside("agent.py")
    reward = to.reward or SessionReward()
    fits = str(max(FITS, _PROMPT_TOKENS + _response_tokens(reward)))
    own = {"roles": roles.name, "rubric": reward.rubric}
    scored = {"turns": str(reward.turns), "weights": repr(reward.weights)}
    return {
        "data": to.out,
        "config": place(
            "openrlhf_rl.sh", script, {**names, "agent": agent.name}, lines={**lines, "fits": fits}
        ),
        "agent": place("openrlhf_agent.py.txt", agent, own, lines=scored),
        "roles": roles,
    }


def _openrlhf_prompt(row: Row) -> dict[str, Any]:
    label = {"prompt": row["prompt"], "scenario": row["scenario"]}
    return {"prompt": row["prompt"], "label": orjson.dumps(label).decode(), "datasource": "dialogauge"}


def _plain_dialogue(row: Row) -> dict[str, Any] | str:
    """Return role and content of the messages; why not, where tools are in play."""
    if row.get("tools") or any(m["role"] == "tool" or m.get("tool_calls") for m in row["messages"]):
        return "tools: the reader takes role and content of a message alone"
    return {"messages": [{"role": m["role"], "content": m["content"]} for m in row["messages"]]}
