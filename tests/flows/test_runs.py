"""`dialogauge runs`: what is below a folder."""

from __future__ import annotations

from arenas import dialogues


def test_runs_are_listed_newest_first_with_a_figure(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("c1"), talk("c2")), "-o", "runs/old")
    dialogauge("judge", log(talk("c1")), "-o", "runs/deep/new")
    manifest = (tmp_path / "runs/old/manifest.json").read_text()
    assert '"written"' in manifest
    done = dialogauge("runs", "--json")
    assert done.code == 0
    by_path = {run["path"]: run for run in done.json["runs"]}
    assert set(by_path) == {"runs/old", "runs/deep/new"}
    assert [run["written"] for run in done.json["runs"]] == sorted(
        (run["written"] for run in by_path.values()), reverse=True
    )
    old = by_path["runs/old"]
    assert (old["study"], old["judge"], old["conversations"], old["ended"]) == (
        "judge",
        "local, card",
        2,
        "finished",
    )
    assert old["headline"] == "0 of 2 with a finding"
    shown = dialogauge("runs", "runs").out
    assert "runs/deep/new" in shown
    assert "local, card" in shown


def test_the_figure_of_an_arena_is_short(dialogauge, tmp_path):
    for name, share in (("alpha", 1.0), ("beta", 0.0)):
        dialogues(tmp_path / f"{name}.jsonl", share)
    dialogauge("arena", "alpha.jsonl", "beta.jsonl", "--judge", "local", "-o", "runs/arena")
    (run,) = dialogauge("runs", "--json").json["runs"]
    assert run["headline"] == "Nobody is ranked"
    dialogauge("arena", "alpha.jsonl", "beta.jsonl", "--judge", "local", "--unchecked", "-o", "runs/arena")
    (run,) = dialogauge("runs", "--json").json["runs"]
    assert run["headline"].startswith("unchecked: alpha leads, ")


def test_broken_runs_are_skipped_with_a_word_and_foreign_folders_without(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("c1")), "-o", "runs/whole")
    for name in ("no-manifest", "no-database"):
        dialogauge("judge", log(talk("c1")), "-o", f"runs/{name}")
    (tmp_path / "runs/no-manifest/manifest.json").unlink()
    dialogauge("judge", log(talk("c1")), "-o", "runs/changed")
    (tmp_path / "runs/changed/summary.json").write_text("{")
    (tmp_path / "runs/foreign").mkdir()
    (tmp_path / "runs/foreign/run.db").write_text("no database")
    (tmp_path / "runs/foreign/manifest.json").write_text("{}")
    (tmp_path / "runs/other").mkdir()
    (tmp_path / "runs/other/notes.txt").write_text("x")
    (tmp_path / "runs/no-database/run.db").unlink()
    done = dialogauge("runs", "--json")
    assert done.code == 0
    assert [run["path"] for run in done.json["runs"]] == ["runs/whole"]
    assert len(done.json["skipped"]) == 3
    assert done.err.count("skipped: ") == 3
    for name in ("no-manifest", "changed", "foreign"):
        assert any(f"runs/{name}" in why for why in done.json["skipped"])


def test_no_runs_and_no_folder(dialogauge, tmp_path):
    (tmp_path / "empty").mkdir()
    done = dialogauge("runs", "empty")
    assert (done.code, done.out.strip()) == (0, "no runs below empty")
    missing = dialogauge("runs")
    assert missing.code == 1
    assert "there is no folder runs" in missing.err
