"""`dialogauge fit RUN -o weights.toml` and `judge --weights`: criteria that count as people do."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import dialogauge as dialogauge_package
from flows.conftest import rows_of
from servers.schemas import instance

DIMENSION = "interactive_ability"
CRITERIA = ("user_leads", "pace_lost", "own_initiative", "hook_taken_up")
PEOPLE = {"user_leads": -1.0, "pace_lost": 0.0, "own_initiative": 1.0, "hook_taken_up": 0.0}
"""What a criterion is worth to the people of these tests, who start from 3 and round to whole ratings."""


def named_in(number: int, agent: str) -> tuple[str, ...]:
    """Return the criteria of a session: its number in binary. Candidate b always has initiative."""
    bits = number | 4 * (agent == "b")
    return tuple(name for place, name in enumerate(CRITERIA) if bits >> place & 1)


def session(number: int, agent: str) -> dict[str, object]:
    """Return a session whose reply says the names of its criteria: what the judge quotes."""
    reply = f"So it is, and {' and '.join(named_in(number, agent)) or 'nothing else'}."
    messages = [{"role": "user", "content": f"Hm {number}{agent}."}, {"role": "assistant", "content": reply}]
    return {
        "conversation_id": f"s{number}",
        "candidate": agent,
        "messages": messages,
        "user_id": f"p{number % 8}",
    }


def judge_of_words(body):
    """Answer as a judge that names the criteria whose names stand in the dialogue."""
    value = instance(body["response_format"]["json_schema"]["schema"])
    words = body["messages"][-1]["content"]
    for name in value:
        if name.endswith("_criteria"):
            known = [c for c in CRITERIA if c in words] if name == f"{DIMENSION}_criteria" else []
            value[name] = [{"criterion": c, "turns": [1], "quote": c} for c in known]
    for of in value.get("conversation_level", {}).values():
        of.update(note="As it went.", score=3)
    return json.dumps(value)


def ratings(sessions: int = 16, agents: str = "ab") -> list[dict[str, object]]:
    """Return what two people say, who agree."""
    out = []
    for number in range(sessions):
        for agent in agents:
            score = 3 + sum(PEOPLE[name] for name in named_in(number, agent))
            about = {"conversation_id": f"s{number}", "candidate": agent, "dimension": DIMENSION}
            out += [{**about, "rater": rater, "score": score} for rater in ("ann", "ben")]
    return out


@pytest.fixture
def judged(dialogauge, serve, log, once):
    """A run of 32 sessions, two candidates and eight personas, each judged twice."""
    stub = serve(judge_of_words)

    def make():
        log(*(session(n, agent) for n in range(16) for agent in "ab"))
        done = judge(dialogauge, stub, "--repeats", "2", "-o", "run")
        assert done.code == 0, done.err

    once("sessions_by_criteria", make)
    return stub


def judge(dialogauge, stub, *words):
    at = ("--model", "stub-model", "--base-url", stub.url)
    return dialogauge("judge", "log.jsonl", "--rubric", "roleplay", *at, *words)


def fit(dialogauge, log, of=None, *words, run="run"):
    log(*(ratings() if of is None else of), name="people.jsonl")
    return dialogauge("fit", run, "--ratings", "people.jsonl", "-o", "weights.toml", *words)


def test_weights_are_fitted_and_count_and_the_judge_is_asked_the_same(dialogauge, judged, log, tmp_path):
    done = fit(dialogauge, log)
    assert done.code == 0, done.err
    file = tomllib.loads((tmp_path / "weights.toml").read_text())
    assert (file["rubric"], file["version"], file["judge"]) == ("roleplay", "1", "roleplay/stub-model")
    assert (len(file["seen"]), list(file["dimensions"])) == (32, [DIMENSION])
    of = file["dimensions"][DIMENSION]
    assert (of["sessions"], of["personas"]) == (32, 8)
    for name, worth in PEOPLE.items():
        assert of["criteria"][name]["support"] == (24 if name == "own_initiative" else 16)
        assert of["criteria"][name]["weight"] == pytest.approx(worth, abs=0.1)
    assert of["criteria"]["standstill"] == {"weight": -0.5, "prior": -0.5, "support": 0}
    figures = of["figures"]
    assert [figures[of]["rank_accuracy"][0] for of in ("fitted", "rubric", "constant")] == [1, 1, 0]
    assert figures["fitted"]["nmae"][0] < figures["rubric"]["nmae"][0] < figures["constant"]["nmae"][0]
    assert figures["fitted_less_rubric"]["nmae"][2] < 0, "its interval lies below 0"
    assert figures["people"] == {"nmae": [0.0], "bias": [0.0], "rank_accuracy": [1.0]}
    assert f"{DIMENSION}: 32 sessions of 8 personas" in done.out
    assert "human_likeness is not fitted: nobody rated it" in done.out
    assert fit(dialogauge, log, None, "--json").json == file | {
        "dimensions": {DIMENSION: of | {"note": None}}
    }
    before = len(judged.asked)
    again = judge(dialogauge, judged, "--weights", "weights.toml", "-o", "again")
    assert again.code == 0, again.err
    assert len(judged.asked) == before, "what was asked is asked no more"
    rows = {
        (r["conversation_id"], r["candidate"]): r["scores"][DIMENSION] for r in rows_of(tmp_path / "again")
    }
    worth = {name: c["weight"] for name, c in of["criteria"].items()}
    assert rows["s5", "a"] == pytest.approx(of["base"] + worth["user_leads"] + worth["own_initiative"])
    one, other = (json.loads((tmp_path / run / "manifest.json").read_text()) for run in ("run", "again"))
    assert one["judge"]["prompts"] == other["judge"]["prompts"]
    assert one["judge"]["digest"] != other["judge"]["digest"]
    assert one["criteria"]["user_leads"] == -0.5
    assert other["criteria"]["user_leads"] == worth["user_leads"], "as the page marks it"
    words = "Criteria count by weights fitted to 32 rated sessions, and not by those of the rubric."
    assert words in (tmp_path / "again" / "report.html").read_text()
    assert words not in (tmp_path / "run" / "report.html").read_text()
    agreed = dialogauge("agreement", "again", "--ratings", "people.jsonl").out
    assert "The judge scored none of these that it was not fitted to." in agreed


def test_ratings_within_the_run_and_of_a_rating_folder_give_the_same_weights(
    dialogauge, judged, log, tmp_path
):
    assert fit(dialogauge, log).code == 0
    text = (tmp_path / "weights.toml").read_text()
    (tmp_path / "folder").mkdir()
    (tmp_path / "people.jsonl").rename(tmp_path / "folder" / "ratings.jsonl")
    at = ("--ratings", "folder/ratings.jsonl", "-o", "rated")
    assert judge(dialogauge, judged, "--repeats", "2", *at).code == 0
    assert dialogauge("fit", "rated", "-o", "within.toml").code == 0
    assert (tmp_path / "within.toml").read_text() == text
    done = dialogauge("fit", "run", "--ratings", "folder", "-o", "folder.toml")
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "folder.toml").read_text() == text


# Input that will not do


def test_ratings_of_unknown_sessions_are_counted_and_said(dialogauge, judged, log):
    more = [{**one, "conversation_id": f"x{n}"} for n, one in enumerate(ratings()[:3])]
    done = fit(dialogauge, log, [*ratings(), *more])
    assert done.code == 0, done.err
    assert "ratings for 3 conversations that the input does not hold: 'x0', 'x1', 'x2'" in done.out
    refused = fit(dialogauge, log, more)
    assert refused.code == 2
    assert "no rating joins: ratings for 3 conversations that the input does not hold" in refused.err


def test_few_sessions_are_fitted_and_it_is_said(dialogauge, judged, log, tmp_path):
    done = fit(dialogauge, log, ratings(9, "b"))
    assert done.code == 0, done.err
    assert "9 sessions alone: figures say little" in done.out
    file = tomllib.loads((tmp_path / "weights.toml").read_text())
    of = file["dimensions"][DIMENSION]
    assert of["note"] == "9 sessions alone: figures say little"
    assert of["criteria"]["hook_taken_up"]["support"] == 1
    assert of["criteria"]["hook_taken_up"]["weight"] == 0.5, "of one session nothing is learnt"
    assert "rank_accuracy" not in of["figures"]["fitted"], "of one candidate there is no order"


TOO_LITTLE = {
    "one persona": (
        [one for one in ratings() if int(one["conversation_id"][1:]) % 8 == 0],
        "interactive_ability: 4 rated sessions of one persona, and none can be left out",
    ),
    "no criterion": (
        [one for one in ratings(agents="a") if one["conversation_id"] in ("s0", "s1", "s2")],
        "interactive_ability is not fitted: no criterion was named in 3 of 3 rated sessions",
    ),
    "another scale": (
        [{**one, "score": 20 * one["score"]} for one in ratings()],
        "interactive_ability is not fitted: its ratings are not on 1-5",
    ),
    "another dimension": (
        [{**one, "dimension": "interactive_ability_holistic"} for one in ratings()],
        "interactive_ability is not fitted: nobody rated it",
    ),
}


@pytest.mark.parametrize("case", TOO_LITTLE)
def test_too_little_is_refused_and_nothing_is_written(dialogauge, judged, log, tmp_path, case):
    people, message = TOO_LITTLE[case]
    done = fit(dialogauge, log, people)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "weights.toml").exists()


def test_one_conversation_of_several_candidates_is_one_persona(dialogauge, judged, log):
    log(*({**session(0, agent), "user_id": None} for agent in "abcd"))
    assert judge(dialogauge, judged, "-o", "one").code == 0
    done = fit(dialogauge, log, ratings(1, "abcd"), run="one")
    assert done.code == 2
    assert "interactive_ability: 4 rated sessions of one persona, and none can be left out" in done.err


def test_what_names_no_criteria_is_refused(dialogauge, judged, log):
    assert dialogauge("judge", "log.jsonl", "-o", "local").code == 0
    assert judge(dialogauge, judged, "--rubric", "roleplay-plain", "-o", "plain").code == 0
    refused = {
        "local": "local was judged by local",
        "plain": "the rubric 'roleplay-plain' of plain adds up no criteria",
        "log.jsonl": "weights.toml is for weights of criteria, and log.jsonl is no run",
    }
    for name, message in refused.items():
        done = fit(dialogauge, log, run=name)
        assert (done.code, message in done.err) == (2, True), done.err
    done = fit(dialogauge, log, None, "--dimension", "warmth")
    assert "the rubric 'roleplay' of run adds up no criteria for 'warmth'" in done.err
    done = dialogauge("judge", "log.jsonl", "--weights", "weights.toml", "-o", "other")
    assert (done.code, "the judge local takes no --weights" in done.err) == (2, True)


def test_weights_of_another_version_are_refused_by_both_names(dialogauge, judged, log, tmp_path):
    assert fit(dialogauge, log).code == 0
    files = Path(dialogauge_package.__file__).parent / "rubrics" / "files" / "rubrics"
    for file in files.glob("roleplay.*"):
        text = file.read_text().replace('version = "1"', 'version = "2"')
        (tmp_path / file.name.replace("roleplay", "mine")).write_text(text)
    done = judge(dialogauge, judged, "--rubric", "mine.toml", "--weights", "weights.toml", "-o", "other")
    assert done.code == 2
    both = r"the weights of weights.toml are of the rubric roleplay, version 1 \(\w{8}\), and the judge's is "
    assert re.search(both + r"roleplay, version 2 \(\w{8}\)", done.err)
    assert judge(dialogauge, judged, "--rubric", "mine.toml", "-o", "mine").code == 0
    text = (tmp_path / "mine.toml").read_text().replace('version = "2"', 'version = "3"')
    (tmp_path / "mine.toml").write_text(text)
    done = fit(dialogauge, log, run="mine")
    assert done.code == 2
    assert "mine was judged by the rubric roleplay, version 2, whose words have changed since" in done.err


FAULTS = {
    "not toml": ("rubric = ", "rubric ", "weights.toml:2: not valid TOML"),
    "a key less": ("judge = ", "# judge = ", "cannot be used: judge is missing"),
    "another format": (
        "weights/1",
        "weights/9",
        "weights.toml:7: the file of weights cannot be used: format is",
    ),
    "a key more": ("user_leads = {", "user_leads = { of = 1,", "user_leads.of is an unknown key"),
    "another sign": ("weight = -0.99", "weight = 0.99", "and the judge is asked as for -0.5"),
    "no criterion": ("user_leads", "user_led", "criteria.user_led is no criterion of the rubric"),
    "a dimension": ("dimensions.interactive", "dimensions.inactive", "criteria.user_leads is no criterion"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_file_that_is_none_of_weights_is_refused_by_line_and_key(dialogauge, judged, log, tmp_path, case):
    before, after, message = FAULTS[case]
    assert fit(dialogauge, log).code == 0
    text = (tmp_path / "weights.toml").read_text()
    assert before in text
    (tmp_path / "weights.toml").write_text(text.replace(before, after))
    done = judge(dialogauge, judged, "--weights", "weights.toml", "-o", "other")
    assert (done.code, message in done.err) == (2, True), done.err
    assert "`dialogauge fit RUN --ratings FILE -o FILE.toml` writes such a file" in done.err


def test_a_file_that_is_not_there_is_named(dialogauge, judged):
    done = judge(dialogauge, judged, "--weights", "none.toml", "-o", "other")
    assert done.code == 2
    assert "none.toml: the file of weights cannot be read: there is no such file" in done.err
