"""Exports of Slack, of Discord (as DiscordChatExporter writes them), of Telegram and of Teams, by hand."""

import json

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap


def read(tmp_path, value, **options):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(value, indent=1))
    reader = read_conversations([str(path)], **options)
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["messenger"]
    return outcomes, [str(note) for note in reader.notes]


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


OPEN = [("user", "Is it open?"), ("assistant", "From nine.")]


def slack(at, text, thread=None, **more):
    who = more or {"user": "U1"}
    return {
        "type": "message",
        "ts": f"{at}.1",
        "text": text,
        **who,
        **({"thread_ts": thread} if thread else {}),
    }


def test_threads_of_slack_and_what_stands_alone(tmp_path):
    bot = {"bot_id": "B1", "username": "helper"}
    thread = [slack(2, "From nine.", "1.1", **bot), slack(1, "Is it open?", "1.1")]
    joined = slack(0, "joined", subtype="channel_join", user="U1")
    (talk,), notes = read(tmp_path, [joined, *thread, slack(3, "Morning all"), slack(4, "Hi")])
    assert said(talk) == OPEN
    assert talk.id == "1.1"
    assert any(note.startswith("2 messages stand in no thread") for note in notes)
    assert any(note.startswith("1 line of a messenger itself was left out") for note in notes)
    (talk,), _ = read(tmp_path, [slack(1, "Is it open?"), slack(2, "From nine.", **bot)])
    assert said(talk) == OPEN


def test_where_no_bot_speaks_a_map_names_the_assistant(tmp_path):
    log = [slack(1, "Is it open?", "1.1"), slack(2, "From nine.", "1.1", user="U2")]
    with pytest.raises(FileFault, match="nothing says who the assistant is: it is of 'U1', 'U2'") as fault:
        read(tmp_path, log)
    assert "--map 'roles.U2=assistant'" in fault.value.hint
    (talk,), _ = read(tmp_path, log, mapping=FieldMap(roles={"U2": "assistant"}))
    assert said(talk) == OPEN


def discord(text, bot, kind="Default"):
    author = {"id": "9" if bot else "1", "name": "helper" if bot else "ann", "isBot": bot}
    return {"type": kind, "timestamp": "2026-05-04T10:00:00+00:00", "content": text, "author": author}


def test_a_channel_of_discord(tmp_path):
    messages = [discord("Is it open?", False), discord("joined", False, "GuildMemberJoin")]
    messages += [discord("From nine.", True, "Reply") | {"attachments": [{"fileName": "a.png"}]}]
    (talk,), notes = read(tmp_path, {"guild": {}, "channel": {"id": "c7"}, "messages": messages})
    assert said(talk)[0] == OPEN[0]
    text, file = talk.messages[1].content
    assert (text["text"], file["type"], file["fileName"]) == ("From nine.", "file", "a.png")
    assert talk.id == "c7"
    assert any("line of a messenger" in note for note in notes)


def telegram(n, name, text, **more):
    about = {"type": "message", "date_unixtime": str(n), "from": name, "from_id": f"user_{name}"}
    return {"id": n, **about, "text": text, **more}


def test_a_chat_with_a_bot_of_telegram(tmp_path):
    messages = [
        telegram(1, "Ann", ["Is ", {"type": "bold", "text": "it"}, " open?"]),
        telegram(2, "Shop", "From nine."),
        telegram(3, "Ann", "", photo="photos/1.jpg"),
        {
            "id": 4,
            "type": "service",
            "date_unixtime": "4",
            "actor": "Ann",
            "action": "pin_message",
            "text": "",
        },
    ]
    head = {"name": "Shop", "type": "bot_chat", "id": 77}
    (talk,), _ = read(tmp_path, {**head, "messages": messages})
    assert said(talk)[:2] == OPEN
    assert talk.messages[2].content == ({"type": "file", "name": "photos/1.jpg"},)
    with pytest.raises(FileFault, match="who the assistant is: it is of 'Ann"):
        read(tmp_path, {**head, "type": "personal_chat", "messages": messages})


ANN = {"user": {"id": "u1", "displayName": "Ann"}, "application": None}
SHOP = {"application": {"id": "b1", "displayName": "Shop", "applicationIdentityType": "bot"}, "user": None}


def teams(minute, who, html, **more):
    return {
        "id": f"{minute}",
        "messageType": "message",
        "createdDateTime": f"2026-05-04T10:0{minute}:00.12Z",
        "chatId": "19:a@thread.v2",
        "from": who,
        "body": {"contentType": "html", "content": html},
        "attachments": [],
        **more,
    }


JOINED = teams(
    0, None, "<systemEventMessage/>", messageType="systemEventMessage", eventDetail={"members": []}
)
GONE = teams(3, ANN, "", deletedDateTime="2026-05-04T10:04:00Z")
PAGE = [
    GONE,
    teams(2, SHOP, "<p>From&nbsp;<b>nine</b>.</p>"),
    teams(1, ANN, "<div>Is it open?</div>"),
    JOINED,
]


@pytest.mark.parametrize("wrap", [lambda page: {"@odata.count": 4, "value": page}, lambda page: page])
def test_a_chat_of_teams_stands_latest_first(tmp_path, wrap):
    (talk,), notes = read(tmp_path, wrap(PAGE))
    assert said(talk) == OPEN
    assert talk.id == "19:a@thread.v2"
    assert any(note.startswith("1 line of a messenger itself was left out") for note in notes)
    assert any(note.startswith("1 message was left out: somebody deleted") for note in notes)


def test_threads_of_a_channel_of_teams(tmp_path):
    channel = {"chatId": None, "channelIdentity": {"teamId": "t", "channelId": "c"}}
    quoted = {"id": "9", "contentType": "messageReference", "content": "{}"}
    card = {"id": "8", "contentType": "application/vnd.microsoft.card.adaptive", "content": "{}"}
    text = {"body": {"contentType": "text", "content": "1 < 2 &amp; so"}, "attachments": [quoted]}
    page = [
        teams(4, SHOP, "", **channel, replyToId="3") | {"attachments": [card]},
        teams(3, ANN, "", **channel) | text,
        teams(2, SHOP, "From nine.", **channel, replyToId="1"),
        teams(1, ANN, "Is it open?", **channel),
    ]
    talks, _ = read(tmp_path, {"value": page})
    first, second = sorted(talks, key=lambda talk: talk.id)
    assert (first.id, said(first)) == ("1", OPEN)
    assert said(second)[0] == ("user", "1 < 2 &amp; so")
    assert [part["contentType"] for part in second.messages[1].content] == [card["contentType"]]


@pytest.mark.parametrize("odd", [4, {"type": "message", "ts": "5.1", "text": "who?"}])
def test_what_cannot_be_read_is_a_fault(tmp_path, odd):
    log = [slack(1, "Is it open?"), slack(2, "From nine.", bot_id="B1"), odd]
    outcomes, _ = read(tmp_path, log)
    assert any(isinstance(one, RecordFault) for one in outcomes)


TAVERN = [{"user_name": "Ann", "character_name": "Shop", "create_date": "x"}] + [
    {"name": "Shop" if n else "Ann", "is_user": not n, "mes": text, "send_date": "May 4, 2026 10:00am"}
    for n, (_, text) in enumerate(OPEN)
]
ACTIVITIES = [
    {"type": "conversationUpdate", "from": {"id": "u", "role": "user"}, "conversation": {"id": "c"}},
    *(
        {"type": "message", "from": {"id": who, "role": who}, "conversation": {"id": "c"}, "text": text}
        for who, (_, text) in zip(("user", "bot"), OPEN, strict=True)
    ),
]
BOTPRESS = [
    {"conversationId": "c", "userId": "u", "direction": way, "type": "text", "payload": {"text": text}}
    for way, (_, text) in zip(("incoming", "outgoing"), OPEN, strict=True)
]


@pytest.mark.parametrize("log", [TAVERN, ACTIVITIES, BOTPRESS])
def test_platforms_of_bots(tmp_path, log):
    (talk,), notes = read(tmp_path, log)
    assert said(talk) == OPEN
    assert sum("line of a messenger itself was left out" in note for note in notes) == (log is not BOTPRESS)


def test_what_is_no_text_on_a_platform_is_kept(tmp_path):
    card = {**BOTPRESS[1], "type": "card", "payload": {"title": "Map"}}
    (talk,), _ = read(tmp_path, [*BOTPRESS, card])
    assert talk.messages[2].content == ({"type": "file", "payload": {"title": "Map"}},)


def test_edits_and_deletions_are_counted(tmp_path):
    said = {"type": "message", "thread_ts": "1.0"}
    messages = [
        said | {"user": "U1", "text": "Hi", "ts": "1.0", "edited": {"user": "U1", "ts": "1.1"}},
        said
        | {"subtype": "tombstone", "text": "This message was deleted.", "ts": "1.2", "user": "USLACKBOT"},
        said | {"bot_id": "B1", "text": "Yes", "ts": "2.0"},
    ]
    path = tmp_path / "day.json"
    path.write_text(json.dumps(messages))
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert [m.text for m in talk.messages] == ["Hi", "Yes"]
    counts = {note.text: note.count for note in reader.notes}
    assert counts["messages were edited: read as they are now"] == 1
    assert counts["messages were left out: somebody deleted them"] == 1


def test_the_history_of_a_channel_of_slack(tmp_path):
    messages = [slack(2, "From nine.", bot_id="B1"), slack(1, "Is it open?")]
    (talk,), _ = read(tmp_path, {"ok": True, "messages": messages, "has_more": False})
    assert said(talk) == OPEN


def test_changes_on_other_messengers_are_counted(tmp_path):
    head = {"name": "Shop", "type": "bot_chat", "id": 77}
    messages = [telegram(1, "Ann", "Is it open?", edited_unixtime="3"), telegram(2, "Shop", "From nine.")]
    (talk,), notes = read(tmp_path, {**head, "messages": messages})
    assert said(talk) == OPEN
    assert any(note.startswith("1 message was edited") for note in notes)


def test_a_forced_format_without_its_messages_says_which_it_knows(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text('[{"text": "Is it open?"}]')
    with pytest.raises(FileFault, match="no message of teams, discord, telegram"):
        list(read_conversations([str(path)], format="messenger"))
