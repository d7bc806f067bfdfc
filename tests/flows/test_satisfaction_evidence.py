"""The judges `rag` and `spur`, and the check of a judge's reasons, through the command line."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from flows.test_satisfaction_model import judging, manifest_of
from rated import rated_users
from servers.contented import contented, shown_to
from talks import conversation_record


@pytest.fixture
def data(log):
    """Six users with 15 rated turns each; five are judged, one is known."""
    return log(*(conversation_record(c) for c in rated_users(6)), name="data.jsonl")


def of(stub, name):
    """The requests with a schema of that name, as texts."""
    schemas = [(b.get("response_format") or {}).get("json_schema", {}) for b in stub.asked]
    return [shown_to(b) for b, s in zip(stub.asked, schemas, strict=True) if s.get("name") == name]


def dialogue(body):
    """The dialogue that a request shows."""
    return body["messages"][-1]["content"].split("<dialogue>")[-1]


@pytest.mark.long
def test_rag_from_data_to_report(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(lambda body: 3 if "answer 2" in dialogue(body) else 5))
    words = judging("rag", stub, "--k", 3, "--strategy", "boundary-paired", "-o", "run")
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert ", by rag/m: 75 scored, 0 failed" in done.out
    assert "boundary only" not in done.out.lower()
    rows = rows_of(tmp_path / "run")
    assert {row["scores"]["satisfaction"] for row in rows} == {3, 5}
    labels = [row["details"]["labels"] for row in rows]
    assert all((x["boundary_side"] == "sat") == (x["reason"] == "satisfied") for x in labels)
    assert {len(row["details"]["sources"]) for row in rows} == {3}
    context = manifest_of(tmp_path / "run")["judge"]["context"]
    assert (context["strategy"], context["k"]) == ("boundary-paired", 3)
    assert all(text.count('"score":') == 3 for text in of(stub, "rag"))


@pytest.mark.long
def test_rag_asks_anew_when_the_history_changes(dialogauge, serve, log) -> None:
    talks = [conversation_record(c) for c in rated_users(6)]
    stub = serve(contented())
    words = judging("rag", stub, "-o", "run", "--no-cache", "--split", "all")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    asked = len(stub.asked)
    talks[0]["ratings"][0]["score"] = 2
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    # of this user's three scenarios the one with the changed rating does not stand on it
    assert len(stub.asked) - asked <= 10 + 1


@pytest.mark.long
def test_spur_induces_once_and_is_marked(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(lambda body: 3 if "question 2" in dialogue(body) else 4))
    words = judging("spur", stub, "-o", "run", "--no-cache")
    done = dialogauge("satisfaction", data, *words, "--max-calls", 30)
    assert done.code == 1
    assert "the cap of 30 calls is reached" in done.err
    found = len(of(stub, "spur_find"))
    assert found == 15
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert len(of(stub, "spur_find")) == found  # the criteria are kept with the run
    assert "Pearson*" in done.out
    assert "F1 DSAT ≤3 " in done.out
    assert "* Boundary only: the judge says only satisfied (4) or dissatisfied (3)" in done.out
    rows = rows_of(tmp_path / "run")
    assert {row["scores"]["satisfaction"] for row in rows} == {3, 4}
    assert {row["details"]["class"] for row in rows} == {"SAT", "DSAT"}
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {"pearson", "qwk", "mae", "within_user_pearson"} <= set(summary["boundary_only"])
    assert not {"f1_dsat", "auc", "false_sat"} & set(summary["boundary_only"])
    assert 0 <= sum(r["usage"]["calls"] for r in rows) - (found + 75) <= 2  # and each run's probe


@pytest.mark.long
def test_spur_without_criteria_fails_and_recovers(dialogauge, serve, data, tmp_path) -> None:
    def reply(body):
        name = body["response_format"]["json_schema"]["name"]
        return "no JSON" if name == "spur_find" else contented()(body)

    words = ("-o", "run", "--no-cache")
    done = dialogauge("satisfaction", data, *judging("spur", serve(reply, schema="ignore"), *words))
    assert done.code == 3
    rows = rows_of(tmp_path / "run")
    assert {row["failure"]["kind"] for row in rows} == {"invalid_json"}
    assert all("could not be induced" in row["failure"]["message"] for row in rows)
    again = dialogauge("satisfaction", data, *judging("spur", serve(contented()), *words), "--retry-failed")
    assert again.code == 0, again.err


@pytest.mark.long
def test_reasons_and_rationales_are_checked(dialogauge, serve, log, tmp_path) -> None:
    """A judge that gives `other` for all it minds, and speaks of trips wherever it judges gifts."""
    talks = [conversation_record(c) for c in rated_users(6)]
    for talk in talks:
        for rating in talk["ratings"]:
            if rating["score"] < 4:
                rating["note"] = "other" if talk["scenario"] == "gift" else "不够细致"

    def reply(body):
        text = contented(3)(body)
        if not text.startswith("{"):
            return text  # to a probe of the endpoint
        value = json.loads(text)
        gift = "of gift" in dialogue(body)
        value["note"] = "The trip and its hello are missing." if gift else "The answer says hello."
        return json.dumps(value)

    words = judging("rag", serve(reply), "-o", "run")
    done = dialogauge("satisfaction", log(*talks), *words)
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "run" / "summary.json").read_text())["rationale"]
    assert found["judged"] == 75
    assert found["reasons"]["insufficient_detail"]["other"] == found["kinds"]["not_core"] > 0
    assert found["kinds"]["core"] + found["kinds"]["off_task"] == found["reasons"]["other"]["other"] > 0
    assert found["reason_agreement"]["controls"]["shuffled"] is not None
    assert found["terms"]["sources_only"] > 0
    assert found["terms_by_chance"]["rationales"] == found["terms"]["rationales"] == 75
    assert "\nReasons and rationales\n" in done.out
    assert "Of 75 turns, without a rationale: 0; not comparable: 0." in done.unwrapped
    assert "words of this conversation 33.3 % by chance 33.3 %" in done.unwrapped
    assert "By chance: the same rationales compared with the history of another user." in done.unwrapped
    assert "the user 3, other; the judge 3, other" in done.out
    # a second run reads the judgements from the store, and finds the same
    again = dialogauge("satisfaction", tmp_path / "log.jsonl", *words, "--json")
    assert again.json["rationale"] == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "rag"], "needs a language model"),
        (
            ["--judge", "spur", "--k", "3"],
            "the judge spur takes no --k (it belongs to episodic-nearest and rag)",
        ),
        (["--judge", "rag", "--encoder", "x"], "the judge rag takes no --encoder"),
        (["--judge", "rag", "--strategy", "best"], "--strategy 'best' is not one of topk"),
        (["--judge", "spur", "--mode", "hindsight"], "reads nothing that follows"),
    ],
)
def test_what_cannot_be_done_is_refused(dialogauge, data, words, said) -> None:
    done = dialogauge("satisfaction", data, *words, "-o", "run")
    assert done.code == 2
    assert said in done.err
