"""Training on rows: one loss with TRL, what is trained on, and how a folder goes on."""

from __future__ import annotations

import json
import shutil
import signal
from copy import deepcopy
from dataclasses import replace

import pytest

from dialogauge.core import FileFault, RecordFault, StoreError, UsageError
from dialogauge.training import PairSettings, SftSettings, TuneFolder, TuneJob, train_offline, tune
from tiny_policy import write_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("peft")
pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

BRIEF = {"learning_rate": 1e-3, "steps": 2, "batch_size": 2, "log_every": 1, "save_every": 1}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from benchmarks.toy_roleplay import HELD_OUT, TRAIN, segment_pairs, sft_rows

    folder = tmp_path_factory.mktemp("rows")
    return {
        "pairs": write_rows(folder / "pairs.jsonl", segment_pairs(TRAIN, 128, seed=1)),
        "held_out": write_rows(folder / "held_out.jsonl", segment_pairs(HELD_OUT, 24, seed=2)),
        "dialogues": write_rows(folder / "dialogues.jsonl", sft_rows(TRAIN, 16, seed=3)),
    }


def pair_job(policy, files, held_out=False, **changes):
    settings = PairSettings(**{**BRIEF, **changes})
    measured = files["held_out"] if held_out else None
    return TuneJob(
        method="dspo", settings=settings, model=policy, data=files["pairs"], held_out=measured, device="cpu"
    )


def loaded(policy, settings):
    from dialogauge.training.policy import load_policy

    return load_policy(policy, settings, "cpu")


def encoded(path, policy):
    from dialogauge.training.offline import encoded_rows

    return encoded_rows(path, "dspo", policy.tokenizer)


def moved(model):
    torch.manual_seed(1)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(0.02 * torch.randn_like(weights))


@pytest.mark.parametrize("options", [{}, {"length_norm": True}, {"sft_alpha": 0.3}, {"beta": 0.5}])
def test_our_loss_is_that_of_trl(policy, files, tmp_path, options):
    from dialogauge.training.offline import OfflineObjective, pair_trainer
    from dialogauge.training.trl_backend import trl_silenced

    settings = PairSettings(**{**BRIEF, **options})
    loaded_policy = loaded(policy, settings)
    rows = encoded(files["pairs"], loaded_policy).rows[:6]
    objective = OfflineObjective(loaded_policy, settings, deepcopy(loaded_policy.model).eval())
    with trl_silenced():
        trainer = pair_trainer(objective, TuneFolder(tmp_path), rows, 1)
        moved(loaded_policy.model)
        batch = trainer.data_collator([trainer.train_dataset[i] for i in range(6)])
        theirs = trainer.compute_loss(trainer.model.eval(), batch)
    ours, figures = objective(loaded_policy.model.eval(), rows)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-6)
    logged = trainer._metrics["eval"]
    assert figures["margin"] == pytest.approx(logged["rewards/margins"][0], abs=1e-5) or settings.length_norm
    trained = batch["input_ids"][batch["completion_mask"].bool()]
    says = [
        token for sides in zip(*rows, strict=True) for side in sides for run in side.runs for token in run
    ]
    assert trained.tolist() == says


def test_pairs_are_told_apart_after_a_few_steps(policy, files, tmp_path):
    job = pair_job(policy, files, held_out=True, steps=12, batch_size=4, save_every=100)
    folder = TuneFolder(tmp_path / "out")
    manifest = tune(job, train_offline, folder)
    assert manifest.ended == "finished"
    assert manifest.before["margin"].value == pytest.approx(0.0, abs=1e-6)
    assert manifest.before["loss"].value == pytest.approx(0.693147, abs=1e-5)
    assert manifest.after["margin"].value > 0.5
    assert manifest.before["accuracy"].value == 0.5  # a tie counts half
    accuracy = manifest.after["accuracy"]
    assert accuracy.value > 0.8
    assert (accuracy.n, accuracy.clusters) == (20, 15)  # four of 24 pairs have no winner
    assert folder.manifest() == manifest
    lines = list(folder.lines())
    assert [line.step for line in lines if not line.held_out] == list(range(1, 13))
    assert {"loss", "margin", "reward_chosen", "learning_rate"} <= lines[0].figures.keys()
    rates = [line.figures["learning_rate"] for line in lines if not line.held_out]
    assert rates[:3] == pytest.approx([0.0, 1e-3, 1e-3 * 10 / 11])
    # The stock trainer trains on the user's words too.
    stock = stock_margin(policy, files, job.settings, tmp_path)
    assert manifest.after["margin"].value > 2 * max(stock, 0.0)


def test_figures_of_held_out_rows_are_clustered_by_persona():
    from dialogauge.training.offline import _mean

    # Without one of six clusters the mean moves by .5, .3 or .1: variance .7; Student's t(5) is 2.5706.
    values = [float(i // 2) for i in range(12)]
    margin = _mean("margin", values, [f"p{i // 2}" for i in range(12)])
    assert (margin.value, margin.n, margin.clusters) == (2.5, 12, 6)
    assert (margin.low, margin.high) == pytest.approx((2.5 - 2.1507, 2.5 + 2.1507), abs=1e-3)
    assert _mean("margin", values, [None] * 12).clusters == 12
    assert _mean("margin", [0.0] * 12, [None] * 12).reason == "all rows are alike"
    accuracy = _mean("accuracy", [1.0] * 12, [None] * 12)
    assert accuracy.high == 1.0
    assert 0.5 < accuracy.low < 1.0


def test_held_out_rows_of_a_persona_that_is_trained_on_are_named(policy, files, tmp_path):
    from dialogauge.app.tune.page import tune_brief

    rows = [json.loads(line) for line in files["pairs"].read_text().splitlines()[:2]]
    held_out = write_rows(tmp_path / "both.jsonl", [*rows, {**rows[0], "persona_id": "another"}])
    job = replace(pair_job(policy, files, steps=1), held_out=held_out)
    manifest = tune(job, train_offline, TuneFolder(tmp_path / "out"))
    assert manifest.counts["held-out rows of personas that are trained on"] == 2
    assert "2 held-out rows are of personas that are trained on" in str(list(tune_brief(manifest)))


def stock_margin(policy, files, settings, tmp_path):
    from benchmarks.tuning import stock_trainer

    from dialogauge.training.offline import OfflineObjective
    from dialogauge.training.trl_backend import trl_silenced

    own = loaded(policy, settings)
    objective = OfflineObjective(own, settings, loaded(policy, settings).model.eval())
    with trl_silenced():
        trainer = stock_trainer(own, settings, TuneFolder(tmp_path / "stock"), files["pairs"])
        trainer.train()
    return objective.measure(trainer.model, encoded(files["held_out"], own))["margin"].value


@pytest.mark.parametrize("method", ["sft", "dspo"])
def test_a_step_of_every_kind(policy, files, tmp_path, method):
    more = {"lora": True, "lora_r": 4, "accumulation": 2, "steps": 1}
    job = pair_job(policy, files, **more)
    if method == "sft":
        job = replace(job, method="sft", settings=SftSettings(**{**BRIEF, **more}), data=files["dialogues"])
    folder = TuneFolder(tmp_path / "out")
    manifest = tune(job, train_offline, folder)
    assert manifest.counts["steps"] == 1
    assert (folder.path / "adapter" / "adapter_model.safetensors").is_file()
    loaded(folder.path, job.settings)


def stopping(path, step):
    """Return a folder that is interrupted when a step is logged."""

    class Stopped(TuneFolder):
        def log(self, at, figures, *, held_out=False):
            super().log(at, figures, held_out=held_out)
            if at == step and not self.stop_asked:
                signal.raise_signal(signal.SIGINT)

    return Stopped(path)


@pytest.fixture(scope="module")
def four_steps(policy, files, tmp_path_factory):
    """A run of four steps, and one that was interrupted in its second: their job and their folders."""
    base, job = tmp_path_factory.mktemp("four"), pair_job(policy, files, steps=4, save_every=100)
    tune(job, train_offline, TuneFolder(base / "whole"))
    stopped = tune(job, train_offline, stopping(base / "parts", 1))
    assert (stopped.ended, stopped.counts["steps"]) == ("interrupted", 2)
    return job, base / "whole", base / "parts"


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(four_steps, tmp_path):
    job, whole, interrupted = four_steps
    parts, said = TuneFolder(shutil.copytree(interrupted, tmp_path / "parts")), []
    parts.say = said.append
    assert not (parts.path / "model.safetensors").exists()
    assert tune(job, train_offline, parts).ended == "finished"
    assert "continuing from step 2" in said
    assert [line.step for line in parts.lines()] == [1, 2, 3, 4]
    for one, other in zip(TuneFolder(whole).lines(), parts.lines(), strict=True):
        assert other.figures == pytest.approx(one.figures, abs=1e-5)
    assert tune(job, train_offline, parts).ended == "finished"
    assert said[-1].endswith("is finished: nothing is left to do")
    # Killed behind its last checkpoint, ahead of the model:
    parts.write(replace(parts.manifest(), ended="running", written=None))
    (parts.path / "model.safetensors").unlink()
    assert tune(job, train_offline, parts).ended == "finished"
    assert (parts.path / "model.safetensors").is_file()
    assert [line.step for line in parts.lines()] == [1, 2, 3, 4]


def test_other_settings_or_data_are_refused_in_the_same_folder(policy, files, four_steps, tmp_path):
    job, whole, _ = four_steps
    folder = TuneFolder(shutil.copytree(whole, tmp_path / "out"))
    other = replace(job, settings=replace(job.settings, beta=0.2))
    with pytest.raises(StoreError, match=r"was started with beta 0\.1, and this asks for 0\.2"):
        tune(other, train_offline, folder)
    with pytest.raises(StoreError, match="was started with data"):
        tune(replace(job, data=files["held_out"]), train_offline, folder)
    brief = pair_job(policy, files, steps=1, beta=0.2)
    assert tune(brief, train_offline, folder, fresh=True).ended == "finished"


def test_a_folder_with_other_files_and_an_input_are_refused(policy, files, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"holds notes.txt, and no tuning"):
        tune(pair_job(policy, files), train_offline, TuneFolder(tmp_path))
    with pytest.raises(UsageError, match="is no file, and rows are read more than once"):
        tune(replace(pair_job(policy, files), data=tmp_path), train_offline, TuneFolder(tmp_path / "out"))
    for out in (policy, policy / "out", policy.parent, files["pairs"].parent):
        with pytest.raises(UsageError, match="is an input, or holds one"):
            tune(pair_job(policy, files), train_offline, TuneFolder(out))


def test_a_checkpoint_with_a_foreign_pickle_is_not_read(four_steps, tmp_path):
    import pickle

    job, _, interrupted = four_steps
    folder = TuneFolder(shutil.copytree(interrupted, tmp_path / "out"))
    _, checkpoint = folder.last_checkpoint()
    (checkpoint / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(UsageError, match=r"pytorch_model.bin is a pickle"):
        tune(job, train_offline, folder)
    (checkpoint / "pytorch_model.bin").unlink()
    (checkpoint / "optimizer.pt").write_bytes(pickle.dumps(print))
    with pytest.raises(UsageError, match="a pickle that is not of training"):
        tune(job, train_offline, folder)
    assert json.loads((folder.path / "tune.json").read_bytes())["ended"] == "error"


def test_a_model_that_cannot_be_trained(policy, files, tmp_path):
    def refused(name, words, change):
        model = shutil.copytree(policy, tmp_path / name)
        change(model)
        with pytest.raises(UsageError, match=words):
            tune(pair_job(model, files), train_offline, TuneFolder(tmp_path / f"{name}-out"))

    def pickled(model):
        (model / "model.safetensors").rename(model / "pytorch_model.bin")

    def other_tokenizer(model):
        file = model / "tokenizer.json"
        text = json.loads(file.read_text())
        text["model"]["vocab"]["zzz"] = 600
        file.write_text(json.dumps(text))

    def no_markers(model):
        file = model / "chat_template.jinja"
        file.write_text(file.read_text().replace("{% generation %}", "").replace("{% endgeneration %}", ""))

    refused("pickled", r"pytorch_model.bin are a pickle", pickled)
    refused("unweighted", "holds no weights", lambda model: (model / "model.safetensors").unlink())
    refused("empty", "holds no model", lambda model: (model / "config.json").unlink())
    refused("tokens", "tokenizer of .* is of another model: it has tokens up to 600", other_tokenizer)
    refused("unmarked", "does not mark what the assistant writes", no_markers)
    refused("cut", "cannot be loaded", lambda model: (model / "model.safetensors").write_bytes(b"{}"))


def test_rows_that_cannot_be_trained_on(policy, files, tmp_path):
    rows = [json.loads(line) for line in files["pairs"].read_text().splitlines()[:4]]

    def trained(rows, **changes):
        job = pair_job(policy, files, **changes)
        job = replace(job, data=write_rows(tmp_path / "rows.jsonl", rows))
        return tune(job, train_offline, TuneFolder(tmp_path / "out"))

    tied = [{**row, "score_chosen": 3.0, "score_rejected": 3.0} for row in rows]
    with pytest.raises(UsageError, match="none of 4 pairs has a winner"):
        trained(tied)
    long = {**rows[0], "chosen": rows[0]["chosen"] * 40}
    manifest = trained([long, {"unchecked": True, **rows[1]}, *rows[2:], tied[0]], steps=1)
    counts = manifest.counts
    assert manifest.unchecked
    assert counts["rows of an unchecked judge"] == 1
    assert counts["left out: does not fit"] == 1
    assert counts["left out: no winner"] == 1
    assert counts["rows"] == 3
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(UsageError, match=r"no row is left to train on: .* tokens without any earlier turn"):
        trained(rows, max_length=40)
    for row, words in (
        ({"messages": rows[0]["chosen"]}, "a row of the kind sft in a file of the kind segment"),
        ({k: v for k, v in rows[0].items() if k != "prompt"}, "a pair without a prompt"),
        ({**rows[0], "chosen": [*rows[0]["prompt"], *rows[0]["chosen"]]}, "the row has two prompts"),
        ({**rows[0], "version": 7}, "version unknown"),
    ):
        with pytest.raises(RecordFault, match=r"rows.jsonl:2: .*" + words):
            trained([rows[0], row])
    with pytest.raises(UsageError, match=r"rows of the kind sft, and tune dspo takes others .*tune sft"):
        trained([{"messages": rows[0]["chosen"]}])
    with pytest.raises(FileFault, match="holds no row"):
        trained([])


def test_want_of_memory_says_what_to_lower(policy, files, tmp_path):
    def starved(job, policy, folder):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes. x")

    with pytest.raises(UsageError, match=r"no memory is left.*lower --batch-size"):
        tune(pair_job(policy, files), starved, TuneFolder(tmp_path / "out"))
