"""`dialogauge show`, and how a page leads to every conversation."""

from __future__ import annotations

import json
import re

from flows.conftest import SAMPLES, rows_of
from parsed_pages import ParsedPage


def test_a_conversation_is_printed_whole_with_what_is_said_of_it(dialogauge, log, talk, tmp_path):
    record = talk("long", "It opens at nine. " * 200, "It opens at nine.", scenario="museum")
    record["messages"][1]["rating"] = 2
    dialogauge("judge", log(record, talk("other")), "-o", "run")
    done = dialogauge("show", "run", "long")
    assert done.code == 0
    assert done.out.count("It opens at nine.") >= 201
    assert "more characters" not in done.out
    assert "museum" in done.out.splitlines()[0]
    assert "a person: rating 2" in done.out
    assert "turn 1" in done.out
    assert "turn 2" in done.out
    assert "other" not in done.out


def test_one_turn_alone(dialogauge, log, talk):
    dialogauge("judge", log(talk("a", "First reply.", "Second reply.")), "-o", "run")
    done = dialogauge("show", "run", "a", "--turn", "2")
    assert done.code == 0
    assert "Second reply." in done.out
    assert "First reply." not in done.out
    done = dialogauge("show", "run", "a", "--turn", "7")
    assert done.code == 2
    assert "has no turn 7 (it has turns 1 to 2)" in done.err


def test_an_unknown_id_names_near_ones(dialogauge, tmp_path, log, talk):
    dialogauge("judge", SAMPLES, "-o", "run")
    done = dialogauge("show", "run", "coding")
    assert done.code == 2
    assert "has no conversation 'coding' (did you mean 'en-e-coding-photo-rename'," in done.err
    assert "more?)" in done.err
    assert "did you mean 'en-coding-csv-dedup'" in dialogauge("show", "run", "en-codign-csv-dedpu").err
    assert "all ids are in judgements.jsonl" in dialogauge("show", "run", "%%%%").err
    assert dialogauge("show", "nowhere", "a").code == 1


def test_an_argument_that_is_empty_is_named_as_help_names_it(dialogauge, log, talk):
    dialogauge("judge", log(talk("c1", "It opens at nine.", "By bus 4.")), "-o", "run")
    for arguments, name in ((("run", ""), "ID"), (("", "c1"), "RUN")):
        refused = dialogauge("show", *arguments)
        assert refused.code == 2
        assert f"{name} is empty" in refused.err
        assert "--" not in refused.err


def test_a_masked_run_is_shown_masked_and_asked_by_its_masked_ids(dialogauge, log, talk, tmp_path):
    path = log(talk("ann", "Call 13912345678 or ann@example.org."))
    dialogauge("judge", path, "-o", "masked", "--hash-ids")
    id = rows_of(tmp_path / "masked")[0]["conversation_id"]
    assert dialogauge("show", "masked", id).code == 0
    assert dialogauge("show", "masked", "ann").code == 2
    dialogauge("judge", path, "-o", "plain")
    redacted = dialogauge("show", "plain", "ann", "--redact").out
    assert "[email]" in redacted
    assert "13912345678" not in redacted
    near = dialogauge("show", "plain", "ann", "--hash-ids")
    assert near.code == 2
    dialogauge("export", "plain", "-o", "hashed.jsonl", "--hash-ids")
    id = json.loads((tmp_path / "hashed.jsonl").read_text().splitlines()[0])["conversation_id"]
    assert dialogauge("show", "plain", id, "--hash-ids").code == 0


def test_every_conversation_is_on_the_page_at_a_place_that_stays(dialogauge, log, talk, tmp_path):
    many = [talk(f"talk-{n}", "It opens at nine.") for n in range(70)]
    dialogauge("judge", log(*many), "-o", "run")
    page = ParsedPage((tmp_path / "run" / "report.html").read_text())
    anchors = [i for i in page.ids if re.fullmatch(r"c-[0-9a-f]{12}", i)]
    assert len(anchors) == 70
    assert "Every conversation, turn by turn" in page.text
    assert "The other 40" in page.text
    dialogauge("judge", log(*many[30:], talk("new", "I don't know.")), "-o", "again")
    again = ParsedPage((tmp_path / "again" / "report.html").read_text())
    assert len(set(anchors) & set(again.ids)) == 40
