"""Public data sets with a reader: their sources and licences. The package ships none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataSet:
    """A public data set."""

    name: str
    title: str
    source: str
    """Repository and revision."""
    format: str
    """The name of its format."""
    licence: str
    """Its licence, in words."""
    ratings: str
    """The ratings by people or by the environment."""


DATA_SETS: tuple[DataSet, ...] = (
    DataSet(
        "characterbench",
        "CharacterBench: replies of role-play, each rated in one of seven dimensions (English side)",
        "github.com/thu-coai/CharacterBench, eval_data/raw_data",
        "characterbench",
        "none stated: local measurement only",
        "one score for each reply, with what a fitted judge predicted",
    ),
    DataSet(
        "recllmsim",
        "RecLLMSim human conversations, the human data behind PersTurnBench (Chinese)",
        "github.com/wzf2000/RecLLMSim @ d680f2f9, folder human_exp_V2",
        "recllmsim",
        "Apache-2.0",
        "1,833 conversations by 115 users, who rated all 8,060 replies 1-5, with a reason for 3 or less",
    ),
    DataSet(
        "sotopia-pi",
        "sotopia-pi: episodes of two agents with private goals (English)",
        "github.com/sotopia-lab/sotopia-pi before commit cc6e16d, human_eval",
        "sotopia",
        "Apache-2.0",
        "19 people rated both sides of each session in seven dimensions, with reasons",
    ),
    DataSet(
        "tau-bench",
        "tau-bench results: tool-using agents in an airline and a shop (English)",
        "github.com/sierra-research/tau-bench, results of a run",
        "tau",
        "MIT (c) 2024 Sierra; replies by commercial models fall under their providers' terms",
        "reward 0 or 1 of each run, by the environment",
    ),
    DataSet(
        "td-eval",
        "tau-bench trajectories of seven agents, as judged in TD-Eval (English)",
        "github.com/emrecanacikgoz/TD-Eval @ f13c301, generate/results/agent-results-tau",
        "tau",
        "LICENSE file MIT (c) 2025 emrecanacikgoz, README badge CC BY-NC 4.0: unclear, evaluation only",
        "reward 0 or 1 of each of 1,040 runs, by the environment",
    ),
    DataSet(
        "urs",
        "URS, User Reported Scenarios: sessions with assistants in use, by intent (Chinese and English)",
        "github.com/Alice1998/URS; the files with satisfaction as read by github.com/wzf2000/RecLLMSim",
        "urs",
        "none stated in the repository: local measurement only",
        "each user's satisfaction 1-5 with a whole session",
    ),
    DataSet(
        "uss",
        "User Satisfaction Simulation, MultiWOZ part (English)",
        "github.com/sunnweiwei/user-satisfaction-simulation @ 8ba06bd, dataset/MWOZ.txt",
        "uss",
        "none stated: local measurement only",
        "1,000 dialogues; 3 to 6 annotators rated satisfaction 1-5 before each user line and overall",
    ),
)
