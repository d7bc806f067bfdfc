"""Role-play sessions judged by evidence, over HTTP."""

from __future__ import annotations

import json
import re

import pytest

from flows.conftest import rows_of
from servers.schemas import instance

NAMES = ("interactive_ability", "human_likeness", "role_consistency", "contextual_coherence")


def session(name="mira", agent="a", turns=3, before=1):
    messages = [{"role": "system", "content": "You are Mira, who keeps a lighthouse."}]
    for n in range(1, turns + 1):
        messages += [
            {"role": "user", "content": f"Hm {n}."},
            {"role": "assistant", "content": f"Fog, “again” {n}."},
        ]
    return {
        "conversation_id": name,
        "candidate": agent,
        "messages": messages,
        "prefix_messages": 1 + 2 * before,
    }


def entry(criterion, quote, *turns):
    return {"criterion": criterion, "turns": list(turns), "quote": quote}


def judge_of(entries, holistic=2):
    """Return a judge that names these criteria, where they are asked about."""

    def reply(body):
        value = instance(body["response_format"]["json_schema"]["schema"])
        for name in value:
            if name.endswith("_criteria"):
                value[name] = [dict(e) for e in entries.get(name.removesuffix("_criteria"), ())]
        for of in value.get("conversation_level", {}).values():
            of.update(note="As it went.", score=holistic)
        for of in value.get("scores", {}).values():
            of.update(note="As it went.", score=4)
        return json.dumps(value)

    return reply


ENTRIES = {
    "interactive_ability": [
        entry("user_leads", 'fog, "again" 3', 3),
        entry("dead_ends", "Fog, “again” 1.", 2),  # it is in the history
        entry("standstill", "I was never said.", 2),
    ],
    "human_likeness": [
        entry("same_shape", "“again”", 2, 3),
        entry("same_shape", "Fog", 3),
    ],
}


def judge(dialogauge, path, stub, *words, rubric="roleplay"):
    at = ("--model", "stub-model", "--base-url", stub.url, "-o", "run")
    return dialogauge("judge", path, "--rubric", rubric, *at, *words)


def test_a_session_is_scored_by_what_can_be_quoted(dialogauge, serve, log, tmp_path):
    stub = serve(judge_of(ENTRIES))
    done = judge(dialogauge, log(session()), stub)
    assert done.code == 0, done.err
    (row,) = rows_of(tmp_path / "run")
    assert (row["level"], row["turn"]) == ("conversation", None)
    assert row["scores"] == {
        **dict.fromkeys(NAMES, 3.0),
        **{f"{name}_holistic": 2 for name in NAMES},
        "interactive_ability": 2.5,
        "human_likeness": 2.5,
        "session": 2.75,
    }
    details = row["details"]
    assert details["quotes_unsupported"] == 2
    assert details["averaged"] == {"session": 4}
    assert [(e["criterion"], e["turn"]) for e in row["evidence"]] == [
        ("user_leads", 3), ("same_shape", 2), ("same_shape", 3),
    ]  # fmt: skip
    asked = [b for b in stub.asked if "response_format" in b and "<history>" in str(b["messages"])]
    assert len(asked) == 4
    data = asked[0]["messages"][-1]["content"]
    history, dialogue = data.split("</history>")
    assert ("Fog, “again” 1." in history, "Fog, “again” 1." in dialogue) == (True, False)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["dimensions"]["session"]["mean"] == 2.75
    assert (
        json.loads((tmp_path / "run" / "manifest.json").read_text())["judge"]["settings"]["calls"]
        == "separate"
    )
    page = (tmp_path / "run" / "report.html").read_text()
    assert "2 quotes that do not occur in the conversation, dropped" in page
    shown = dialogauge("show", "run", "mira").out
    assert '- user leads, turn 3: “fog, "again" 3”' in shown
    assert "  session 2.75\n" in shown


def test_three_repeats_are_three_judgements_each(dialogauge, serve, log, tmp_path):
    stub = serve(judge_of({}))
    done = judge(dialogauge, log(session()), stub, "--repeats", "3", "--no-cache")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert [r["repeat"] for r in rows] == [1, 2, 3]
    assert sum(r["usage"]["calls"] for r in rows) >= 12
    assert {r["scores"]["session"] for r in rows} == {3.0}


def test_first_turns_alone_are_shown_and_part_of_the_judgement(dialogauge, serve, log, tmp_path):
    stub, path = (
        serve(judge_of({"interactive_ability": [entry("user_leads", "Fog, “again” 4.", 2)]})),
        log(session(turns=4)),
    )
    assert judge(dialogauge, path, stub, "--first-turns", "2").code == 0
    (row,) = rows_of(tmp_path / "run")
    assert row["details"]["quotes_unsupported"] == 1
    assert "“again” 4" not in str(stub.asked)
    before = len(stub.asked)
    assert judge(dialogauge, path, stub, "--first-turns", "2").code == 0
    assert len(stub.asked) == before, "it is done"
    done = judge(dialogauge, path, stub)
    assert done.code == 0, done.err
    (row,) = rows_of(tmp_path / "run")
    assert row["scores"]["interactive_ability"] == 2.5
    assert len(stub.asked) == before + 4
    assert judge(dialogauge, path, stub, "--first-turns", "0").code == 2


def test_what_is_too_long_for_the_judge_is_judged_in_segments_and_the_page_says_so(
    dialogauge, serve, log, tmp_path
):
    stub = serve(judge_of({"interactive_ability": [entry("user_leads", "Hm 12.", 12)]}))
    role = f'[roles.judge]\nmodel = "stub-model"\nbase_url = "{stub.url}"\n'
    (tmp_path / "dialogauge.toml").write_text(role + "context_tokens = 5800\nmax_tokens = 4096\n")
    done = dialogauge("judge", log(session(turns=12)), "--rubric", "roleplay", "--judge", "llm", "-o", "run")
    assert done.code == 0, done.err
    (row,) = rows_of(tmp_path / "run")
    assert row["details"]["in_segments"] is True
    assert row["scores"]["interactive_ability"] == 2.5
    page = (tmp_path / "run" / "report.html").read_text()
    assert "1 conversations that do not fit into a prompt, judged in segments" in page


@pytest.mark.parametrize(("rubric", "rows", "calls"), [("roleplay-plain", 1, 4), ("roleplay-turn", 3, 8)])
def test_the_ablations(dialogauge, serve, log, tmp_path, rubric, rows, calls):
    stub = serve(judge_of({}, holistic=4))
    done = judge(dialogauge, log(session()), stub, rubric=rubric)
    assert done.code == 0, done.err
    found = rows_of(tmp_path / "run")
    assert len(found) == rows
    assert found[-1]["level"] == "conversation"
    assert found[-1]["scores"] == dict.fromkeys((*NAMES, "session"), 4)
    assert sum(r["usage"]["calls"] for r in found) == calls + 1  # one asks whether schemas are kept
    assert "session" in (tmp_path / "run" / "report.html").read_text()


def test_a_dimension_that_cannot_be_read_fails_the_session(dialogauge, serve, log, tmp_path):
    def reply(body):
        return "no" if "role_consistency_criteria" in str(body["response_format"]) else judge_of({})(body)

    done = judge(dialogauge, log(session()), serve(reply, schema="ignore"))
    assert done.code == 3
    (row,) = rows_of(tmp_path / "run")
    assert row["scores"] is None
    assert row["failure"]["message"].startswith("role_consistency: ")


def test_a_bad_rubric_is_refused_with_its_line_before_anything_is_asked(dialogauge, serve, log, tmp_path):
    stub = serve(judge_of({}))
    (tmp_path / "mine.toml").write_text(
        'id = "mine"\nversion = 1\nlevel = "conversation"\nlanguages = ["en"]\nshows = ["dialogue"]\n'
        "template = '''{{dimensions}}{{reply_format}}\n<!-- data -->\n{{dialogue}}{{asked}}'''\n"
        '[[dimensions]]\nname = "warmth"\nscale = { low = 1, high = 5, integer = false }\ndescription = "x"\n'
        '[[items]]\nname = "shown"\ndimension = "warmth"\nbase = 9\ndescription = "x"\n'
        'options = [{ name = "thanks", weight = 1, description = "x" }]\n'
    )
    done = judge(dialogauge, log(session()), stub, rubric="mine.toml")
    assert done.code == 2
    assert "mine.toml:16: items.shown.base: 9 is off the scale 1-5 of warmth" in " ".join(done.err.split())
    assert not stub.asked


def test_the_page_marks_criteria_and_shows_candidates_drift_and_scores_of_turns(
    dialogauge, serve, log, tmp_path
):
    def late(body):
        # The second candidate says nothing that is quoted; the judged turns are 2 to 7, two in each third.
        return judge_of(
            {
                "interactive_ability": [
                    entry(name, f"Fog, “again” {n}.", n) for n, name in ((6, "dead_ends"), (7, "user_leads"))
                ],
                "human_likeness": [entry("lived_detail", "Fog, “again” 2", 2)],
            }
            if "“again” 6." in str(body["messages"])
            else {}
        )(body)

    stub, plain = serve(late), session("mira", "b", turns=7)
    for message in plain["messages"]:
        message["content"] = message["content"].replace("again", "once")
    path = log(session("mira", "a", turns=7), plain)
    assert judge(dialogauge, path, stub, "--unchecked").code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert '<mark class="loss">Fog, “again” 6.<small>dead ends -0.5</small></mark></p>' in page
    assert '<mark class="gain">Fog, “again” 2<small>lived detail +0.5</small></mark>.</p>' in page
    assert (page.count('<mark class="loss">'), page.count('<mark class="gain">')) == (2, 1)
    assert "dead ends, turn 6" in page
    agents = page[page.index('id="agents"') : page.index('id="drift"')]
    cards = agents.split("<h3")[1:]
    assert [re.findall(r'scope="row"[^>]*>(.)<', card)[:2] for card in cards[:5]] == [["b", "a"]] * 5
    drift = page[page.index('id="drift"') : page.index('id="conversations"')]
    rows = [re.findall(r">([-+\d.ab]{1,5})<", row)[:5] for row in drift.split("<tr")[-2:]]
    assert rows == [["a", "0.00", "0.00", "1.00", "+1.00"], ["b", "0.00", "0.00", "0.00", "+0.00"]]
    # Nothing shows that the judge is right: of unchecked scores no order of candidates is drawn.
    at = ("--model", "stub-model", "--base-url", stub.url)
    assert dialogauge("judge", path, "--rubric", "roleplay", *at, "-o", "modest").code == 0
    assert 'id="drift"' not in (tmp_path / "modest" / "report.html").read_text()
    assert dialogauge("judge", path, "--rubric", "roleplay-turn", *at, "-o", "turns").code == 0
    before = page.count("human likeness turn")
    done = dialogauge("report", "run", "--turns", "turns", "-o", "both.html")
    assert done.code == 0, done.err
    both = (tmp_path / "both.html").read_text()
    assert both.count("human likeness turn") == before + 12
    assert both.count("<mark ") == 3
    done = dialogauge("report", "run", "--turns", "turns", "-o", "hidden.html", "--hash-ids", "--redact")
    assert done.code == 0, done.err
    hidden = (tmp_path / "hidden.html").read_text()
    assert ("mira" in hidden, hidden.count("human likeness turn")) == (False, before + 12)
    for words, message in (
        (("turns", "--turns", "run"), "is judged turn by turn"),
        (("run", "--turns", "modest"), "scores no turn of the conversations"),
    ):
        done = dialogauge("report", *words, "-o", "never.html")
        assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "never.html").exists()
