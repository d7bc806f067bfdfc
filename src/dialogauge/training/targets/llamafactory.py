"""Files for LLaMA-Factory: ShareGPT rows; and token ids with labels, which alone can hold a segment.

Its own format of pairs has one reply a side. A pair in tokens goes past it (`tokenized_path`): its DPO sums
over the labels, which makes it the loss of DynSess, equation 5, unchanged.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dialogauge.core import DialogueTooLong, FileFault, Place
from dialogauge.core.files import read_text, shown_path
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_document
from dialogauge.training.masks import MaskedTokens, load_dialogue_tokenizer
from dialogauge.training.targets.alternating import dialogue, reply_pair
from dialogauge.training.targets.shards import FITS, Row, TargetFiles, place, write_dataset, write_lines

_INFO: Final = "dataset_info.json"
_STAGES: Final = {
    "sft": "stage: sft\nnum_train_epochs: 1\nlearning_rate: 1.0e-5",
    "dpo": "stage: dpo\npref_beta: 0.1\npref_loss: sigmoid\nnum_train_epochs: 2\nlearning_rate: 1.0e-6",
}
_TEMPLATE: Final = "The turns are written by the model's chat template; template: NAME chooses another."
_TOKENS: Final = "Token ids and labels are those of the model's tokenizer: they fit this model alone."
_TOOLS: Final = "tools: LLaMA-Factory writes calls as its own template does; name the model for its tokens"
_COLUMNS: Final = {"messages": "conversations", "system": "system", "tools": "tools"}


def write_llamafactory(to: TargetFiles) -> dict[str, Path]:
    """Write tokens where the model is named, else text as ShareGPT has it; and a configuration.

    Raises UsageError where the template of the model's tokenizer does not do.
    """
    written, data = _write_text(to) if to.model is None else _write_tokens(to, to.model)
    if not to.configured:
        return written
    zero3, target = place("zero3.json", to.beside("zero3.json")), to.beside("llamafactory.yaml")
    lines = {
        "note": _TOKENS if to.model else _TEMPLATE,
        "data": data,
        "stage": _STAGES["sft" if to.kind == "sft" else "dpo"],
        "other": "" if to.model else " model_name_or_path=DIR",
    }
    names = {**to.names, "file": target.name, "zero3": zero3.name}
    config = place("llamafactory.yaml", target, names, lines=lines)
    return {**written, "config": config, "deepspeed": zero3}


def _write_text(to: TargetFiles) -> tuple[dict[str, Path], str]:
    """Write SFT rows and pairs of replies; return the files, and the lines that name the data."""
    reshape = dialogue if to.kind == "sft" else reply_pair
    write_lines(to.out, to.kept(lambda row: _TOOLS if _with_tools(row) else reshape(row)))
    entry: dict[str, Any] = {"file_name": to.out.name, "formatting": "sharegpt", "columns": dict(_COLUMNS)}
    if to.kind == "dpo":
        entry["ranking"] = True
        entry["columns"] |= {"chosen": "chosen", "rejected": "rejected"}
    name = to.out.stem.replace(",", "_")  # a comma stands between two
    info = _described(to.out.with_name(_INFO), name, entry)
    return {"data": to.out, "description": info}, f"dataset_dir: .\ndataset: {json.dumps(name)}"


def _with_tools(row: Row) -> bool:
    messages = row.get("messages") or row["prompt"]
    return bool(row.get("tools")) or any(m.get("tool_calls") or m["role"] == "tool" for m in messages)


def _write_tokens(to: TargetFiles, model: Path) -> tuple[dict[str, Path], str]:
    """Write a folder of token ids and labels; return it, and the lines that name the data."""
    tokenizer = load_dialogue_tokenizer(model, FITS)
    parts = ("",) if to.kind == "sft" else ("chosen_", "rejected_")

    def reshape(row: Row) -> dict[str, Any] | str:
        sides: tuple[MaskedTokens, ...]
        tools = row.get("tools")
        try:
            if to.kind == "sft":
                sides = (tokenizer.encode(row["messages"], tools=tools),)
            else:
                sides = tokenizer.pair(row["prompt"], row["chosen"], row["rejected"], tools=tools)
        except DialogueTooLong:
            return f"more than {FITS:,} tokens, without the oldest turns too"
        to.turns += sides[0].dropped
        made: dict[str, Any] = {}
        for part, side in zip(parts, sides, strict=True):
            made[f"{part}input_ids"], made[f"{part}labels"] = side.ids, side.labels
            made[f"{part}attention_mask"] = [1] * len(side.ids)
        return made

    kinds = {"input_ids": "ids", "attention_mask": "bits", "labels": "ids"}
    folder = to.beside("tokens")
    write_dataset(
        folder, to.kept(reshape), {f"{p}{name}": kind for p in parts for name, kind in kinds.items()}
    )
    # A data set must be named, and is not looked for where tokens are.
    return {"data": folder}, f"dataset: tokens\ntokenized_path: {json.dumps(folder.name)}"


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
