"""Load files with verl's own readers: `python read_verl.py FOLDER OUT`, in its environment."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.dataset.rl_dataset import RLHFDataset

folder, out = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
os.chdir(folder)
tokenizer = AutoTokenizer.from_pretrained(folder / "model")


def configured(name: str) -> Any:  # noqa: ANN401
    """Put a configuration together as verl's trainers do: an unknown key is an error."""
    with initialize_config_dir(str(folder), version_base=None):
        return compose(f"{name}.verl")


config = configured("sft")
rows = MultiTurnSFTDataset(config.data.train_files, tokenizer, config.data)
read = {"sft": []}
for row in rows:
    ids, trained = row["input_ids"].tolist(), row["loss_mask"].tolist()
    labels = [i if t else -100 for i, t in zip(ids, trained, strict=True)]
    read["sft"].append([{"ids": ids, "labels": labels}])
config = configured("rl")
prompts = RLHFDataset([config.data.train_files], tokenizer, config.data)
read["rl"] = [
    {"prompt": row["raw_prompt"], "scenario": row["extra_info"]["scenario"], "source": row["data_source"]}
    for row in prompts
]
loops = OmegaConf.load(config.actor_rollout_ref.rollout.agent.agent_loop_config_path)
names = [loop.name for loop in loops]
if config.actor_rollout_ref.rollout.agent.default_agent_loop not in names:
    sys.exit(f"the loop that the configuration names is not among {names}")
out.write_text(json.dumps(read), "utf-8")
