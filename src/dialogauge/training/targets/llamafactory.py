"""Files for LLaMA-Factory: ShareGPT rows; and token ids with labels, which alone can hold a segment.

Its own format of pairs has one reply a side. A pair in tokens goes past it (`tokenized_path`): its DPO sums
over the labels, which makes it the loss of DynSess, equation 5, unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from dialogauge.core import DialogueTooLong, FileFault, Place
from dialogauge.core.files import read_text, shown_path
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_document
from dialogauge.training.masks import DialogueTokenizer, MaskedTokens, load_dialogue_tokenizer
from dialogauge.training.targets.alternating import dialogue, reply_pair
from dialogauge.training.targets.shards import (
    LeftOut,
    Reshape,
    Row,
    model_folder,
    place,
    write_dataset,
    write_lines,
)

FITS: Final = 8_192
"""Tokens of a row."""
_INFO: Final = "dataset_info.json"
_STAGES: Final = {
    "sft": "stage: sft\nnum_train_epochs: 1\nlearning_rate: 1.0e-5",
    "dpo": "stage: dpo\npref_beta: 0.1\npref_loss: sigmoid\nnum_train_epochs: 2\nlearning_rate: 1.0e-6",
}
_TEMPLATE: Final = "The turns are written by the model's chat template; template: NAME chooses another."
_TOKENS: Final = "Token ids and labels are those of the model's tokenizer: they fit this model alone."
_TOOLS: Final = "tools: LLaMA-Factory writes calls as its own template does; name the model for its tokens"
_COLUMNS: Final = {"messages": "conversations", "system": "system", "tools": "tools"}


def write_text(kind: str, rows: Iterable[Row], out: Path, left_out: LeftOut) -> dict[str, Path]:
    """Write SFT rows and pairs of replies as ShareGPT has them, `dataset_info.json`, and a configuration."""
    reshape = dialogue if kind == "sft" else reply_pair
    write_lines(out, left_out.kept(rows, lambda row: _TOOLS if _with_tools(row) else reshape(row)))
    entry: dict[str, Any] = {"file_name": out.name, "formatting": "sharegpt", "columns": dict(_COLUMNS)}
    if kind == "dpo":
        entry["ranking"] = True
        entry["columns"] |= {"chosen": "chosen", "rejected": "rejected"}
    name = out.stem.replace(",", "_")  # a comma stands between two
    info = _described(out.with_name(_INFO), name, entry)
    data = f"dataset_dir: .\ndataset: {json.dumps(name)}"
    return {"data": out, "description": info, **_configured(kind, out, None, data, _TEMPLATE)}


def _with_tools(row: Row) -> bool:
    messages = row.get("messages") or row["prompt"]
    return bool(row.get("tools")) or any(m.get("tool_calls") or m["role"] == "tool" for m in messages)


def write_tokens(
    kind: str, rows: Iterable[Row], out: Path, model: Path, left_out: LeftOut
) -> dict[str, Path]:
    """Write rows in tokens, as a folder that `tokenized_path` reads, and a configuration.

    Raises UsageError where the template of the model's tokenizer does not do.
    """
    reshape = _in_tokens(kind, load_dialogue_tokenizer(model, FITS), left_out)
    parts = ("",) if kind == "sft" else ("chosen_", "rejected_")
    columns: dict[str, str] = {}
    for part in parts:
        columns |= {f"{part}input_ids": "ids", f"{part}attention_mask": "bits", f"{part}labels": "ids"}
    folder = out.with_name(f"{out.stem}.tokens")
    write_dataset(folder, left_out.kept(rows, reshape), columns)
    # A data set must be named, and is not looked for where tokens are.
    data = f"dataset: tokens\ntokenized_path: {json.dumps(folder.name)}"
    return {"data": folder, **_configured(kind, out, model, data, _TOKENS)}


def _in_tokens(kind: str, tokenizer: DialogueTokenizer, left_out: LeftOut) -> Reshape:
    """Return what makes a row of token ids, and counts the turns that do not fit."""

    def reshape(row: Row) -> dict[str, Any] | str:
        tools = row.get("tools")
        try:
            if kind == "sft":
                sides = {"": tokenizer.encode(row["messages"], tools=tools)}
            else:
                pair = tokenizer.pair(row["prompt"], row["chosen"], row["rejected"], tools=tools)
                sides = dict(zip(("chosen_", "rejected_"), pair, strict=True))
        except DialogueTooLong:
            return f"more than {FITS:,} tokens, without the oldest turns too"
        left_out.turns += max(side.dropped for side in sides.values())
        return {name: value for part, side in sides.items() for name, value in _tokens(part, side).items()}

    return reshape


def _tokens(part: str, tokens: MaskedTokens) -> dict[str, Any]:
    seen = [1] * len(tokens.ids)
    return {
        f"{part}input_ids": tokens.ids,
        f"{part}attention_mask": seen,
        f"{part}labels": tokens.labels,
    }


def _described(file: Path, name: str, entry: dict[str, Any]) -> Path:
    """Add a data set to `dataset_info.json`, which may describe others."""
    described: Any = {}
    if file.exists():
        try:
            described = json.loads(read_text(file, "description of data sets", FileFault))
        except (ValueError, RecursionError):
            described = None
    if not isinstance(described, dict):
        msg = "this is no description of data sets of LLaMA-Factory"
        raise FileFault(msg, place=Place(shown_path(file)), hint="move it away, or write to another folder")
    write_whole(file, [json_document({**described, name: entry})])
    return file


def _configured(kind: str, out: Path, model: Path | None, data: str, note: str) -> dict[str, Path]:
    zero3 = place("zero3.json", out.with_name(f"{out.stem}.zero3.json"))
    target = out.with_name(f"{out.stem}.llamafactory.yaml")
    stage = _STAGES["sft" if kind == "sft" else "dpo"]
    lines = {"note": note, "data": data, "stage": stage, "other": "" if model else " model_name_or_path=DIR"}
    names = {"file": target.name, "zero3": zero3.name, "tuned": f"{out.stem}.tuned"}
    config = place("llamafactory.yaml", target, {**names, "model": model_folder(model)}, lines=lines)
    return {"config": config, "deepspeed": zero3}
