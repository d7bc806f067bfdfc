"""`learn run` with a vendor's system, by a tiny package of its name."""

from __future__ import annotations

import json
from functools import partial

import pytest

from flows.conftest import rows_of
from tiny_vendors import install_vendors


@pytest.fixture
def install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "packages")
    return partial(install_vendors, tmp_path / "packages")


@pytest.fixture
def asking(dialogauge, serve):
    """Asks the shipped tasks of systems, with a model and an embedder of a stub."""
    stub = serve("[]")
    roles = ("--role", f"memory=m@{stub.url}", "--role", f"embedder=e@{stub.url}")

    def ask(system, *more):
        words = ("--sample", 3, "--no-controls", "--system", system, *roles, "-o", "run", *more)
        return dialogauge("learn", "run", *words)

    return ask


def test_both_settings_of_a_vendor_stay_on_the_page(asking, install, tmp_path):
    install(mem0ai="2.2.1")
    (tmp_path / "theirs.toml").write_text("[add]\ninfer = false\n[search]\nthreshold = 0.0\n", "utf-8")
    done = asking("mem0", "--json")
    assert done.code == 0, done.err
    assert "notice" not in done.out + done.err  # what the package prints is not ours
    assert asking("theirs=mem0:theirs.toml").code == 0
    about = {row["candidate"]: row["details"]["system"] for row in rows_of(tmp_path / "run")}
    assert about["mem0"]["package"] == about["theirs"]["package"] == "mem0ai 2.2.1"
    assert about["theirs"]["settings"]["add"] == {"infer": False}
    assert about["mem0"]["settings_digest"] != about["theirs"]["settings_digest"]
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert all(one["settings_digest"] in page for one in about.values())
    summary = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert summary["costs"]["mem0"]["calls_a_dialogue"] == 1.0


@pytest.mark.parametrize(
    ("system", "roles", "message"),
    [
        ("mem0", (), "--role memory=MODEL@URL#KEYVAR"),
        ("mem0", ("--role", "memory=m@http://localhost:1/v1"), "--role embedder=file:FOLDER, or MODEL@URL"),
        ("mem0", ("--role", "memory=file:folder"), "--role memory=MODEL@URL#KEYVAR"),
    ],
)
def test_a_vendor_without_its_models_is_refused(dialogauge, system, roles, message):
    done = dialogauge("learn", "run", "--system", system, *roles, "-o", "run")
    assert done.code == 2
    assert message in " ".join(done.err.split())
