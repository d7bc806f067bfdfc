"""Load files with OpenRLHF's own readers: `python read_openrlhf.py FOLDER OUT`, in its environment."""

import asyncio
import json
import re
import shlex
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from datasets import load_dataset
from openrlhf.datasets.prompts_dataset import PromptDataset
from openrlhf.datasets.sft_dataset import SFTDataset
from openrlhf.utils.agent import AgentExecutorBase
from transformers import AutoTokenizer

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
tokenizer = AutoTokenizer.from_pretrained(folder / "model")


def settings(script: str, trainer: str) -> dict[str, Any]:
    """Read the options of a command; one that the trainer does not have ends this."""
    source = Path(find_spec("openrlhf").origin).parent / "cli" / f"{trainer}.py"
    known = set(re.findall(r'"--([\w.]+)"', source.read_text("utf-8")))
    known |= {f"{who}.{option}" for who in ("actor", "critic") for option in ("adam.lr", "lr_warmup_ratio")}
    words = shlex.split((folder / script).read_text("utf-8"), comments=True)
    named = {}
    for i, word in enumerate(words):
        if word.startswith("--") and word != "--module":
            if word[2:] not in known:
                sys.exit(f"{trainer} has no option {word}")
            following = words[i + 1] if i + 1 < len(words) else "--"
            named[word[2:]] = True if following.startswith("--") else following
    return named


def rows_of(named: dict[str, Any], option: str) -> Any:  # noqa: ANN401
    return load_dataset("json", data_files=str(folder / named[option]))["train"]


def strategy_of(named: dict[str, Any]) -> SimpleNamespace:
    data = {key.split(".")[1]: value for key, value in named.items() if key.startswith("data.")}
    return SimpleNamespace(args=SimpleNamespace(data=SimpleNamespace(**data)), is_rank_0=lambda: True)


named = settings("sft.openrlhf.sh", "train_sft")
dataset = SFTDataset(
    rows_of(named, "data.dataset"),
    tokenizer,
    int(named["data.max_len"]),
    strategy_of(named),
    num_processors=1,
    multiturn=named["data.multiturn"],
)
read = {"sft": []}
for ids, _, trained in dataset:
    ids, trained = ids[0].tolist(), trained[0].tolist()
    # The mask stands at the token before: it says whose prediction counts.
    labels = [-100] + [i if t else -100 for i, t in zip(ids[1:], trained[:-1], strict=True)]
    read["sft"].append([{"ids": ids, "labels": labels}])
named = settings("rl.openrlhf.sh", "train_ppo_ray")
prompts = PromptDataset(rows_of(named, "data.prompt_dataset"), tokenizer, strategy_of(named))
read["rl"] = [
    {**json.loads(label), "source": source, "rendered": prompt} for source, prompt, label, _ in prompts
]


class Engine:
    """Stands for the engine that OpenRLHF samples by: it always says the same."""

    async def generate(self, ids: list[int], settings: SimpleNamespace) -> SimpleNamespace:
        words = "The lamp is still lit." if len(ids) % 2 else "灯还亮着。"
        tokens = tokenizer(f"{words}<|im_end|>")["input_ids"]
        chances = [{token: SimpleNamespace(logprob=-float(token))} for token in tokens]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=tokens, logprobs=chances)])


async def session() -> dict[str, Any]:
    """Play a session with the file that the command names, as OpenRLHF does."""
    spec = spec_from_file_location("agent_module", folder / named["train.agent_func_path"])
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert issubclass(module.AgentExecutor, AgentExecutorBase)
    _, prompt, label, _ = prompts[1]
    settings = SimpleNamespace(max_tokens=None, logprobs=1)
    played = await module.AgentExecutor().execute(prompt, label, settings, 8192, tokenizer, Engine())
    ids = played["observation_tokens"]
    labels = [-100] * len(ids)
    for start, stop in played["action_ranges"]:
        labels[start:stop] = ids[start:stop]
    sampled = [-label if label != -100 else 0 for label in labels]
    assert played["rollout_log_probs"] == sampled, "log-probabilities are not those of the sampled tokens"
    return {"ids": ids, "labels": labels, "reward": played["reward"]}


read["session"] = [asyncio.run(session())]
out.write_text(json.dumps(read), "utf-8")
