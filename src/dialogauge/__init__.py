"""dialogauge measures multi-turn assistants the way their users meet them.

>>> import dialogauge
>>> run = dialogauge.judge([[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]])
>>> run.summary.dimensions.helpfulness.mean

`read` reads conversations, `judge` and `ajudge` judge them, `run` runs any study, `open_run` opens a finished
run, `compare` compares two, `agreement` people and judges, `arena` ranks agents, `learn` measures memories.
Everything is loaded when it is first used. See docs/library.md.
"""

from dialogauge.core.facade import loading
from dialogauge.core.version import __version__

TYPE_CHECKING = False  # as type checkers take it; `typing` is slow to load, and a command starts here
if TYPE_CHECKING:
    from dialogauge.core import Conversation, DialogaugeError, JudgeFailure, Judgement, Message, Rating, Score
    from dialogauge.door.library import ajudge, arena, judge, learn, open_run, read, run
    from dialogauge.door.quality import assert_quality
    from dialogauge.door.results import Agreement, RunChange, agreement, compare
    from dialogauge.door.run import Run
    from dialogauge.rubrics import Rubric

__all__ = [
    "Agreement",
    "Conversation",
    "DialogaugeError",
    "JudgeFailure",
    "Judgement",
    "Message",
    "Rating",
    "Rubric",
    "Run",
    "RunChange",
    "Score",
    "__version__",
    "agreement",
    "ajudge",
    "arena",
    "assert_quality",
    "compare",
    "judge",
    "learn",
    "open_run",
    "read",
    "run",
]

__getattr__ = loading(__name__)


def __dir__() -> list[str]:
    return __all__
