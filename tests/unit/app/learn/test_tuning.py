"""The training of a memory: interrupted, it goes on and comes to the same."""

from __future__ import annotations

import asyncio

import pytest

from dialogauge.app.learn.tuning import FolderTuner
from dialogauge.training import SftSettings, TuneFolder

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

TURNS = [
    [{"role": "user", "content": "And then?"}, {"role": "assistant", "content": "The lamp is still lit."}],
    [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": "As the river goes."}],
]


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    pytest.importorskip("trl")
    pytest.importorskip("peft")
    from tiny_policy import tiny_policy

    return tiny_policy(tmp_path_factory.getbasetemp())


async def test_an_interrupted_training_goes_on_and_comes_to_the_same(policy, tmp_path, monkeypatch) -> None:
    settings = SftSettings(
        learning_rate=1e-3, epochs=12, batch_size=2, lora=True, lora_dropout=0.1, log_every=1
    )

    def tuner(name):
        return FolderTuner(policy, tmp_path / name, settings, str, "cpu")

    whole, parts = tuner("whole"), tuner("parts")
    agent, adapter = await whole.tuned(TURNS)
    assert agent == str(adapter.parent)
    out = parts.folder / adapter.parent.name
    logged, log = asyncio.Event(), TuneFolder.log
    loop = asyncio.get_running_loop()

    def log_and_tell(folder, *figures, **more):
        log(folder, *figures, **more)
        loop.call_soon_threadsafe(logged.set)

    monkeypatch.setattr(TuneFolder, "log", log_and_tell)
    task = asyncio.create_task(parts.tuned(TURNS))
    await logged.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (out / "adapter").exists()  # nothing half
    _, again = await parts.tuned(TURNS)
    assert (again / "adapter_model.safetensors").read_bytes() == (
        adapter / "adapter_model.safetensors"
    ).read_bytes()
    assert [line.step for line in TuneFolder(out).lines()] == list(range(1, 13))
