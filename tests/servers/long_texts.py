"""Long replies, each the bait of something that reads them."""

from __future__ import annotations


def long_texts(size: int) -> dict[str, str]:
    """Return texts of about so many characters, by what they are made of."""

    def long(piece: str, before: str = "", after: str = "") -> str:
        return before + piece * (size // len(piece)) + after

    return {
        "bare members": long("x:y,", "{", "}"),
        "quoted members": long('"x":"y",', "{", "}"),
        "many members": "{" + ",".join(f'"k{n}":{n}' for n in range(size // 14)) + "}",
        "open objects": long("{"),
        "open keys": long('{"a":'),
        "open and closed": long('{"a":', "", "1") + "}" * (size // 5),
        "open lists": long("[", '{"a":'),
        "closed lists": '{"a":' + "[" * (size // 2) + "]" * (size // 2) + "}",
        "empty objects": long("{}"),
        "small objects": long('{"a":1}'),
        "small answers": long('{"score": 4}'),
        "faulty objects": long("{a:1 or 2}"),
        "backslashes": long("\\", '{"a":"', '"}'),
        "escaped quotes": long('\\"', '{"a":"', '"}'),
        "quotes": long('"', '{"a":', "}"),
        "quotes with commas": long('",', '{"a":"', "}"),
        "quotes with spaces": long('"  ', '{"a":"', "}"),
        "single quotes": long("'", "{'a':", "}"),
        "curly quotes": long("“", "{“a”:", "}"),
        "commas": long(",", '{"a":1', "}"),
        "commas and spaces": long(",     ", '{"a":"b" c', '"}'),
        "spaces": long(" ", "{", "}"),
        "spaces after a quote": long(" ", '{"a":"b"', "}"),
        "line breaks": long("\n", '{"a":', "}"),
        "tabs in an object": long("\t", "{a", ":1}"),
        "one word": long("a", "{", ":1}"),
        "one number": long("1", '{"a":', "}"),
        "one text": long("a", '{"a":"', '"}'),
        "Chinese": long("好", '{"a":"', '"}'),
        "Chinese prose": long("很抱歉我无法"),
        "prose": long("I am sorry, I cannot. "),
        "thoughts": long("<think></think>"),
        "open thoughts": long("<think>"),
        "closed thoughts": long("</think>"),
        "thoughts and spaces": long(" ", "<think></think>", "<think"),
        "brackets": long("<"),
        "fences": long("```json\n{"),
        "surrogates": long("\\ud83d", '{"a":"', '"}'),
        "equal keys": long('"a":1,', "{", '"a":2}'),
        "turns": long('{"turn": 1},', '{"per_turn": [', "1]}"),
        "turns by number": long('"1":{},', '{"per_turn": {', '"2":1}}'),
    }


def long_bodies(size: int) -> dict[str, bytes]:
    """Return bodies of responses of about so many bytes, by what they are made of."""

    def long(piece: str, before: str = "", after: str = "") -> bytes:
        return (before + ",".join([piece] * (size // (len(piece) + 1))) + after).encode()

    def reply(fields: str) -> bytes:
        return f'{{"choices":[{{{fields}}}]}}'.encode()

    text = "a" * size
    choice = '{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{}"}}'
    return {
        "complaints": long('{"a":1}', '{"detail":[', "]}"),
        "places": long('{"loc":["body",1],"msg":"no"}', '{"detail":[', "]}"),
        "one place": long('"x"', '{"detail":[{"msg":"no","loc":[', "]}]}"),
        "message": f'{{"error":{{"message":"{text}"}}}}'.encode(),
        "no message": long('"k":1', '{"error":{', "}}"),
        "errors": long('{"error":{"code":429}}', "[", "]"),
        "waits": long("try again in 1", '{"error":{"message":"', '"}}'),
        "words of length": long("maximum context", '{"error":{"message":"', '"}}'),
        "numbers": long("1", '{"error":{"message":"model ', '"}}'),
        "name of a parameter": f'{{"error":{{"message":"no","param":"{text}"}}}}'.encode(),
        "page": b"<html><title>" + text.encode(),
        "plain text": text.encode(),
        "no text": bytes(range(128, 256)) * (size // 128),
        "empty objects": long("{}", "[", "]"),
        "empty lists": long("[]", '{"choices":[', "]}"),
        "choices": long(choice, '{"choices":[', "]}"),
        "parts": long('{"text":"a"}', '{"choices":[{"message":{"content":[', "]}}]}"),
        "tool calls": long('{"id":"a"}', '{"choices":[{"message":{"tool_calls":[', "]}}]}"),
        "reasoning": reply(f'"message":{{"content":"{{}}","reasoning":"{text}"}}'),
        "refusal": reply(f'"message":{{"refusal":"{text}"}}'),
        "finish reason": reply(f'"message":{{"content":"{{}}"}},"finish_reason":"{text}"'),
        "model": f'{{"model":"{text}","choices":[{choice}]}}'.encode(),
        "usage": long('"k":1', f'{{"choices":[{choice}],"usage":{{', "}}"),
        "escapes": long("\\n", '{"a":"', '"}'),
        "percent signs": long("%25", '{"a":"', '"}'),
        "ampersands": long("&amp;", '{"a":"', '"}'),
        "escaped escapes": long("\\\\u005cu005c", '{"a":"', '"}'),
        "deep": b'{"a":' * (size // 5),
        "deep and closed": b"[" * (size // 2) + b"]" * (size // 2),
    }
