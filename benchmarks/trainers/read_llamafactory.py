"""Load files with LLaMA-Factory's readers: `python read_llamafactory.py FOLDER OUT`, in its environment."""

import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import yaml

# It is imported for sound alone, and has no build for this torch on a CPU.
sys.modules["torchaudio"] = ModuleType("torchaudio")
sys.modules["torchaudio"].__spec__ = ModuleSpec("torchaudio", None)

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer  # noqa: E402
from llamafactory.hparams import get_train_args  # noqa: E402
from llamafactory.model import load_tokenizer  # noqa: E402

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
read = {}
for config in sorted(folder.glob("*.llamafactory.yaml")):
    settings = yaml.safe_load(config.read_text("utf-8"))
    del settings["deepspeed"]  # it wants DeepSpeed installed
    settings |= {"bf16": False, "model_name_or_path": str(folder / "model"), "output_dir": str(out.parent)}
    model, data, training, finetuning, _ = get_train_args(settings)
    loaded = load_tokenizer(model)
    template = get_template_and_fix_tokenizer(loaded["tokenizer"], data)
    stage = "rm" if finetuning.stage == "dpo" else "sft"  # as its trainer of pairs calls it
    rows = get_dataset(template, model, data, training, stage, **loaded)["train_dataset"]
    parts = ("chosen_", "rejected_") if stage == "rm" else ("",)
    read[config.name.split(".")[0]] = [
        [{"ids": row[f"{part}input_ids"], "labels": row[f"{part}labels"]} for part in parts] for row in rows
    ]
out.write_text(json.dumps(read), "utf-8")
