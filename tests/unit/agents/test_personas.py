"""Scenarios read from files, and user personas made of characters."""

from __future__ import annotations

import asyncio
import json

import pytest

from dialogauge.agents import derive_persona, persona_fault, read_scenarios
from dialogauge.core import FileFault, RecordFault
from dialogauge.llm import ChatFailure, ScriptedClient

INN = {"id": "inn", "name": "Rosa", "text": "Rosa keeps an inn by the harbour and trusts nobody."}


def written(tmp_path, *entries, name="scenarios.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries))
    return str(path)


def the_one(tmp_path, **more):
    return read_scenarios(written(tmp_path, {**INN, **more}))[0]


def test_the_same_scenarios_in_each_form(tmp_path) -> None:
    toml = tmp_path / "s.toml"
    toml.write_text('[[scenario]]\nid = "inn"\nname = "Rosa"\ntext = "Rosa keeps an inn."\n')
    entry = {"id": "inn", "name": "Rosa", "persona": "Rosa keeps an inn."}
    whole = tmp_path / "s.json"
    forms = [str(toml), written(tmp_path, entry, entry | {"id": "two"})]
    for form in ([entry], {"personas": [entry]}, {"scenarios": [entry]}, entry):
        whole.write_text(json.dumps(form))
        assert read_scenarios(str(whole)) == read_scenarios(forms[0])
    assert [s.id for s in read_scenarios(forms[1])] == ["inn", "two"]
    assert read_scenarios(forms[1])[0] == read_scenarios(forms[0])[0]


def test_what_a_scenario_holds(tmp_path) -> None:
    user = {"goal": "book a table", "facts": {"people": 4, "time": "half past seven"}, "patience": 3}
    scenario = the_one(tmp_path, kind="task", user=user)
    assert scenario.instructions == INN["text"]
    assert (scenario.user.kind, scenario.user.id) == ("goal", "inn")
    assert scenario.user.facts == {"people": "4", "time": "half past seven"}
    character = the_one(tmp_path)
    assert (character.user.kind, character.language) == ("passive", "en")
    assert INN["text"] in character.instructions
    assert character.instructions.startswith("You are Rosa")
    assert the_one(tmp_path, text="罗莎在港口开了一家客栈。").instructions.startswith("你就是Rosa")
    assert the_one(tmp_path, greeting="Come in.").digest != character.digest


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"id": "a", "text": "b"}, "the scenario 'a': name is missing"),
        ({"id": "a", "name": " ", "text": "b"}, "the scenario 'a': name: string should have at least 1"),
        (
            INN | {"text": "x" * 50_000},
            "the scenario 'inn': the text has 50,000 characters, more than 20,000",
        ),
        (INN | {"greetings": "Hi"}, "the scenario 'inn': greetings: extra inputs are not permitted"),
        (INN | {"user": {"kind": "goal"}}, "the user is to pursue a goal, and none is given"),
        (INN | {"user": {"kind": "rude"}}, "user.kind: input should be 'passive', 'goal' or 'adversarial'"),
        ([1], "should be a valid dictionary"),
    ],
)
def test_a_faulty_scenario_is_named(tmp_path, entry, message) -> None:
    path = written(tmp_path, INN | {"id": "first"}, entry)
    with pytest.raises(RecordFault) as error:
        read_scenarios(path)
    assert message in str(error.value)
    assert f"{path}:2" in str(error.value)


def test_a_faulty_table_of_toml_has_its_line(tmp_path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[[scenario]]\nid = "a"\nname = "A"\ntext = "b"\n\n[[scenario]]\nid = "b"\nname = "B"\n')
    with pytest.raises(RecordFault, match=r"s\.toml:6: the scenario 'b': text is missing"):
        read_scenarios(str(path))


def test_files_without_a_scenario_and_ids_twice(tmp_path) -> None:
    for name, content in (("a.toml", ""), ("a.jsonl", "\n"), ("a.json", "[]")):
        (tmp_path / name).write_text(content)
        with pytest.raises(FileFault, match="the file has no scenario"):
            read_scenarios(str(tmp_path / name))
    with pytest.raises(RecordFault, match="the id 'inn' is there twice"):
        read_scenarios(written(tmp_path, INN, INN))
    (tmp_path / "b.jsonl").write_text('{"id": \n')
    with pytest.raises(RecordFault, match=r"b\.jsonl:1: this is no JSON"):
        read_scenarios(str(tmp_path / "b.jsonl"))
    with pytest.raises(FileFault, match="no such file"):
        read_scenarios(str(tmp_path / "absent.jsonl"))


GOOD = "I came in from the rain with one coin, and I would like to hear how she lost her boat."
COPY = "I know that Rosa keeps an inn by the harbour and trusts nobody."


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD, None),
        ("", "it is empty"),
        ("A sailor with one coin.", "it is not in the first person"),
        ("I " + "very " * 80 + "tired", "it has 82 words of at most 60"),
        (COPY, "it is a copy of the character"),
        ("我是一个路过的水手，只想听她讲讲港口的事。", None),
        ("我" * 200, "it has 200 words of at most 60"),
    ],
)
def test_what_is_wrong_with_a_persona(text, fault) -> None:
    assert persona_fault(text, INN["text"], 60) == fault


def made(scenario, *replies):
    client = ScriptedClient(list(replies))
    return asyncio.run(derive_persona(scenario, client)), client.requests


def test_a_persona_is_made_of_what_the_character_says_of_its_user(tmp_path) -> None:
    of_user = the_one(tmp_path, text="Rosa keeps an inn. The user is her lost brother.")
    persona, (request,) = made(of_user, f"<think>hm</think>\n{GOOD}")
    assert (persona.text, persona.case, persona.tries, persona.from_template) == (GOOD, "told", 1, False)
    assert "her lost brother" in request.messages[0]["content"]
    assert request.role == "simulator"
    persona, _ = made(the_one(tmp_path), GOOD)
    assert persona.case == "new"
    persona, _ = made(the_one(tmp_path, mentions_user=True), GOOD)
    assert persona.case == "told"


def test_two_tries_and_then_a_sentence_of_our_own(tmp_path) -> None:
    persona, requests = made(the_one(tmp_path), COPY, GOOD)
    assert (persona.text, persona.tries) == (GOOD, 2)
    assert requests[0].salt != requests[1].salt
    persona, _ = made(the_one(tmp_path), COPY, ChatFailure("timeout", "too slow"))
    assert persona.from_template
    assert persona.text.startswith("I have only just met Rosa.")
    assert persona_fault(persona.text, INN["text"], 60) is None
    assert persona.failure is not None
    assert persona.failure.kind == "timeout"
