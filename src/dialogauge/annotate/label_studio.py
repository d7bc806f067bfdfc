"""To and from Label Studio: tasks and a labelling configuration out, the rows of an export in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from dialogauge.annotate.questions import NA, RatingQuestion

_SCORE, _REASON, _NOTE = "score", "reason", "note"
_TURN: Final = "{{idx}}"
"""Label Studio puts the number of the entry of `turns` in its place."""
_MARK: Final = "-"
"""Between the parts of a name; no dimension has it."""
_SIDES: Final = ("left", "tie", "right")
_MOST_CHOICES: Final = 10


def label_studio_tasks(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a page as tasks to import; what belongs to the plan stands beside the texts."""
    return [{"data": _data(task, item)} for item in task["items"]]


def _data(task: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    about = "\n".join(map(str, item["about"].values())) or "–"
    data = {"plan": task["plan"], "rater": task["rater"], "item": item["id"], "about": about}
    data["dialogue"] = _dialogue(item["messages"])
    if "left" in item:
        return data | {side: _dialogue(item[side]) for side in ("left", "right")}
    replies = dict.fromkeys(item["turns"], "")
    for message in item["messages"]:
        if message["role"] == "assistant" and message["text"] and message["turn"] in replies:
            replies[message["turn"]] += f"\n{message['text']}"
    return data | {"turns": [{"turn": turn, "text": f"{turn}.{text}"} for turn, text in replies.items()]}


def _dialogue(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    out = []
    for message in messages:
        calls = [f"{call['name']}({call['arguments']})" for call in message.get("calls", ())]
        text = "\n".join(filter(None, (message["text"], *calls)))
        out.append({"author": f"{message['turn']} {message['role']}", "text": text})
    return out


def label_studio_config(questions: Sequence[RatingQuestion]) -> str:
    """Return the labelling configuration: a choice for each question, for those of replies at each reply."""
    of_turns = [q for q in questions if q.level == "turn"]
    lines = ["<View>", '  <Text name="about" value="$about"/>', _paragraphs("dialogue")]
    if of_turns:
        lines += ['  <Repeater on="$turns" indexFlag="{{idx}}">']
        lines += [f'    <Text name="turn{_MARK}{_TURN}" value="$turns[{_TURN}].text"/>']
        lines += [line for q in of_turns for line in _asked(q, _TURN, f"turn{_MARK}{_TURN}", "    ")]
        lines += ["  </Repeater>"]
    if any(q.level == "pair" for q in questions):
        lines += [_paragraphs(side) for side in ("left", "right")]
    for question in questions:
        if question.level != "turn":
            lines += _asked(question, "", "dialogue", "  ")
    lines += [f'  <TextArea name="{_NOTE}" toName="dialogue" rows="2"/>', "</View>", ""]
    return "\n".join(lines)


def _paragraphs(name: str) -> str:
    keys = 'layout="dialogue" nameKey="author" textKey="text"'
    return f'  <Paragraphs name="{name}" value="${name}" {keys}/>'


def _asked(question: RatingQuestion, index: str, to: str, indent: str) -> Iterator[str]:
    name = _MARK.join((_SCORE, question.name, index))
    yield f"{indent}<Header value={quoteattr(question.text)}/>"
    pair = question.level == "pair"
    scale = question.scale
    if not pair and (not scale.integer or scale.high - scale.low > _MOST_CHOICES):
        most = f'min="{scale.low:g}" max="{scale.high:g}"'
        yield f'{indent}<Number name="{name}" toName="{to}" {most} required="true"/>'
        return
    scores = _SIDES if pair else tuple(map(str, range(int(scale.low), int(scale.high) + 1)))
    scores = (*scores, NA) if question.na else scores
    choices = [(score, question.anchors.get(score, "")) for score in scores]
    yield from _choices(name, to, choices, 'required="true"', indent)
    if question.reasons:
        asked = ",".join(map(str, question.reason_for))
        when = f'visibleWhen="choice-selected" whenTagName="{name}" whenChoiceValue="{asked}"'
        of_reasons = _MARK.join((_REASON, question.name, index))
        yield from _choices(
            of_reasons, to, [(words, "") for words in question.reasons.values()], when, indent
        )


def _choices(name: str, to: str, choices: Sequence[tuple[str, str]], more: str, indent: str) -> Iterator[str]:
    yield f'{indent}<Choices name="{name}" toName="{to}" choice="single-radio" showInline="true" {more}>'
    for value, hint in choices:
        hinted = f" hint={quoteattr(hint)}" if hint else ""
        yield f"{indent}  <Choice value={quoteattr(value)}{hinted}/>"
    yield f"{indent}</Choices>"


def is_label_studio(cells: Mapping[str, Any]) -> bool:
    """Say whether an object is a task of an export of Label Studio."""
    return isinstance(cells.get("data"), dict) and isinstance(cells.get("annotations"), list)


def rows_of_label_studio(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an exported task, in the form in which pages save them."""
    data = task["data"]
    listed = data.get("turns")
    turns = [one.get("turn") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    common = {name: data[name] for name in ("plan", "item", "rater") if name in data}
    for annotation in task["annotations"]:
        if not isinstance(annotation, dict):
            continue
        when = annotation.get("updated_at") or annotation.get("created_at")
        row = {**common, "seconds": annotation.get("lead_time"), "at": when}
        if annotation.get("was_cancelled"):
            yield {**row, "skipped": "skipped in Label Studio"}
            continue
        result = annotation.get("result")
        # A row for each score, with the reason that belongs to it; the note goes with the first.
        chosen: dict[tuple[str, ...], Any] = {}
        note = None
        for one in result if isinstance(result, list) else []:
            value = one.get("value", {}) if isinstance(one, dict) else {}
            if not isinstance(value, dict):
                continue
            if isinstance(value.get("choices"), list) and value["choices"]:
                chosen[tuple(str(one.get("from_name")).split(_MARK))] = value["choices"][0]
            elif value.get("number") is not None:
                chosen[tuple(str(one.get("from_name")).split(_MARK))] = value["number"]
            elif value.get("text"):
                note = " ".join(map(str, value["text"])) if isinstance(value["text"], list) else value["text"]
        for name, value in chosen.items():
            if name[0] != _SCORE or len(name) != 3:
                continue
            index = name[2]
            turn = turns[int(index)] if index.isdecimal() and int(index) < len(turns) else None
            scored = {"winner": value} if value in _SIDES else {"score": value}
            reason = chosen.get((_REASON, *name[1:]))
            yield {**row, "dimension": name[1], "turn": turn, **scored, "reason": reason, "note": note}
            note = None
