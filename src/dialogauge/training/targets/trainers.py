"""Files for TRL, verl and OpenRLHF, and configurations that run with them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.training.targets.shards import LeftOut, Row, model_folder, place, write_lines, write_parquet

_COMMANDS: Final[Mapping[str, str]] = {"sft": "sft", "dpo": "dpo", "segment": "dspo", "rl": "gsrpo"}
"""By kind of rows what `dialogauge tune` does with them."""
_TURNS: Final = 10
"""Of a session, as in DynSess."""


def write_trl(
    kind: str, rows: Iterable[Row], out: Path, model: Path | None, left_out: LeftOut
) -> dict[str, Path]:
    """Write the rows as they are, and a configuration of accelerate for several GPUs."""
    del left_out
    write_lines(out, rows)
    if kind == "active":
        return {"data": out}
    accelerate, tuned = out.with_name(f"{out.stem}.accelerate.yaml"), f"{out.stem}.tuned"
    files, folder = {"data": out}, model_folder(model)
    if kind in _COMMANDS:
        command = ["dialogauge", "tune", _COMMANDS[kind], "--model", folder, "--data", out.name, "-o", tuned]
    else:
        kto = out.with_name(f"{out.stem}.kto.yaml")
        names = {"file": kto.name, "data": out.name, "model": folder, "tuned": tuned}
        files["config"] = place("kto.yaml", kto, {**names, "accelerate": accelerate.name})
        command = ["trl.scripts.kto", "--config", kto.name]
    line = shlex.join(["accelerate", "launch", "--config_file", accelerate.name, "-m", *command])
    return {**files, "accelerate": place("accelerate.yaml", accelerate, lines={"command": line})}


def write_verl(
    kind: str, rows: Iterable[Row], out: Path, model: Path | None, left_out: LeftOut
) -> dict[str, Path]:
    """Write Parquet and a configuration; for RL also the loop of sessions, and who plays and judges."""
    data, config = out.with_suffix(".parquet"), out.with_name(f"{out.stem}.verl.yaml")
    names = {"name": out.stem, "file": data.name, "tuned": f"{out.stem}.tuned", "model": model_folder(model)}
    if kind == "sft":
        write_parquet(data, left_out.kept(rows, _plain_dialogue), {"messages": "messages"})
        return {"data": data, "config": place("verl_sft.yaml", config, names)}
    write_parquet(data, map(_verl_prompt, rows, count()), _VERL_PROMPT)
    roles = place("roles.toml", out.with_name(f"{out.stem}.roles.toml"))
    loop = out.with_name(f"{out.stem}.verl_loop.yaml")
    return {
        "data": data,
        "config": place("verl_rl.yaml", config, {**names, "loop": loop.name}),
        "loop": place("verl_loop.yaml", loop, {"roles": roles.name, "turns": _TURNS}),
        "roles": roles,
    }


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


def write_openrlhf(
    kind: str, rows: Iterable[Row], out: Path, model: Path | None, left_out: LeftOut
) -> dict[str, Path]:
    """Write JSON lines and the command; for RL also what plays the sessions, and who plays and judges."""
    del model  # the command asks for it
    script = out.with_name(f"{out.stem}.openrlhf.sh")
    names = {"tuned": f"{out.stem}.tuned", "file": out.name, "script": script.name}
    if kind == "sft":
        write_lines(out, left_out.kept(rows, _plain_dialogue))
        return {"data": out, "config": place("openrlhf_sft.sh", script, names)}
    write_lines(out, map(_openrlhf_prompt, rows))
    roles = place("roles.toml", out.with_name(f"{out.stem}.roles.toml"))
    agent = out.with_name(f"{out.stem}.agent.py")
    return {
        "data": out,
        "config": place("openrlhf_rl.sh", script, {**names, "agent": agent.name}),
        "agent": place("openrlhf_agent.py.txt", agent, {"roles": roles.name, "turns": _TURNS}),
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
