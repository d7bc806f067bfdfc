"""Valid inputs of every kind, from which the broken ones are made."""

from __future__ import annotations

from typing import Any

from fuzzing.exports import EXPORTS
from fuzzing.samples import SAMPLES

_CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 12}'}}
_CHAT = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Is my bike ready?", "time": 3},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"status": "ready"}', "name": "find"},
    {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "rating": 5},
    {"role": "user", "content": "那好，谢谢。"},
    {
        "role": "assistant",
        "content": "不客气。",
        "ratings": [{"dimension": "helpfulness", "score": 4, "rater": "a"}],
    },
]
_ABOUT = {
    "user_id": "u1",
    "scenario": "support",
    "scenario_description": "A customer asks.",
    "profile": {"age": 30, "likes": ["tea"]},
    "candidate": "model-a",
    "language": "en",
    "ratings": {"coherence": 4},
    "metadata": {"source": "web"},
}
_OLD = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": {"a": 1}}},
    {"role": "function", "name": "f", "content": "2"},
    {"role": "assistant", "content": "two", "satisfaction": 3},
]
_SAID = [
    {"from": "system", "value": "Be kind."},
    {"from": "human", "value": "Name a river."},
    {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
    {"from": "observation", "value": "The Wye"},
    {"from": "gpt", "value": "The Wye.", "rating": [4, 5]},
]
_CARD = [
    {"turn": 1, "role": "user", "text": "A table for four?"},
    {"turn": 1, "role": "assistant", "text": "At which time?"},
    {"turn": 2, "role": "user", "text": "Eight."},
    {"turn": 2, "role": "assistant", "text": "Done."},
]
_TURNS = [
    {"speaker": "customer", "utterance": "Do you ship to Norway?"},
    {"speaker": "agent", "utterance": "Yes, in five days.", "score": 4},
]
_HISTORY = [
    {"role": "user", "content": "五月去哪里？"},
    {"role": "assistant", "content": "海边。", "satisfaction": 2, "hallucination": 0, "reason": "太短"},
]


_BLOCKS = [
    {"role": "user", "content": "Is my bike ready?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look.", "signature": "s"},
            {"type": "text", "text": "One moment.", "citations": None},
            {"type": "tool_use", "id": "t1", "name": "find", "input": {"customer": 12}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"n": 1}]}]},
    {"role": "assistant", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "Yes."}]},
]

CHAT = (
    "User: Do you deliver?\nAssistant: Yes.\n\nFrom 20 euros on.\n---\n"
    "Human: Bye\n12/31/23, 9:42 PM - Ana: Hi\n[31/12/2023, 21:42:07] Shop: Hello\nQ: a\nA: b\n"
)
RECORDS: dict[str, list[Any]] = {
    "librechat": [
        {
            "conversationId": "c1",
            "options": {"model": "model-a", "promptPrefix": "Be kind."},
            "messages": [
                {"messageId": "1", "parentMessageId": "0", "isCreatedByUser": True, "text": "Tea?"},
                {
                    "messageId": "2",
                    "parentMessageId": "1",
                    "isCreatedByUser": False,
                    "content": [{"type": "think", "think": "Hm."}, {"type": "text", "text": "Yes."}],
                    "children": [],
                },
            ],
        },
    ],
    "lmstudio": [
        {
            "name": "Tea",
            "systemPrompt": "Be kind.",
            "lastUsedModel": {"identifier": "m"},
            "messages": [
                {
                    "currentlySelected": 0,
                    "versions": [
                        {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Tea?"}]},
                        {"type": "singleStep", "role": "user", "content": []},
                    ],
                },
                {
                    "currentlySelected": 0,
                    "versions": [
                        {
                            "type": "multiStep",
                            "role": "assistant",
                            "senderInfo": {"senderName": "m"},
                            "steps": [
                                {
                                    "type": "contentBlock",
                                    "content": [{"type": "text", "text": "Hm."}],
                                    "style": {"type": "thinking"},
                                },
                                {
                                    "type": "contentBlock",
                                    "content": [{"type": "toolCallRequest", "callId": 1, "name": "f"}],
                                },
                                {
                                    "type": "contentBlock",
                                    "content": [{"type": "toolCallResult", "callId": 1, "content": "ok"}],
                                },
                                {"type": "contentBlock", "content": [{"type": "text", "text": "Yes."}]},
                            ],
                        }
                    ],
                },
            ],
        },
    ],
    "langchain": [
        [{"type": "human", "content": "hi"}, {"type": "ai", "content": "", "tool_calls": [{"name": "f"}]}],
        {
            "messages": [
                {"type": "human", "data": {"content": "hi", "additional_kwargs": {}}},
                {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": {"content": [{"type": "text"}]}},
            ]
        },
    ],
    "responses": [
        [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
        ]
    ],
    "assistants": [
        {
            "object": "list",
            "data": [
                {
                    "object": "thread.message",
                    "created_at": at,
                    "thread_id": "t",
                    "role": role,
                    "content": [{"type": "text", "text": {"value": "hi", "annotations": []}}],
                }
                for at, role in ((4, "assistant"), (3, "user"))
            ],
        }
    ],
    "langfuse": [
        {
            "id": "t1",
            "timestamp": "2026-05-04T10:00:00Z",
            "sessionId": "s1",
            "input": "hi",
            "output": {"answer": "Yes."},
            "observations": [
                {
                    "id": "o1",
                    "type": "GENERATION",
                    "startTime": "2026-05-04T10:00:01Z",
                    "input": _CHAT[:2],
                    "output": {"role": "assistant", "content": "Yes."},
                }
            ],
            "scores": [{"name": "thumb", "value": 1, "source": "API", "dataType": "NUMERIC"}],
        },
        {
            "id": "t2",
            "timestamp": "2026-05-04T10:00:05Z",
            "sessionId": "s1",
            "input": "bye",
            "output": "Bye.",
        },
    ],
    "langsmith": [
        {
            "id": "r1",
            "trace_id": "r0",
            "parent_run_id": "r0",
            "run_type": "llm",
            "start_time": "2026-05-04T10:00:01",
            "inputs": {"messages": [[{"type": "human", "content": "hi"}]]},
            "outputs": {"generations": [[{"text": "Yes.", "message": {"type": "ai", "content": "Yes."}}]]},
            "extra": {"metadata": {"thread_id": "th", "ls_model_name": "m"}},
        },
        {
            "id": "r0",
            "run_type": "chain",
            "start_time": "2026-05-04T10:00:00",
            "inputs": {"question": "hi"},
            "outputs": {"output": "Yes."},
            "feedback_stats": {"thumb": {"n": 1, "avg": 1}},
            "child_runs": [{"id": "r2", "run_type": "tool", "name": "f", "inputs": {"a": 1}, "outputs": 2}],
        },
    ],
    "opentelemetry": [
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {
                            "spans": [
                                {
                                    "traceId": "t",
                                    "spanId": "a",
                                    "startTimeUnixNano": "1777888800000000000",
                                    "attributes": [
                                        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                                        {"key": "gen_ai.prompt.0.role", "value": {"stringValue": "user"}},
                                        {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "hi"}},
                                    ],
                                    "events": [{"name": "gen_ai.choice", "attributes": {"message": "{}"}}],
                                }
                            ]
                        }
                    ]
                }
            ]
        },
        {
            "context": {"trace_id": "t2", "span_id": "b"},
            "parent_id": None,
            "start_time": "2026-05-04T10:00:00Z",
            "attributes": {
                "gen_ai.conversation.id": "s",
                "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]',
                "gen_ai.output.messages": [
                    {"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}
                ],
            },
        },
    ],
    "phoenix": [
        {
            "context": {"trace_id": "t2", "span_id": "b"},
            "span_kind": "LLM",
            "start_time": "2026-05-04T10:00:00Z",
            "attributes": {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.text": "hi",
                "llm": {"output_messages": [{"message": {"role": "assistant", "content": "Yes."}}]},
            },
            "annotations": [{"name": "thumb", "annotator_kind": "HUMAN", "result": {"score": 1}}],
        }
    ],
    "mlflow": [
        {
            "info": {
                "trace_id": "t",
                "trace_metadata": {"mlflow.trace.session": "s"},
                "assessments": [{"assessment_name": "a", "feedback": {"value": True}, "source": {}}],
            },
            "data": {
                "spans": [
                    {
                        "span_id": "b",
                        "start_time_unix_nano": 1777888800000000000,
                        "attributes": {
                            "mlflow.spanType": '"AGENT"',
                            "mlflow.spanInputs": '{"question": "hi"}',
                            "mlflow.spanOutputs": '"Yes."',
                        },
                    }
                ]
            },
        }
    ],
    "parts": [
        {
            "system_instruction": {"parts": [{"text": "Be kind."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"data": "aGk="}}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"b": 2}}}]},
                {"role": "model", "parts": [{"text": "Yes."}]},
            ],
        },
        [
            {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "parts": [{"type": "tool-f", "toolCallId": "c", "input": {}, "output": 1}]},
        ],
    ],
    "weave": [
        {
            "id": "a",
            "op_name": "weave:///t/p/op/openai.chat.completions.create:v1",
            "trace_id": "t",
            "parent_id": None,
            "thread_id": "th",
            "started_at": "2026-05-04T10:00:00Z",
            "inputs": {"model": "m", "messages": _CHAT[:2]},
            "output": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
            "attributes": {"user_id": "u"},
            "summary": {
                "weave": {"feedback": [{"feedback_type": "wandb.reaction.1", "payload": {"emoji": "x"}}]}
            },
        }
    ],
    "requests": [
        {
            "request": {"model": "m", "messages": _CHAT[:2]},
            "response": {
                "id": "c1",
                "created": 5,
                "choices": [{"message": {"role": "assistant", "content": "A"}}],
            },
        },
        {
            "request": {"messages": [*_CHAT[:2], {"role": "assistant", "content": "A"}, _CHAT[1]]},
            "response": {"id": "c2", "choices": [{"message": {"role": "assistant", "content": "B"}}]},
        },
        {"custom_id": "q", "response": {"body": {"output": [{"type": "reasoning"}]}}},
        {"custom_id": "q", "body": {"input": "hi", "previous_response_id": "c2"}},
    ],
    "anthropic": [
        {
            "system": [{"type": "text", "text": "You help."}],
            "max_tokens": 9,
            "messages": _BLOCKS,
            "metadata": {"user_id": "u"},
        },
        _BLOCKS,
    ],
    **EXPORTS,
    **SAMPLES,
    "openai": [
        {"conversation_id": "t1", "messages": _CHAT, **_ABOUT},
        {"id": 7, "messages": _OLD, "ratings": [{"dimension": "safety", "score": 5, "turn": 1}]},
        _CHAT[1:],
    ],
    "sharegpt": [
        {"id": "s1", "conversations": _SAID, "system": "Be kind.", **_ABOUT},
        {"conversations": _SAID},
    ],
    "card": [{"dialogue": _CARD, **_ABOUT}, _CARD, {"scenario_description": "Nothing.", "dialogue": []}],
    "wrapped": [
        {"data": [{"id": "w1", "messages": _CHAT}, {"id": "w2", "messages": _OLD}], "meta": 3},
        {"c1": _CHAT[:2], "c2": _CHAT[4:]},
        {"rows": [{"session_id": "s", **_CHAT[0]}, {"session_id": "s", **_CHAT[1]}]},
    ],
    "exchanges": [
        {"id": "e1", "turns": [{"user": "Hi", "bot": "Hello", "rating": 4}, {"user": "Bye", "bot": None}]},
        {"history": [["Hi", "Hello"], ["Bye", None]], "system": "Be kind.", **_ABOUT},
    ],
    "rows": [
        {
            "session_id": "r1",
            "timestamp": "2026-03-01T10:00:00Z",
            "role": "user",
            "content": "Hi",
            "rating": 2,
        },
        {"session_id": "r1", "timestamp": 1772359201, "role": "bot", "content": "Hello", "rating": [4, 5]},
        {"session_id": "r2", "question": "Open?", "answer": "From nine.", "stars": 4, "user_id": "u"},
        {"prompt": [{"role": "user", "content": "Hi"}], "response": None, "system": "Be kind."},
    ],
    "turns": [{"id": "d1", "turns": _TURNS, **_ABOUT}, {"dialog": [{"role": "user", "text": "hi"}]}],
    "autotod": [
        {
            "dialogue": "sng1",
            "turns": [
                {
                    "user": "a hotel?",
                    "db_calls": [
                        {"name": "query_hotels", "arguments": {"area": "north"}, "result": {"n": 2}},
                        {"name": "query_hotels"},
                    ],
                    "response": "Which of the two?",
                    "delex_response": "which of the two?",
                    "state": {"hotel": {"area": "north"}},
                    "active_domains": ["hotel"],
                }
            ],
            "evaluator_goal": {"hotel": {"informable": {"area": "north"}, "requestable": ["PHONE"]}},
            "booked_domains_gold": [[]],
            "online_inform": 1,
            "reference": [{"agent": "Where?"}],
        }
    ],
    "tau": [
        {
            "agent": "agent-a",
            "domain": "shop",
            "task_id": 3,
            "trial": 0,
            "reward": 1.0,
            "system_prompt": "shop",
            "messages": _CHAT[1:4],
        },
        {"task_id": 1, "reward": 0, "info": {"task": {"user_id": "u"}}, "traj": _OLD, "trial": 1},
        {"task_id": 2, "reward": 0, "info": {"error": "x"}, "traj": [], "trial": 1},
    ],
    "recllmsim": [
        {
            "task_type": "trip",
            "task_context": "Plan.",
            "chat_model": "m",
            "history": _HISTORY,
            "profile": {"a": 1},
        }
    ],
    "urs": [
        {
            "user_id": 3,
            "intent_label": "获取建议",
            "user_satisfaction": "很不满意",
            "conversation_history": _HISTORY,
            "title": "五月",
            "llm": "m",
            "time": "2024",
        },
        {
            "user_id": "a",
            "intent_label": "Leisure",
            "user_satisfaction": "satisfied",
            "conversation_history": _OLD,
        },
    ],
}

AIDER = (
    "# aider chat started at 2026-01-05 10:11:12\n\n> aider v0.70  \n\n#### add a test  \n"
    "#### and run it  \n\nDone.\n\n#### /exit  \n\n"
    "# aider chat started at 2026-01-06 10:11:12\n\n#### why?  \n\nTo be safe.\n"
)
CAPTIONS = (
    "WEBVTT\n\n1\n00:00:00.000 --> 00:00:02.500\n<v Ana>Is it\nready?</v>\n\n"
    "00:03.000 --> 00:05.000\n<v Shop>Yes &amp; no.\n\n00:06.000 --> 00:07.000\nAna: Thanks\n"
)
CSV = (
    "conversation_id,turn,role,content,rating,rater,scenario,note\r\n"
    'k1,1,user,"Which ""day"" is\nthe market?",,,market,x\r\n'
    'k1,1,assistant,"Every Saturday, from eight.",4,ann,market,\r\n'
    "k1,2,user,Thanks,,,market,\r\nk1,2,assistant,Welcome,n/a,bo,market,\r\nk2,1,customer,hi,,,,\r\n"
)
USS = (
    "USER\tI need a taxi.\tinform\t3,3\nSYSTEM\tWhere to?\trequest\t\nUSER\tThe station.\tinform\t4,3\n"
    "SYSTEM\tBooked.\tbook\t\nUSER\tOVERALL\t\t4,4\n\nUSER\tHi\tgreet\t3\nSYSTEM\tHello\t\t\n"
)

LONG_RATINGS = [
    {
        "conversation_id": "t1",
        "turn": 1,
        "candidate": "",
        "dimension": "helpfulness",
        "rater": "ann",
        "score": 5,
    },
    {
        "conversation_id": "t1",
        "turn": None,
        "dimension": "coherence",
        "rater": "bo",
        "score": "good",
        "note": "x",
    },
    {"conversation_id": "t2", "turn": "2", "dimension": "helpfulness", "rater": "ann", "score": "4"},
]
WIDE_RATINGS = [
    {"dialogue_id": "t1", "helpfulness": 4, "safety": 5, "label": "good"},
    {"dialogue_id": "t2", "helpfulness": 3, "safety": 5, "label": "good"},
]
THUMBS = [
    {"conversation_id": "t1", "turn": 1, "vote": True, "like": "👍🏽", "reward": 1, "percent": 90},
    {"conversation_id": "t1", "turn": 2, "vote": False, "like": "踩", "reward": 0, "percent": 4},
    {"conversation_id": "t2", "turn": 1, "vote": "up", "like": -1, "reward": 1.5, "percent": 3},
]
PAIRS = [
    {"a": "m1", "b": "m2", "winner": "m1", "rater": "ann", "turn": 1, "conversation_id": "t1"},
    {"a": "m1", "b": "m2", "winner": "tie"},
]
RATINGS_CSV = (
    "conversation_id,turn,candidate,dimension,rater,score\nt1,1,,helpfulness,ann,5\nt1,,,coherence,ann,4\n"
)

FIELD_MAP = """
conversation_id = "session"
messages = "log.entries"
role = "author"
content = "body.0"
user_id = "meta.customer"
ratings = { helpfulness = "stars", safety = "scores.1" }
[roles]
visitor = "user"
robot = "assistant"
"""
MAPPED = {
    "session": "m1",
    "meta": {"customer": "u"},
    "stars": 4,
    "scores": [1, 2],
    "log": {
        "entries": [{"author": "visitor", "body": ["hi"]}, {"author": "robot", "body": ["ho"], "stars": 3}]
    },
}

CONFIG = """
[judge]
rubric = "card"
mode = "hindsight"
lang = "auto"
window = 6
repeats = 2
max_calls = 100
max_cost = 5.0
gate = ["verdict>=good:0.9"]
redact = true
[roles.judge]
model = "m"
base_url = "http://localhost:8000/v1"
api_key_env = "MY_KEY"
temperature = 0.0
max_tokens = 4096
headers = { "X-Team" = "a" }
extra = { top_k = 5 }
"""
PRICES = """
[[model]]
name = "m"
input_per_million = 1
output_per_million = 2.5
cached_input_per_million = 0
currency = "EUR"
[[model]]
name = "n"
input_per_million = 0.0
output_per_million = 0.0
currency = "EUR"
"""
GATES = (
    "verdict>=good:0.9",
    "verdict<=poor:0.05",
    "verdict.value>=good:0.9",
    "helpfulness.mean>=4",
    "coherence.low >= 3.8",
    "helpfulness.worst<5",
    "failed<=0.02",
    "failed < .1",
    "safety.best>-1",
)
ROLES = (
    "m@http://localhost:8000/v1#KEY",
    "file:/models/x",
    "py:module:name",
    "org/model@https://h:1/v1",
    "judge",
)

TASKS = (
    {
        "corpus_id": "c",
        "sessions": [
            {
                "session": 1,
                "date_time": "10 May 2024",
                "messages": [{"id": "D1:1", "speaker": "Ann", "text": "I moved here yesterday."}],
            }
        ],
    },
    {
        "id": "t",
        "dataset": "d",
        "lang": "en",
        "q": "When did Ann move?",
        "v": {"answer": "9 May 2024", "category": 2, "evidence": ["D1:1"]},
        "c": "c",
        "meta": {"domain1": "x"},
    },
)
"""A corpus and a task about it."""

PUBLIC_TASKS = {
    "MemoryBench": {
        "test_idx": 4,
        "dataset_name": "HelloBench-Academic&Knowledge-QA",
        "lang": "en",
        "input_prompt": "Why do bells ring?",
        "info": '{"checklist": [{"checklist_id": 0, "checklist_content": "Is it clear?"}]}',
        "dialog": "[{'role': 'user', 'content': 'Why?'}, {'role': 'assistant', 'content': 'By force.'}]",
        "implicit_feedback": [{"round": 1, "implicit_action": "like", "terminated": True}],
    },
    "LoCoMo": {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_2_date_time": "3 June 2024",
            "session_1_date_time": "10 May 2024",
            "session_1": [
                {"speaker": "Bo", "dia_id": "D1:1", "text": "When did you move? "},
                {"speaker": "Ann", "dia_id": "D1:2", "text": "Yesterday.", "blip_caption": "a van"},
            ],
        },
        "qa": [
            {"question": "When did Ann move?", "answer": 2024, "evidence": ["D1:02; D:1:1"], "category": 2},
            {"question": "Who sings?", "evidence": [], "category": 5, "adversarial_answer": "Ann"},
        ],
    },
    "LongMemEval": {
        "question_id": "q7",
        "question_type": "single-session-user",
        "question": "Where do I keep the key?",
        "answer": "under the mat",
        "question_date": "2024/06/01 (Sat) 10:00",
        "haystack_session_ids": ["s2", "s1"],
        "haystack_dates": ["2024/05/02 (Thu) 09:00", "2024/05/01 (Wed) 09:00"],
        "haystack_sessions": [
            [
                {"role": "assistant", "content": "Anything else?"},
                {"role": "user", "content": "The key is under the mat.", "has_answer": True},
            ],
            [{"role": "user", "content": "Hello."}],
        ],
        "answer_session_ids": ["s2"],
    },
    "HelloBench": {
        "id": "chat_007",
        "category": "creative_write",
        "instruction": "Write of a mill.",
        "checklists": ["Is there a mill?"],
        "formatted_checklists": '[{"checklist_id": 0, "checklist_content": "Is there a mill?"}]',
    },
    "WritingBench": {
        "index": 12,
        "domain1": "Politics & Law",
        "domain2": "Notice",
        "query": "请写一份停水通知，说明原因和时间。",
        "checklist": [{"name": "Date", "criteria_description": "Is the date there?"}],
    },
    "WritingPrompts": {"prompt": "[ WP ] A lamp that never goes out .", "story": "It burned on."},
    "NF-CATS": {"annotated_by": "authors", "category": "REASON", "question": "Why is tea bitter?"},
    "JuDGE": {"text_id": "a-1", "text": " 被告人盗窃一案。", "la": [264], "fd": "刑事判决书"},
    "JuDGE by parts": {
        "CaseId": "a-2",
        "Fact": "被告人盗窃一案。",
        "Full Document": "刑事判决书",
        "Law Articles": [264],
    },
    "LexEval": {"instruction": "请回答：", "input": "何为合同？", "answer": "合同是协议。"},
    "IdeaBench": {"paperId": "p1", "title": "Of leaves", "abstract": "Leaves turn to light."},
    "SciTechNews": {
        "id": "n1",
        "sc-title": "Of light",
        "sc-abstract": "Leaves turn to light.",
        "pr-title": "Plants look up",
        "pr-summary": "Plants follow the sun.",
    },
    "LimitGen": {
        "title": "Of soil",
        "abstract": "Soil matters.",
        "sections": [{"section_id": "1", "section_name": "Method", "text": "We dug."}],
    },
    "a script or a conversation as text": {
        "text": "[Date: May 1, 2024, Session #1]\n\nAnn: Hi: you!\n(door)\nBo: Hi.\n\n\n"
        "[Date: May 1, 2024, Session #2]\n \nBo: Again.\n"
    },
}
"""A row of each public form of tasks, by the form's name; none is from the data."""
PUBLISHED = {
    "domain": {
        "Open-Domain": {
            "average": {"WritingPrompts": {"bm25": 0.3, "mem0": 0.4, "wo_memory": 0.0}},
            "minmax_normalized_average": {
                "WritingPrompts": {"bm25": [12.5, 25, 0.5], "mem0": [18.75, 25, 0.75]}
            },
            "z_normalized_average": {"WritingPrompts": {"bm25": [0.0, 25, 0.0], "mem0": [25.0, 25, 1.0]}},
            "summary": {
                "dataset_min": {"WritingPrompts": 0.1},
                "dataset_max": {"WritingPrompts": 0.5},
                "dataset_mu": {"WritingPrompts": 0.3},
                "dataset_sigma": {"WritingPrompts": 0.1},
                "z_score": {"bm25": 0.0, "mem0": 1.0},
            },
        }
    },
    "task": {},
}
"""Published results of tasks for memory systems."""
