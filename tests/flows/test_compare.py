"""`dialogauge compare`: two logs judged, and what became better and worse."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

import dialogauge as library
from flows.conftest import SAMPLES
from parsed_pages import ParsedPage
from servers.verdicts import ideal

REFUSAL = "I'm sorry, but I cannot help with that."


@pytest.fixture
def samples():
    """The sample conversations; some with a reply in the middle that refuses."""

    def records(worse=0.0):
        rng = random.Random(1)
        lines = (SAMPLES / "held_out.jsonl").read_text(encoding="utf-8").splitlines()
        for record in map(json.loads, lines):
            replies = [m for m in record["messages"] if m["role"] == "assistant" and m.get("content")]
            if rng.random() < worse:
                replies[len(replies) // 2]["content"] = REFUSAL
            yield record

    return lambda worse=0.0: list(records(worse))


@pytest.fixture
def two(dialogauge, log, samples, once):
    """Runs `old` and `new` of the samples, the second worse."""

    def make():
        assert dialogauge("judge", log(*samples(), name="old.jsonl"), "-o", "old").code == 0
        assert dialogauge("judge", log(*samples(0.7), name="new.jsonl"), "-o", "new").code == 0

    once("compare-two", make)


def test_a_log_with_worse_replies_is_a_regression(dialogauge, two, tmp_path):
    done = dialogauge("compare", "old", "new", "-o", "out", "--gate", "findings.delta<=0.05")
    assert done.code == 100
    first = "More conversations have the finding “Declines a request that seems harmless”: "
    assert done.out.startswith(first)
    assert "gate findings.delta<=0.05 not met" in done.unwrapped
    assert "would be shown in 4 of 5 cases (80 % power)" in done.unwrapped
    assert "Paired by id" in done.out
    assert "Not tested, because nothing shows that they agree with people" in done.unwrapped
    assert len(done.out[done.out.index("Findings that came and went") :].splitlines()) < 40  # one screen
    assert "`" not in done.out
    written = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert written["findings"]["refuses"]["answer"] == "more"
    assert written["dimensions"]["helpfulness"]["answer"] == "not tested"
    assert (written["unchecked"], written["turned_by"]) == (False, "findings")
    assert written["answer"][0].startswith(first)
    text = ParsedPage((tmp_path / "out" / "compare.html").read_text()).text
    assert REFUSAL in text
    by_id = text[text.index(f"All {len(written['down']) + len(written['up'])} by id") :]
    assert all(f"{pair['a']}: new: " in by_id for pair in written["down"])
    assert "dialogauge show old ID; dialogauge show new ID" in by_id
    few = dialogauge("compare", "old", "new", "--pairs", "1").out
    assert f"The 1 clearest, of {len(written['down'])}." in few
    assert REFUSAL in few
    assert dialogauge("compare", "old", "new").code == 0
    assert dialogauge("compare", "old", "new", "--json").json == {**written, "gates": []}


@pytest.mark.long
def test_what_is_unchecked_is_listed_apart_and_gates_only_where_it_is_asked_for(dialogauge, two, tmp_path):
    gate = ("--gate", "helpfulness.delta>=-0.1")
    refused = dialogauge("compare", "old", "new", *gate)
    assert refused.code == 2
    assert "nothing shows that helpfulness agrees with people" in refused.err
    assert "what may gate here: failed.delta, findings.delta, finding.refuses.delta" in refused.err
    verbose = dialogauge("compare", "old", "new", "-v").out
    listed = verbose[verbose.index("Unchecked: order of reading only") :]
    assert "helpfulness" in listed
    assert not any(word in verbose for word in ("is worse", "is better", "became"))
    asked = dialogauge("compare", "old", "new", *gate, "--unchecked", "-o", "out")
    assert asked.code == 100
    assert asked.out.startswith("UNCHECKED: nothing shows that these scores agree with people or outcomes")
    assert "new is worse than old: " in asked.unwrapped
    text = ParsedPage((tmp_path / "out" / "compare.html").read_text()).text
    assert text.index("UNCHECKED: ") < text.index("new is worse than old: ")
    written = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert written["unchecked"] is True
    assert written["answer"][0].startswith("UNCHECKED: ")
    assert written["dimensions"]["helpfulness"]["answer"] == "worse"


@pytest.mark.long
def test_what_one_run_shows_of_the_judge_holds_for_the_other(dialogauge, two, monkeypatch):
    from dialogauge.app import compare as app
    from dialogauge.core.errors import UsageError
    from dialogauge.studies.evidence import DimensionEvidence, evidence_of

    shown = DimensionEvidence(checked=True, by="ratings of this run")

    def rated(run, judge=None, **more):
        evidence = evidence_of(run, **more)
        if run.directory.path.name == "new":
            return evidence
        return replace(evidence, dimensions={"helpfulness": shown}, judge=judge or evidence.judge)

    monkeypatch.setattr(app, "evidence_of", rated)
    gate = ["helpfulness.delta>=-0.1"]
    for pair in (("old", "new"), ("new", "old")):
        dimensions = library.compare(*pair, gates=gate).figures.dimensions
        assert dimensions.helpfulness.checked_by == "ratings of this run"
        assert dimensions.coherence.answer == "not tested"
    # A judge that gives a planted fault more helpfulness than the reply it stands for shows nothing by it.
    rewards = (SimpleNamespace(words="an echo"), SimpleNamespace(dimension="helpfulness"))
    with app.open_run("old") as a, app.open_run("new") as b:
        evidence = app._evidence(a, b, SimpleNamespace(rewarded=[rewards]), unchecked=False)
    assert "an echo" in evidence.of("helpfulness").why
    assert not evidence.counts("helpfulness")
    monkeypatch.setattr(app, "evidence_of", partial(rated, judge="another"))
    with pytest.raises(UsageError, match="nothing shows that helpfulness agrees"):
        library.compare("old", "new", gates=gate)


@pytest.mark.long
def test_the_same_log_judged_twice_does_not_differ(dialogauge, log, samples):
    for run in ("one", "two"):
        dialogauge("judge", log(*samples()[:12]), "-o", run)
    done = dialogauge("compare", "one", "two", "--gate", "findings.delta<=0.5")
    assert done.code == 0
    assert done.out.startswith("No difference: two has the same findings as one in 12 pairs.")
    missed = dialogauge("compare", "one", "two", "--gate", "findings.delta<=0.05")
    assert missed.code == 100
    assert "it cannot show a change of 5 points" in missed.unwrapped


@pytest.mark.long
def test_groups_and_what_is_not_paired(dialogauge, log, samples):
    records = samples()
    dialogauge("judge", log(*records[:10], name="a.jsonl"), "-o", "a")
    dialogauge("judge", log(*records[10:], name="b.jsonl"), "-o", "b")
    done = dialogauge("compare", "a", "b", "--by", "language,scenario")
    assert done.code == 0
    assert "Not paired: two samples" in done.out
    assert "By language" in done.out
    assert "The runs are not paired." in done.out
    assert dialogauge("compare", "a", "b", "--by", "colour").code == 2


@pytest.mark.long
def test_two_versions_in_one_log(dialogauge, log, samples, tmp_path):
    # One log holds both versions; what is said is what is said of a log for each.
    by_version = {"v1": samples()[:9], "v2": samples()[9:18]}
    both = [record | {"model": name} for name, records in by_version.items() for record in records]
    dialogauge("judge", log(*both), "-o", "both")
    for name, records in by_version.items():
        dialogauge("judge", log(*records, name=f"{name}.jsonl"), "-o", name)
    apart = dialogauge("compare", "v1", "v2", "-o", "apart")
    done = dialogauge("compare", "both", "both", "--candidates", "v1,v2", "-o", "within")
    assert done.code == 0
    assert done.out.replace("within/", "apart/") == apart.out
    within, of_two = (json.loads((tmp_path / n / "compare.json").read_text()) for n in ("within", "apart"))
    assert within == of_two
    assert within["a"]["conversations"] == 9
    refused = dialogauge("compare", "both", "both", "--candidates", "v1,v3")
    assert refused.code == 2
    assert "the run both has no candidate 'v3' (it has v1, v2)" in refused.err
    assert "--candidates OLD,NEW" in dialogauge("compare", "both", "both").err
    assert dialogauge("compare", "both", "both", "--candidates", "v1").code == 2


def test_two_versions_of_one_dialogue_in_one_log(dialogauge, log, talk):
    replies = {"v1": "Sorry, I cannot help with that.", "v2": "It opens at nine."}
    both = [
        talk(f"{name}-{n}", reply, model=name, scenario="hours", user_id=f"u{n}")
        for name, reply in replies.items()
        for n in range(6)
    ]
    assert dialogauge("judge", log(*both), "-o", "both").code == 0
    done = dialogauge("compare", "both", "both", "--candidates", "v1,v2", "--pairs", "1")
    assert "A: v1, 6 conversations. B: v2, 6 conversations. Paired by scenario and user" in done.unwrapped
    pairs = done.out[done.out.index("Without findings that were there before") :]
    assert "assistant: Sorry, I cannot help with that." in pairs


def test_two_versions_under_the_same_ids_in_one_log(dialogauge, log, talk):
    replies = {"v1": "Sorry, I cannot help with that.", "v2": "It opens at nine."}
    both = [talk(f"c{n}", reply, model=name) for name, reply in replies.items() for n in range(6)]
    judged = dialogauge("judge", log(*both), "-o", "both")
    assert "conversations judged  12/12" in judged.out
    done = dialogauge("compare", "both", "both", "--candidates", "v1,v2", "--pairs", "1")
    assert "A: v1, 6 conversations. B: v2, 6 conversations. Paired by id." in done.unwrapped
    assert "assistant: It opens at nine." in done.out


def test_one_conversation_only(dialogauge, log, talk):
    dialogauge("judge", log(talk("c", "It opens at nine.")), "-o", "a")
    dialogauge("judge", log(talk("c", "No idea.")), "-o", "b")
    done = dialogauge("compare", "a", "b")
    assert done.code == 0
    assert done.out.startswith("Too few to tell b from a: too few conversations: 1")


def test_runs_of_one_user_and_runs_that_share_nothing(dialogauge, log, talk):
    def run(name, prefix, user, reply):
        talks = [talk(f"{prefix}{i}", reply, user_id=user) for i in range(8)]
        assert dialogauge("judge", log(*talks, name=f"{name}.jsonl"), "-o", name).code == 0

    run("a", "c", "u", "It opens at nine.")
    run("b", "c", "u", "Sorry, I cannot help with that.")
    run("c", "d", "v", "Sorry, I cannot help with that.")
    one = dialogauge("compare", "a", "b", "--gate", "findings.delta<=0.05")
    assert "8 of 8, before 0 of 8 (+100.0 points [" in one.unwrapped
    assert "All conversations are of one user: what is shown holds for this user." in one.unwrapped
    assert one.code == 100
    apart = dialogauge("compare", "a", "c")
    assert apart.out.startswith("Too few to tell c from a: too few users: ")
    assert "Not paired: two samples" in apart.out


def test_what_cannot_be_compared_is_refused(dialogauge, log, talk, tmp_path):
    path = log(talk("c"))
    dialogauge("judge", path, "-o", "card")
    dialogauge("judge", path, "-o", "other", "--rubric", "satisfaction")
    refused = dialogauge("compare", "card", "other")
    assert refused.code == 2
    assert (
        "the runs are of different rubrics: card of the judge local in card and satisfaction" in refused.err
    )
    refused = dialogauge("compare", "card", path)
    assert refused.code == 2
    assert "is no run: only judged conversations can be compared" in refused.err
    assert f"dialogauge judge {path} -o runs/log && dialogauge compare card runs/log" in refused.err
    assert "there is no run nowhere" in dialogauge("compare", "card", "nowhere").err
    assert "compared with itself" in dialogauge("compare", "card", "./card").err
    assert dialogauge("compare", "card", "other", "--gate", "good>=1").code == 2


@pytest.mark.long
def test_failures_on_one_side_are_counted_and_bound_the_difference(dialogauge, log, samples):
    records = samples()[:8]
    dialogauge("judge", log(*records, name="a.jsonl"), "-o", "a")
    records[0]["messages"] = records[0]["messages"][:1]  # nobody replied
    dialogauge("judge", log(*records, name="b.jsonl"), "-o", "b")
    done = dialogauge("compare", "a", "b", "--json")
    value = done.json
    assert value["b"]["failures"]["no_reply"] >= 1
    coherence = value["dimensions"]["coherence"]
    assert (coherence["a"]["n"], coherence["b"]["n"], coherence["a"]["left_out"]) == (7, 7, 1)
    low, high = coherence["bounds"]
    assert low < coherence["delta"]["value"] < high
    assert "Failed in B:" in dialogauge("compare", "a", "b").out


@pytest.mark.long
def test_from_python(dialogauge, two, tmp_path):
    change = library.compare("old", library.open_run("new"), gates=["findings.delta<=0.05"])
    assert not change
    assert change.answers[0].startswith("More conversations have the finding")
    assert change.figures.findings.refuses.answer == "more"
    assert "not met" in change.gates[0]
    assert repr(change) == f"<RunChange: {change.answers[0]} {change.gates[0]}>"
    assert change.page(tmp_path / "page.html").is_file()


def test_a_masked_comparison_shows_no_name(dialogauge, log, talk, tmp_path):
    for run, reply in (("a", "Call ann@example.org, at nine."), ("b", "No idea. ann@example.org knows.")):
        dialogauge("judge", log(*(talk(f"c{i}", reply, reply) for i in range(6))), "-o", run)
    assert "ann@example.org" in dialogauge("compare", "a", "b", "--pairs", "1", "-o", "open").out
    shown = dialogauge("compare", "a", "b", "--redact", "--pairs", "1", "-o", "out")
    assert shown.code == 0
    assert "[email]" in shown.out
    page = (tmp_path / "out" / "compare.html").read_text()
    assert "ann@example.org" not in shown.out + page


def test_runs_that_hide_their_ids_by_keys_of_their_own_cannot_be_paired_and_it_is_said(dialogauge, log, talk):
    path = log(*(talk(f"c{i}") for i in range(6)))
    for run in ("a", "b"):
        dialogauge("judge", path, "-o", run, "--hash-ids")
    done = dialogauge("compare", "a", "b")
    assert "Not paired: two samples" in done.unwrapped
    assert "Judge one of them without it: its ids are then hidden by the key of the other." in done.unwrapped


@pytest.mark.parametrize(("a", "b", "asked"), [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)])
def test_ids_that_one_run_hides_are_hidden_by_its_key_in_the_other(
    dialogauge, log, talk, tmp_path, a, b, asked
):
    path = log(*(talk(f"call-{i}0{i}", "It opens at nine.", user_id=f"user-{i}9") for i in range(6)))
    for run, hides in (("a", a), ("b", b)):
        dialogauge("judge", path, "-o", run, *["--hash-ids"] * hides)
    words = ["--hash-ids"] * asked
    done = dialogauge("compare", "a", "b", "-o", "out", *words)
    assert "Paired by id" in done.unwrapped
    assert ("the ids of" in done.unwrapped) == bool(a or b)
    shown = done.out + (tmp_path / "out" / "compare.html").read_text()
    assert "call-" not in shown
    assert "user-" not in shown


def test_another_model_as_judge_is_said(dialogauge, serve, log, talk):
    path = log(*(talk(f"c{i}") for i in range(6)))
    stub = serve(ideal)
    for model in ("alpha", "beta"):
        dialogauge("judge", path, "--model", model, "--base-url", stub.url, "-o", model)
    done = dialogauge("compare", "alpha", "beta")
    assert done.code == 0
    assert "The judges differ (alpha and beta): a difference may be theirs." in done.unwrapped
    dialogauge("judge", path, "-o", "local")
    refused = dialogauge("compare", "alpha", "local")
    assert refused.code == 2
    assert "different rubrics: card, version 1 in alpha and card of the judge local in local" in refused.err


def test_what_the_judge_would_not_notice_stands_beside_the_gate(dialogauge, two, tmp_path):
    done = dialogauge("compare", "old", "new", "--planted", 8, "--gate", "findings.delta<=0.9", "-o", "out")
    gate, blind = (done.unwrapped.index(words) for words in ("gate findings", "This judge would not notice"))
    assert gate < blind < done.unwrapped.index("Paired by id")
    assert "Faults of other kinds were not tried." in done.unwrapped
    planted = json.loads((tmp_path / "out" / "compare.json").read_text())["planted"]
    assert planted["faults"]["empty"]["answer"] == "noticed"
    assert (planted["size"], planted["judge"]) == (8, "local")
    assert "This judge would not notice" in ParsedPage((tmp_path / "out" / "compare.html").read_text()).text
    none = dialogauge("compare", "old", "new", "--planted", 0, "--json").json
    assert "planted" not in none
    assert dialogauge("compare", "old", "new", "--dry-run", "--planted", 8, "--json").json["planted"] > 80


def test_faults_are_planted_in_a_notebook_too(two):
    async def cell():
        return library.compare("old", "new", planted=3)

    change = asyncio.run(cell())
    assert change.answers[-1] == "Faults of other kinds were not tried."
    assert change.figures.planted.faults["empty"].share.value == 1


def test_a_model_judges_planted_replies_of_a_comparison_when_asked(dialogauge, serve, log, samples):
    stub = serve(ideal)
    judge = ("--model", "stub-model", "--base-url", stub.url, "--no-cache")
    for name, some in (("old", samples()), ("new", samples(0.7))):
        dialogauge("judge", log(*some, name=f"{name}.jsonl"), *judge, "-o", name)
    before = len(stub.asked)
    untold = dialogauge("compare", "old", "new")
    assert "It is not known what this judge would not notice" in untold.unwrapped
    assert len(stub.asked) == before
    plan = dialogauge("compare", "old", "new", "--planted", 1, "--no-cache", "--dry-run", "--json").json
    assert plan["asking"]["calls"] == plan["planted"] > 8
    assert len(stub.asked) == before
    done = dialogauge("compare", "old", "new", "--planted", 1, "--no-cache")
    assert len(stub.asked) - before == plan["planted"]
    assert "Faults of other kinds were not tried." in done.unwrapped
    # what `trust` found is taken without a call
    assert dialogauge("trust", "old", "--planted", 1, "--no-cache").code == 0
    before = len(stub.asked)
    again = dialogauge("compare", "old", "new")
    assert "Faults of other kinds were not tried." in again.unwrapped
    assert len(stub.asked) == before
