"""Who scores a replay: the judges of `judge`, with the settings that these take there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.test_fit import uss_file
from flows.test_replay_plain import scored_as, stored, write_replies
from servers.contented import shown_to

ASK, FINE, BAD = "Where can I eat?", "It is at 77 Mill Road.", "Sorry, there is nothing."


@pytest.fixture
def run(dialogauge, log, once):
    """Twelve users were told of a road; `mine` has nothing for them, `same` says what they were told."""

    def talk(number):
        texts = (("user", ASK), ("assistant", FINE), ("user", "Thanks."))
        return {"id": f"c{number}", "messages": [{"role": r, "content": t} for r, t in texts]}

    def make():
        dialogauge("replay", "select", log(*map(talk, range(12))), "--rule", "all", "-o", "items.json")
        items = stored("items.json")["items"]
        write_replies("mine.jsonl", items, BAD)
        write_replies("same.jsonl", items, FINE)
        both = ("--candidate", "replies:mine.jsonl", "--candidate", "replies:same.jsonl")
        assert dialogauge("replay", "collect", "items.json", *both, "-o", "run").code == 0

    once("replay-evaluators", make)
    return Path("run")


@pytest.mark.long
def test_a_model_of_ratings_scores_replies_as_it_does_in_judge(dialogauge, run, tmp_path) -> None:
    """In the ratings it was fitted to people gave 2 to the sorry reply, and 3 to an address."""
    data = uss_file(tmp_path / "set.txt")
    assert dialogauge("fit", data, "--cv", 5, "-o", "fits").code == 0
    done = dialogauge("replay", "score", "run", "--fitted-model", "fits")
    assert done.code == 0, done.err
    assert "12 replies scored by fitted" in done.out
    found = dialogauge("replay", "compare", "run", "--json").json
    raw = found["dimensions"]["satisfaction"]["views"]["raw"]
    means = {name: of["user_macro"] for name, of in raw["candidates"].items()}
    assert means == {"original": 3, "mine": 2, "same": 3}
    values = {name: of["fraction_user_macro"] for name, of in raw["candidates"].items()}
    # People gave addresses 3, 3 and 4, and the sorry reply 2, 2 and 3.
    assert values == pytest.approx({"original": 10 / 3, "mine": 7 / 3, "same": 10 / 3}, abs=0.1)
    assert found["evaluator"]["fitted_to"] == 0
    shown = dialogauge("replay", "compare", "run", "--judge", "fitted")
    assert "This evaluator is not checked, so it ranks nobody." in shown.unwrapped
    assert "Scores, not a ranking" in shown.unwrapped
    assert "below the original" not in shown.unwrapped
    shown = dialogauge("replay", "compare", "run", "--judge", "fitted", "--unchecked")
    assert shown.out.index("UNCHECKED") < shown.out.index("mine is below the original replies.")
    assert "was fitted to people's ratings of" not in shown.unwrapped


@pytest.mark.long
def test_what_the_evaluator_was_fitted_to_is_said(dialogauge, log, tmp_path) -> None:
    """The sorry conversations stand in the fitted set word for word, those with this address do not."""
    data = uss_file(tmp_path / "set.txt")
    assert dialogauge("fit", data, "--cv", 5, "-o", "fits").code == 0
    texts = [BAD, FINE, BAD]
    talks = [(("user", ASK), ("assistant", reply), ("user", "Thanks.")) for reply in texts]
    file = log(
        *(
            {"id": f"c{n}", "messages": [{"role": r, "content": t} for r, t in talk]}
            for n, talk in enumerate(talks)
        )
    )
    dialogauge("replay", "select", file, "--rule", "all", "-o", "items.json")
    write_replies("mine.jsonl", stored("items.json")["items"], BAD)
    words = ("replay", "run", file, "--rule", "all", "--candidate", "replies:mine.jsonl", "--hash-ids")
    done = dialogauge(*words, "--judge", "fitted", "--fitted-model", "fits/model.json", "-o", "run")
    assert done.code == 0, done.err
    assert "fitted to people's ratings of the conversations of 2 of 3 items" in done.unwrapped
    assert "conversations of 2 of 3 items" in Path("run/report.html").read_text()


def test_source_and_policies_reach_the_model(dialogauge, run, serve) -> None:
    Path("facts.txt").write_text("The road is closed. SOURCE-7731")
    Path("policy.toml").write_text('text = "Name a street. POLICY-7731"\n[[domains]]\nname = "all"\n')
    server = serve(scored_as(lambda _: 4))
    model = ("--model", "m", "--base-url", server.url, "--no-planted")
    for rubric, more, mark in (
        ("factuality", ("--source", "facts.txt"), "SOURCE-7731"),
        ("td-turn", ("--policy", "policy.toml"), "POLICY-7731"),
    ):
        before = len(server.asked)
        done = dialogauge("replay", "score", "run", "--rubric", rubric, *more, *model)
        assert done.code == 0, done.err
        asked = [shown_to(body) for body in server.asked[before:]]
        assert len(asked) == 36, "12 originals, and 12 of each candidate"
        assert all(mark in text for text in asked)


def test_one_call_for_each_dimension(dialogauge, run, serve) -> None:
    server = serve(scored_as(lambda _: 4))
    model = ("--model", "m", "--base-url", server.url, "--no-planted", "--rubric", "td-turn")
    assert dialogauge("replay", "score", "run", *model, "--calls", "separate").code == 0
    apart = len(server.asked)
    assert dialogauge("replay", "score", "run", *model).code == 0
    assert len(server.asked) - apart == 36
    assert apart > 36
    assert apart % 36 == 0


@pytest.mark.long
def test_a_page_shows_the_items_on_which_its_own_evaluator_differs(dialogauge, run, serve) -> None:
    """One judge dislikes what a candidate says to the last item, the other what it says to the one before."""
    items = [item["id"] for item in stored("items.json")["items"]]
    told = [*["Yes."] * 10, "Yes, under the oak.", "Yes, under the pine."]
    with Path("odd.jsonl").open("w") as file:
        file.writelines(json.dumps({"item": i, "reply": r}) + "\n" for i, r in zip(items, told, strict=True))
    dialogauge("replay", "collect", "items.json", "--candidate", "replies:odd.jsonl", "-o", "run")
    for model in ("pine", "oak"):
        server = serve(scored_as(lambda text, tree=model: 4 if tree in text else 5))
        words = ("--rubric", "satisfaction", "--no-planted", "--model", model, "--base-url", server.url)
        assert dialogauge("replay", "score", "run", *words).code == 0
    for model, item in (("pine", items[11]), ("oak", items[10])):
        done = dialogauge("replay", "compare", "run", "--judge", f"satisfaction/{model}")
        assert done.code == 0, done.err
        page = (run / "report.html").read_text()
        assert min(items, key=lambda name: page.index(name)) == item


REFUSED = {
    "no model of ratings": (("--judge", "fitted"), "the judge fitted needs a model of ratings"),
    "a rubric": (("--fitted-model", "fits", "--rubric", "card"), "the judge fitted takes no --rubric card"),
    "a model": (("--judge", "fitted", "--fitted-model", "fits", "--model", "m"), "fitted takes no model"),
    "a history": (("--fitted-model", "fits", "--history", "all"), "the judge fitted takes no --history"),
    "another judge": (("--judge", "local", "--fitted-model", "fits"), "local takes no --fitted-model"),
    "source of a user's judge": (
        ("--judge", "history-mean", "--source", "f.txt"),
        "the judge history-mean takes no --source",
    ),
    "source of the local judge": (
        ("--rubric", "card", "--source", "f.txt"),
        "the judge local takes no --source",
    ),
    "coefficients of a model": (
        ("--rubric", "card", "--local-model", "f.json", "--model", "m", "--base-url", "http://127.0.0.1:9"),
        "the judge llm takes no --local-model",
    ),
    "source of a rubric without": (
        ("--rubric", "card", "--source", "f.txt", "--model", "m", "--base-url", "http://127.0.0.1:9"),
        "the rubric 'card' shows no source",
    ),
    "source of pairs": (
        ("--rubric", "pair", "--source", "f.txt", "--model", "m", "--base-url", "http://127.0.0.1:9"),
        "takes no --source",
    ),
    "encoder of another": (
        ("--judge", "history-mean", "--encoder", "tiny"),
        "the judge history-mean takes no --encoder",
    ),
    "neighbours of another": (("--judge", "history-mean", "--k", 3), "the judge history-mean takes no --k"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", REFUSED)
def test_a_setting_of_another_judge_is_refused(dialogauge, run, case) -> None:
    Path("f.txt").write_text("A fact.")
    words, why = REFUSED[case]
    done = dialogauge("replay", "score", "run", *words)
    assert done.code == 2, done.out
    assert why in " ".join(done.err.split())
    assert stored("items.json")["rule"] == "all"
