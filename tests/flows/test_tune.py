"""`tune`: a model trained on rows, killed and continued, and loaded again as a candidate."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from parsed_pages import ParsedPage
from tiny_policy import tiny_policy, write_rows

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

BRIEF = ("--learning-rate", "1e-3", "--batch-size", 2, "--log-every", 1, "--device", "cpu")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    pytest.importorskip("peft")
    return tiny_policy(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from benchmarks.toy_roleplay import HELD_OUT, TRAIN, segment_pairs

    folder = tmp_path_factory.mktemp("rows")
    return (
        write_rows(folder / "pairs.jsonl", segment_pairs(TRAIN, 64, seed=1)),
        write_rows(folder / "held_out.jsonl", segment_pairs(HELD_OUT, 8, seed=2)),
    )


async def test_a_tuned_folder_is_a_candidate(dialogauge, policy, files, tmp_path):
    from dialogauge.llm import ChatRequest, SamplingParameters, TransformersClient

    (tmp_path / "own.toml").write_text("[tune]\nsteps = 3\nbeta = 0.2\n")
    command = ("tune", "dspo", "--model", policy, "--data", files[0], "--held-out", files[1], *BRIEF)
    done = dialogauge(*command, "--config", "own.toml", "-o", "tuned")
    assert done.code == 0, done.out + done.err
    assert "before after" in done.unwrapped
    assert "model: tuned" in done.out
    out = tmp_path / "tuned"
    manifest = json.loads((out / "tune.json").read_bytes())
    assert (manifest["ended"], manifest["counts"]["steps"]) == ("finished", 3)
    assert manifest["asked"]["settings"]["beta"] == 0.2
    assert manifest["versions"]["trl"] >= "1.16"
    words = " ".join(ParsedPage((out / "tune.html").read_text()).words)
    assert "Along the steps" in words
    assert "Reward of the winner" in words
    client = TransformersClient(str(out), parameters=SamplingParameters(max_tokens=8), device="cpu")
    reply = await client.complete(ChatRequest([{"role": "user", "content": "Hello there."}]))
    await client.close()
    assert reply.usage.completion_tokens > 0
    again = dialogauge(*command, "--config", "own.toml", "-o", "tuned")
    assert (again.code, "nothing is left to do" in again.err) == (0, True)
    other = dialogauge(*command, "--config", "own.toml", "--beta", 0.1, "-o", "tuned")
    assert (other.code, "started with beta 0.2, and this asks for 0.1" in other.err) == (1, True)


def test_a_killed_run_goes_on_from_its_last_checkpoint(dialogauge, policy, files, tmp_path):
    words = ["tune", "dspo", "--model", policy, "--data", files[0], *BRIEF]
    words += ["--steps", 8, "--save-every", 1, "-o"]
    command = [sys.executable, "-m", "dialogauge", *map(str, words), "killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path)
    state = tmp_path / "killed" / "checkpoints" / "checkpoint-3" / "trainer_state.json"
    until = time.monotonic() + 120
    while not state.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    errors = process.communicate()[1].decode()
    assert process.returncode == -signal.SIGKILL, errors
    manifest = json.loads((tmp_path / "killed" / "tune.json").read_bytes())
    assert manifest["ended"] == "running"
    done = dialogauge(*words, "killed")
    assert done.code == 0, done.out + done.err
    assert "continuing from step" in done.err
    assert dialogauge(*words, "whole").code == 0
    lines = [(tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("killed", "whole")]
    losses = [[json.loads(line)["figures"]["loss"] for line in each] for each in lines]
    assert len(losses[0]) == 8
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_a_setting_of_another_method_is_refused(dialogauge, policy, files, tmp_path):
    (tmp_path / "own.toml").write_text("[tune]\nbeta = 0.2\n")
    command = ("tune", "sft", "--model", policy, "--data", files[0], "-o", "out")
    done = dialogauge(*command, "--config", "own.toml")
    assert (done.code, "tune.beta: there is no such setting" in done.err) == (2, True)
    done = dialogauge(*command)
    assert done.code == 2
    assert "`dialogauge tune dspo` takes them" in done.err
