"""What each type of task fails on, and how high a session with that failure may be scored.

Our reading of the task-guarded evaluator in appendix F of PersTurnBench: the failure conditions of the
task type are judged before the score and cap it. The wordings are ours, in English and Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

__all__ = ["FAILURES", "FAILURE_NAMES", "TASKS", "Failure", "FailureName", "Task", "TaskName"]

TaskName = Literal["professional", "retrieval", "text", "advice", "creative", "leisure", "other"]
FailureName = Literal["unmet", "wrong", "refused", "constraint", "generic", "unfinished", "asks_again"]
FAILURE_NAMES: tuple[FailureName, ...] = get_args(FailureName)


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail a task."""

    cap: int
    """The highest score a session with it may have, 1 to 5."""
    en: str
    zh: str


FAILURES: Mapping[FailureName, Failure] = MappingProxyType(
    {
        "unmet": Failure(2, "what was asked for is not there at all", "所求之事完全没有得到回应"),
        "wrong": Failure(2, "a fact or step that matters is wrong", "要紧的事实或步骤有误"),
        "refused": Failure(2, "help is declined without a good reason", "没有正当理由就拒绝帮助"),
        "constraint": Failure(3, "a condition that the user stated is not kept", "没有遵守用户说明的条件"),
        "generic": Failure(
            3, "it would fit anybody: nothing is specific to the case", "泛泛而谈，放在谁身上都成立"
        ),
        "unfinished": Failure(3, "it stops before it can be used", "没有完成，还不能拿来用"),
        "asks_again": Failure(
            3, "the user had to ask again for the main thing", "为了最主要的内容，用户不得不再问一次"
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Task:
    """A type of task."""

    failures: tuple[FailureName, ...]
    """What it fails on; other failures do not cap it."""
    en: str
    zh: str


_ALWAYS: tuple[FailureName, ...] = ("unmet", "wrong", "refused")
TASKS: Mapping[TaskName, Task] = MappingProxyType(
    {
        "professional": Task(
            (*_ALWAYS, "generic", "unfinished", "asks_again"),
            "a problem of a trade or subject: is it solved, so that one can act on it?",
            "专业问题：是否真正解决，用户能否据此行动？",
        ),
        "retrieval": Task(
            (*_ALWAYS, "constraint", "asks_again"),
            "looking something up: is the very thing named, and right? Brevity is no fault",
            "查找信息：是否给出所问的内容且正确？简短不算缺点",
        ),
        "text": Task(
            (*_ALWAYS, "constraint", "unfinished", "asks_again"),
            "working on a text: is there a text that can be used as it stands?",
            "文字处理：是否给出可以直接使用的文本？",
        ),
        "advice": Task(
            (*_ALWAYS, "constraint", "generic", "asks_again"),
            "advice: does it fit this person's situation, and can it be followed?",
            "寻求建议：是否切合此人的处境，能否照做？",
        ),
        "creative": Task(
            (*_ALWAYS, "constraint", "unfinished"),
            "a creative piece: is it there, whole, with everything that was wished for?",
            "创意写作：作品是否完整，所要求的要素是否都在？",
        ),
        "leisure": Task(
            (*_ALWAYS, "constraint", "generic"),
            "pastime: does it take up what this person likes?",
            "休闲娱乐：是否照顾到此人的喜好？",
        ),
        "other": Task(
            (*_ALWAYS, "constraint", "asks_again"),
            "anything else: what did the user want, and did they get it?",
            "其他：用户想要什么，得到了没有？",
        ),
    }
)
