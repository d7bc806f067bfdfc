"""The memory system that is trained: what it learns from, when it is trained, and what it is refused."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from flows.conftest import rows_of
from tiny_policy import write_rows

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

SALT, OAK = "Salt and thunder!", "By the old oak!"
ASKED = ("Hello there.", "How was your day?", "Tell me more.", "And then?")
BRISK = "[tune]\nlearning_rate = 3e-2\nepochs = 20\nbatch_size = 4\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A model that has learnt nothing yet."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("trl")
    pytest.importorskip("peft")
    from benchmarks.toy_roleplay import build_tokenizer
    from transformers import Qwen3Config, Qwen3ForCausalLM

    folder, tokenizer = tmp_path_factory.mktemp("base"), build_tokenizer()
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def logged(number, question, reply, *actions):
    """Return a row of a log whose first reply met these actions, and whose second was liked."""
    said = [question, reply, "And what else?", "I keep a small blue boat."]
    roles = ("user", "assistant") * 2
    return {
        "test_idx": number,
        "dataset_name": "desk",
        "lang": "en",
        "input_prompt": question,
        "info": {},
        "dialog": [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)],
        "implicit_feedback": [
            {"round": 1, "implicit_actions": list(actions), "terminated": False},
            {"round": 2, "implicit_actions": ["like"], "terminated": True},
        ],
    }


def logs(path, liked):
    """Write a log in which one of two replies was liked or copied."""
    rows = []
    for n, question in enumerate(ASKED * 2):
        reply = (SALT, OAK)[n % 2]
        actions = [("like", "copy")[n // 4]] if reply == liked else ["dislike"]
        rows.append(logged(n, question, reply, *actions))
    return write_rows(path, rows)


@pytest.fixture
def run(dialogauge, base, tmp_path):
    tasks = write_rows(
        tmp_path / "tasks.jsonl",
        [
            {"id": f"q{n}", "dataset": "mine", "q": question, "v": {"answer": SALT}}
            for n, question in enumerate(("Do you like the sea?", "Where do you live?"))
        ],
    )
    role = f"[roles.answerer]\nmodel = 'file:{base}'\nmax_tokens = 12\n"
    (tmp_path / "own.toml").write_text(BRISK + role)

    def call(*words, config="own.toml"):
        command = ("learn", "run", "--tasks", tasks, "--system", "trained", "--no-controls")
        return dialogauge(*command, "--device", "cpu", "--config", config, *words)

    return call


def replies(folder):
    done = {row["candidate"]: [] for row in rows_of(folder)}
    from dialogauge.runs import open_run

    with open_run(folder) as stored:
        for conversation in stored.conversations():
            done[conversation.candidate].append(conversation.messages[-1].text)
    return done["trained"]


def test_it_says_what_was_liked_and_with_shuffled_feedback_something_else(run, tmp_path):
    done = run("--logs", logs(tmp_path / "salt.jsonl", SALT), "-o", "salt")
    assert done.code == 0, done.out + done.err
    assert replies(tmp_path / "salt") == [SALT, SALT]
