"""Valid exports of chats, and rows of public data, from which the broken ones are made."""

from __future__ import annotations

from typing import Any


def _chatgpt(name: str, parent: str | None, *children: str, **message: Any) -> dict[str, Any]:
    return {name: {"id": name, "parent": parent, "children": [*children], "message": message or None}}


_CHATGPT = {
    "conversation_id": "g1",
    "title": "Tea",
    "current_node": "e",
    "mapping": {
        **_chatgpt("r", None, "a"),
        **_chatgpt(
            "a",
            "r",
            "b",
            "x",
            id="a",
            author={"role": "user"},
            create_time=1.5,
            content={
                "content_type": "multimodal_text",
                "parts": [{"content_type": "image_asset_pointer"}, "?"],
            },
        ),
        **_chatgpt(
            "b",
            "a",
            "c",
            id="b",
            author={"role": "assistant"},
            content={"content_type": "code", "text": "1"},
            recipient="python",
        ),
        **_chatgpt(
            "c",
            "b",
            "e",
            id="c",
            author={"role": "tool", "name": "python"},
            content={"content_type": "execution_output", "text": "2"},
        ),
        **_chatgpt(
            "e",
            "c",
            id="e",
            author={"role": "assistant"},
            content={"content_type": "text", "parts": ["Two."]},
            metadata={"model_slug": "m"},
            recipient="all",
        ),
    },
}

_SAMPLE = {
    "id": "s",
    "epoch": 1,
    "input": "Add.",
    "target": "2",
    "messages": [
        {"role": "user", "content": "attachment://1"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "So"}],
            "tool_calls": [{"id": "c", "function": "add", "arguments": {"x": 1}, "type": "function"}],
        },
        {"role": "tool", "content": "2", "tool_call_id": "c", "function": "add"},
        {"role": "assistant", "content": "Two."},
    ],
    "scores": {"includes": {"value": "C", "explanation": "x"}, "quality": {"value": {"tone": 4}}},
    "attachments": {"1": "What is 1 + 1?"},
    "output": {"model": "m"},
}

_RUN = {
    "id": "r",
    "task_id": "3",
    "termination_reason": "user_stop",
    "trial": 0,
    "reward_info": {"reward": 1.0},
    "messages": [
        {"role": "assistant", "content": "Hello", "tool_calls": None},
        {"role": "user", "content": None, "tool_calls": [{"id": "u", "name": "look", "arguments": {}}]},
        {"role": "tool", "id": "u", "content": "on", "requestor": "user"},
        {"role": "user", "content": "It is on."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "name": "f", "arguments": {"a": 1}}],
        },
        {"role": "tool", "id": "c", "content": "ok", "requestor": "assistant", "error": False},
        {"role": "assistant", "content": "Done."},
    ],
}
_ABOUT_RUNS = {
    "agent_info": {"llm": "m"},
    "environment_info": {"domain_name": "telecom", "policy": "Be kind."},
}


def _line(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {
        "role": kind,
        "content": content,
        **({"id": "m1", "model": "m"} if kind == "assistant" else {}),
    }
    return {"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "type": kind, "message": message, **more}


_USE = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "a"}}
_RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}


_RESULT_OF_TEST = {
    "testIdx": 0,
    "promptIdx": 0,
    "provider": {"id": "m", "label": ""},
    "prompt": {"raw": '[{"role": "user", "content": "Open?"}]', "label": "a"},
    "vars": {"topic": "tea"},
    "testCase": {"metadata": {"conversationId": "k"}},
    "response": {"output": "Yes.", "metadata": {"messages": []}},
    "success": True,
    "score": 1,
    "gradingResult": {
        "comment": "ok",
        "componentResults": [{"pass": True, "score": 1, "assertion": {"type": "human"}}],
    },
}


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "x", "type": "response_item", "payload": payload}


_ANN = {"id": "1", "name": "Ann", "isBot": False}
_BOT = {"id": "2", "name": "Shop", "isBot": True}
EXPORTS: dict[str, list[Any]] = {
    "gemini": [
        {
            "header": "Gemini Apps",
            "title": "Prompted Hi",
            "time": "2026",
            "safeHtmlItem": [{"html": "<p>Hello <b>you</b></p><pre>a\n b</pre>"}],
        },
        {
            "runSettings": {"model": "m"},
            "systemInstruction": {"text": "Be kind."},
            "chunkedPrompt": {
                "chunks": [
                    {"role": "user", "text": "Hi"},
                    {"role": "model", "text": "Hm", "isThought": True},
                    {"role": "model", "text": "Hello"},
                ]
            },
        },
    ],
    "oasst": [
        {
            "message_tree_id": "p",
            "prompt": {
                "message_id": "p",
                "role": "prompter",
                "text": "Hi",
                "lang": "en",
                "replies": [
                    {
                        "message_id": "r",
                        "role": "assistant",
                        "text": "Hello",
                        "rank": 0,
                        "labels": {"quality": {"value": 0.7, "count": 3}},
                        "replies": [],
                    },
                    {"message_id": "s", "role": "assistant", "text": "Yo", "rank": 1, "replies": []},
                ],
            },
        },
        {"message_tree_id": "q", "message_id": "q", "parent_id": None, "role": "prompter", "text": "a"},
        {
            "message_tree_id": "q",
            "message_id": "t",
            "parent_id": "q",
            "role": "assistant",
            "text": "b",
            "labels": {"name": ["quality"], "value": [0.5], "count": [1]},
        },
    ],
    "arena": [
        {"question_id": 81, "model_id": "m", "choices": [{"index": 0, "turns": ["a", "b"]}], "tstamp": 1.5},
        {
            "question_id": 81,
            "model_a": "m",
            "model_b": "n",
            "winner": "model_a",
            "judge": "expert_0",
            "turn": 1,
            "conversation_a": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
            "conversation_b": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}],
        },
        {
            "id": 7,
            "model_a": "m",
            "model_b": "m",
            "prompt": '["a", "b"]',
            "response_a": '["c", null]',
            "response_b": ["e", "f"],
            "winner_tie": 1,
        },
    ],
    "claude": [
        {
            "uuid": "c1",
            "account": {"uuid": "u"},
            "chat_messages": [
                {"uuid": "1", "sender": "human", "text": "Hi", "files": [{"file_name": "a.png"}]},
                {"uuid": "2", "sender": "assistant", "content": [_USE, _RESULT], "parent_message_uuid": "1"},
                {
                    "uuid": "3",
                    "sender": "assistant",
                    "content": [{"type": "text", "text": "Done."}],
                    "parent_message_uuid": "2",
                    "created_at": "2026",
                },
            ],
        },
    ],
    "claude-code": [
        _line("1", None, "user", "What is x?"),
        _line("2", "1", "assistant", [{"type": "text", "text": "I look."}]),
        _line("3", "2", "assistant", [_USE]),
        _line("4", "3", "user", [_RESULT]),
        _line("5", "4", "assistant", [{"type": "text", "text": "One."}]),
        _line("6", None, "user", "Look.", isSidechain=True, agentId="a"),
        {"type": "system", "uuid": "7", "parentUuid": "5", "sessionId": "s1", "content": "compacted"},
        _line("8", "7", "user", "Reminder", isMeta=True),
    ],
    "tau2": [
        {"info": _ABOUT_RUNS, "tasks": [{"id": "3", "user_scenario": {}}], "simulations": [_RUN]},
        _RUN,
    ],
    "chatgpt": [_CHATGPT],
    "promptfoo": [
        {"evalId": "e", "results": {"version": 3, "prompts": [], "results": [_RESULT_OF_TEST]}},
        {
            **_RESULT_OF_TEST,
            "testIdx": 1,
            "prompt": {"raw": "- role: user\n  content: |\n    Open?\n", "label": "b"},
            "response": {"error": "timeout"},
            "error": "timeout",
        },
    ],
    "inspect": [{"version": 2, "eval": {"task": "sums", "model": "m"}, "samples": [_SAMPLE]}, _SAMPLE],
    "wildchat": [
        {
            "conversation_hash": "h",
            "model": "m",
            "language": "English",
            "turn": 1,
            "conversation": [
                {"role": "user", "content": "Hi", "hashed_ip": "0a", "turn_identifier": 7},
                {"role": "assistant", "content": "Hello", "toxic": False},
            ],
        },
        {
            "conversation_id": "l1",
            "openai_moderation": [],
            "conversation": [{"role": "user", "content": "Hi"}],
            "redacted": False,
        },
    ],
    "helpdesk": [
        {
            "payload": [
                {
                    "conversation_id": 7,
                    "content": "Open?",
                    "message_type": 0,
                    "created_at": 5,
                    "private": False,
                    "sender": {"id": 1, "type": "contact"},
                },
                {
                    "conversation_id": 7,
                    "content": "Yes.",
                    "message_type": 1,
                    "created_at": 6,
                    "private": False,
                },
                {
                    "conversation_id": 7,
                    "content": "Rate us",
                    "message_type": 3,
                    "content_type": "input_csat",
                    "content_attributes": {"submitted_values": {"csat_survey_response": {"rating": 4}}},
                },
            ]
        },
        {
            "type": "conversation",
            "id": "2",
            "source": {"body": "<p>Open?</p>", "author": {"type": "user", "id": "u"}, "attachments": []},
            "conversation_rating": {"rating": 5, "remark": "nice"},
            "conversation_parts": {
                "conversation_parts": [
                    {
                        "part_type": "comment",
                        "body": "<p>Yes.</p>",
                        "created_at": 5,
                        "author": {"type": "bot"},
                    },
                    {"part_type": "note", "body": "hm", "created_at": 6, "author": {"type": "admin"}},
                ]
            },
        },
        {
            "id": 35,
            "requester_id": 20,
            "satisfaction_rating": {"score": "good", "comment": "ok"},
            "comments": [
                {"author_id": 20, "body": "Open?", "public": True, "created_at": "2025-11-01T10:00:00Z"},
                {"author_id": 7, "html_body": "<p>Yes.</p>", "public": True, "attachments": [{"id": 1}]},
                {"author_id": 7, "body": "hm", "public": False},
            ],
        },
    ],
    "messenger": [
        {"type": "message", "user": "U1", "text": "Open?", "ts": "1.1", "thread_ts": "1.1"},
        {
            "type": "message",
            "bot_id": "B1",
            "text": "Yes.",
            "ts": "2.1",
            "thread_ts": "1.1",
            "files": [{"id": 1}],
        },
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "joined", "ts": "0.5"},
        {"name": "Ann", "is_user": True, "send_date": "x", "mes": "Open?"},
        {"name": "Shop", "is_user": False, "send_date": "x", "mes": "Yes."},
        {
            "type": "message",
            "from": {"id": "bot", "role": "bot"},
            "conversation": {"id": "c"},
            "text": "Yes.",
            "timestamp": "2026-05-04T10:00:00Z",
        },
        {"conversationId": "c", "userId": "u", "direction": "incoming", "payload": {"text": "Open?"}},
        {
            "value": [
                {
                    "id": "1",
                    "messageType": "message",
                    "createdDateTime": "2026-05-04T10:00:00Z",
                    "chatId": "c",
                    "from": {"application": {"id": "b", "displayName": "Shop"}},
                    "body": {"contentType": "html", "content": "<p>Yes.</p>"},
                    "attachments": [{"contentType": "reference"}],
                },
                {"messageType": "systemEventMessage", "from": None, "body": {"content": ""}},
            ]
        },
        {
            "channel": {"id": "c", "name": "help"},
            "messages": [
                {
                    "type": "Default",
                    "timestamp": "2025-11-01T10:00:00+00:00",
                    "content": "Open?",
                    "author": _ANN,
                },
                {
                    "type": "Reply",
                    "timestamp": "2025-11-01T10:00:01+00:00",
                    "content": "Yes.",
                    "author": _BOT,
                },
            ],
        },
        {
            "name": "Shop",
            "type": "bot_chat",
            "id": 9,
            "messages": [
                {"type": "message", "date_unixtime": "1", "from": "Ann", "from_id": "user1", "text": "Open?"},
                {
                    "type": "message",
                    "date_unixtime": "2",
                    "from": "Shop",
                    "from_id": "user9",
                    "text": ["Yes", {}],
                },
                {
                    "type": "service",
                    "date_unixtime": "3",
                    "actor": "Ann",
                    "action": "pin_message",
                    "text": "",
                },
            ],
        },
    ],
    "rasa": [
        {
            "sender_id": "r",
            "events": [
                {"event": "action", "timestamp": 1.0, "name": "action_listen"},
                {"event": "user", "timestamp": 2.0, "text": "Open?"},
                {"event": "bot", "timestamp": 3.0, "text": "Yes.", "data": {"buttons": [{"title": "ok"}]}},
            ],
        },
    ],
    "braintrust": [
        {
            "span_id": "b1",
            "root_span_id": "b1",
            "created": "2026-05-04T10:00:00Z",
            "input": [{"role": "user", "content": "Open?"}],
            "output": "Yes.",
            "scores": {"tone": 0.6},
            "metadata": {"user_id": "u1"},
            "span_attributes": {"type": "task", "name": "chat"},
        },
        {
            "span_id": "b2",
            "root_span_id": "b1",
            "created": "2026-05-04T10:00:01Z",
            "input": [{"role": "user", "content": "Open?"}],
            "output": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}}],
            "metadata": {"model": "m"},
            "span_attributes": {"type": "llm"},
            "span_parents": ["b1"],
        },
    ],
    "langgraph": [
        {
            "values": {
                "messages": [{"type": "human", "content": "Open?"}, {"type": "ai", "content": "Yes."}]
            },
            "next": [],
            "config": {"configurable": {"thread_id": "t1", "checkpoint_id": f"k{n}"}},
            "metadata": {"step": n},
            "created_at": f"2026-05-04T10:00:0{n}Z",
        }
        for n in (2, 1)
    ],
    "agents": [
        [
            {
                "kind": "request",
                "parts": [
                    {"part_kind": "system-prompt", "content": "Be brief."},
                    {"part_kind": "user-prompt", "content": ["Open?", {"kind": "image-url", "url": "x"}]},
                ],
            },
            {
                "kind": "response",
                "parts": [
                    {"part_kind": "thinking", "content": "hm"},
                    {"part_kind": "tool-call", "tool_name": "f", "args": {"a": 1}, "tool_call_id": "c"},
                ],
            },
            {
                "kind": "request",
                "parts": [
                    {"part_kind": "tool-return", "tool_name": "f", "content": {"b": 2}, "tool_call_id": "c"}
                ],
            },
            {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes."}]},
        ],
        {
            "messages": [
                {"source": "user", "models_usage": None, "content": "Open?", "type": "TextMessage"},
                {
                    "source": "b",
                    "content": [{"id": "c", "arguments": "{}", "name": "f"}],
                    "type": "ToolCallRequestEvent",
                },
                {
                    "source": "b",
                    "content": [{"content": "5", "name": "f", "call_id": "c", "is_error": False}],
                    "type": "ToolCallExecutionEvent",
                },
                {"source": "b", "content": "Yes.", "type": "TextMessage"},
            ]
        },
    ],
    "codex": [
        {"timestamp": "x", "type": "session_meta", "payload": {"id": "x1", "instructions": "Be brief."}},
        _item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Open?"}]}),
        _item({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}),
        _item({"type": "function_call_output", "call_id": "c", "output": "ok"}),
        _item({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}),
        {"timestamp": "x", "type": "turn_context", "payload": {"model": "m"}},
    ],
    "openai-agents": [
        {"object": "trace", "id": "t1", "workflow_name": "w", "group_id": "g", "metadata": {"user_id": "u"}},
        {
            "object": "trace.span",
            "id": "s1",
            "trace_id": "t1",
            "parent_id": None,
            "started_at": "2026-05-04T10:00:00Z",
            "span_data": {
                "type": "generation",
                "input": [{"role": "user", "content": "Open?"}],
                "output": [{"role": "assistant", "content": "Yes."}],
                "model": "m",
            },
        },
        {
            "object": "trace.span",
            "id": "s2",
            "trace_id": "t1",
            "parent_id": "s1",
            "started_at": "2026-05-04T10:00:01Z",
            "span_data": {"type": "function", "name": "f", "input": "{}", "output": "ok"},
        },
    ],
}
