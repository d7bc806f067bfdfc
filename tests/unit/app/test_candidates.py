from __future__ import annotations

from pathlib import Path

import pytest

from dialogauge.app.candidates import Candidate, read_agents, read_candidates
from dialogauge.app.merging import FileConfig
from dialogauge.core import UsageError

AGENTS = """
[[agent]]
name = "alpha"
candidate = "m-a@http://a/v1"
organisation = "A Inc."
[[agent]]
name = "beta"
candidate = "m-b@http://b/v1"
[[agent]]
name = "again"
candidate = "alpha"
[[agent]]
name = "round"
candidate = "about"
[[agent]]
name = "about"
candidate = "round"
[[agent]]
name = "both"
candidate = "pool:alpha,beta"
[[agent]]
name = "silent"
[[agent]]
name = "written"
candidate = "replies:r.jsonl"
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    Path("agents.toml").write_text(AGENTS)
    Path("r.jsonl").write_text("")


def read(*references: str) -> tuple[Candidate, ...]:
    return read_candidates(references, read_agents("agents.toml"), FileConfig())


@pytest.mark.parametrize(
    ("reference", "name", "models"),
    [
        ("alpha", "alpha", ["m-a"]),
        ("mine=alpha", "mine", ["m-a"]),
        ("again", "again", ["m-a"]),
        ("pool:alpha,beta", "pool", ["m-a", "m-b"]),
        ("mix=pool:alpha, m-c@http://c/v1", "mix", ["m-a", "m-c"]),
        ("both", "both", ["m-a", "m-b"]),
        ("mine=both", "mine", ["m-a", "m-b"]),
    ],
)
def test_names_of_agents_mean_the_agents(reference: str, name: str, models: list[str]) -> None:
    (candidate,) = read(reference)
    assert (candidate.name, [m.model for m in candidate.models]) == (name, models)
    assert candidate.about["organisation"] == ("A Inc." if reference in ("alpha", "mine=alpha") else None)


@pytest.mark.parametrize("key", ["", "OPENAI_BASE_URL"])
@pytest.mark.parametrize("reference", ["alhpa", "x=alhpa", "pool:alhpa,beta", "pool:alpha,beta,alhpa"])
def test_a_misspelt_agent_is_no_model(reference: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if key:
        monkeypatch.setenv(key, "https://api.example/v1")
    with pytest.raises(
        UsageError, match=r"'alhpa' is neither a role nor an agent in the configuration.*mean 'alpha'"
    ):
        read(reference)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("gamma", "'gamma' is neither a role nor an agent .*; there are about, again, alpha, beta"),
        ("round", "'round' is neither a role|'about' is neither a role"),
        ("pool:alpha,silent", "the agent 'silent' does not say where it is reached"),
        ("pool:alpha,", "names no model"),
        ("pool:alpha,written", "has the member 'replies:r.jsonl', which is no model"),
        ("pool:alpha,both", "has the member 'pool:alpha,beta', which is no model"),
    ],
)
def test_what_is_no_candidate(reference: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(reference)


@pytest.mark.parametrize("name", ["original", "planted: refusal"])
def test_no_candidate_is_called_like_the_ones_that_are_there_anyway(name: str) -> None:
    Path("agents.toml").write_text(f'[[agent]]\nname = "{name}"\ncandidate = "replies:r.jsonl"\n')
    with pytest.raises(UsageError, match=f"no candidate may be called '{name}'"):
        read(name)
