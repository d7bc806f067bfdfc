"""Load files with verl's own readers: `python read_verl.py FOLDER OUT`, in its environment."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

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


class Engine:
    """Stands for the engine that verl samples by: it always says the same."""

    async def generate(self, *, prompt_ids: list[int], **_: object) -> TokenOutput:
        words = "The lamp is still lit." if len(prompt_ids) % 2 else "灯还亮着。"
        return TokenOutput(token_ids=tokenizer(f"{words}<|im_end|>")["input_ids"])


async def session() -> dict[str, Any]:
    """Play a session with the loop that the configuration names, as verl's worker does."""
    loop = next(iter(loops))
    loop.roles_file = str(folder / loop.roles_file)
    agent = instantiate(
        loop,
        trainer_config=DictConfigWrap(config),
        server_manager=Engine(),
        tokenizer=tokenizer,
        processor=None,
        dataset_cls=RLHFDataset,
        data_config=DictConfigWrap(config.data),
    )
    row = prompts[1]
    played = await agent.run({}, raw_prompt=row["raw_prompt"], extra_info=row["extra_info"])
    labels = [i if m else -100 for i, m in zip(played.response_ids, played.response_mask, strict=True)]
    return {
        "prompt": played.prompt_ids,
        "ids": [*played.prompt_ids, *played.response_ids],
        "labels": [-100] * len(played.prompt_ids) + labels,
        "reward": played.reward_score,
    }


read["session"] = [asyncio.run(session())]
out.write_text(json.dumps(read), "utf-8")
