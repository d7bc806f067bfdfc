"""Valid samples of evaluations and texts of chat templates, from which the broken ones are made."""

from __future__ import annotations

from typing import Any

TEMPLATE = (
    "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nIs it ready?<|im_end|>\n"
    '<|im_start|>assistant\n<tool_call>\n{"name": "find", "arguments": {"id": 1}}\n</tool_call><|im_end|>\n'
    "<|im_start|>user\n<tool_response>\nready\n</tool_response><|im_end|>\n<|im_start|>assistant\nYes."
)

SAMPLES: dict[str, list[Any]] = {
    "characterbench": [
        {
            "id": "k-1",
            "dimension": "engagement",
            "lang": "en",
            "character_name": "Keeper",
            "character_profile": "Keeper of a lighthouse, gruff, says 'mind the step'.",
            "user_name": "User",
            "history": [
                {"role": "user", "content": "Is the lamp lit?"},
                {"role": "assistant", "content": "(grunts) Since dusk."},
                {"role": "user", "content": "May I come up?"},
            ],
            "response": "Mind the step.",
            "model": "m",
            "human_score": 3,
            "scale": [1, 5],
            "judge_pred_en": 2.0,
        },
        {
            "character_profile": {"name": "Mo", "likes": ["tea", "rain"], "age": 40},
            "history": [{"role": "user", "content": "茶好喝吗？"}],
            "response": "好喝。",
        },
    ],
    "sotopia": [
        {
            "id": "e-1",
            "model_under_test": "m-7",
            "scenario": "Two neighbours share a garden",
            "environment": "garden",
            "agents": ["Ada Moss", "Ben Reed"],
            "profiles": {"Ada Moss": {"name": "Ada Moss", "age": "50"}, "Ben Reed": "Ben grows beans."},
            "goals": {"Ada Moss": "Plant roses", "Ben Reed": "Plant beans"},
            "session": [
                {"speaker": "Ada Moss", "content": "Roses by the wall?"},
                {"speaker": "Ben Reed", "content": "Half roses, half beans."},
            ],
            "ratings": [
                {
                    "rater": "r1",
                    "agent": "Ben Reed",
                    "scores": {"believability": 8.0, "goal": None},
                    "reasons": {"believability": "He bargains."},
                }
            ],
            "agent_models": {"Ada Moss": "gpt", "Ben Reed": "custom_model"},
        },
        {
            "agents": ["A", "B"],
            "profiles": {"A": "a", "B": "b"},
            "session": [{"speaker": "A", "content": "Hi."}, {"speaker": "B", "content": "Hi."}],
        },
    ],
    "ultrafeedback": [
        {
            "source": "web",
            "instruction": "Open?",
            "completions": [
                {
                    "model": "a",
                    "response": "Yes.",
                    "overall_score": 8.5,
                    "annotations": {"x": {"Rating": "4"}},
                },
                {"model": "b", "response": "No.", "custom_system_prompt": "Be brief."},
            ],
        },
        {
            "prompt_id": "p",
            "chosen": [{"role": "user", "content": "Open?"}, {"role": "assistant", "content": "Yes."}],
            "rejected": [{"role": "user", "content": "Open?"}, {"role": "assistant", "content": "No."}],
            "score_chosen": 8.5,
            "score_rejected": 2.0,
        },
    ],
    "lm-eval": [
        {
            "doc_id": 0,
            "doc": {"question": "1+1?"},
            "target": "2",
            "arguments": {"gen_args_0": {"arg_0": TEMPLATE, "arg_1": {"until": ["."]}}},
            "resps": [["2", "3"]],
            "filtered_resps": ["2"],
            "filter": "none",
            "exact_match": 1.0,
        },
        {
            "doc_id": 1,
            "doc": {},
            "target": "2",
            "arguments": [["1+1 is", " 2"]],
            "resps": [[[-0.5, True]]],
            "filtered_resps": [[-0.5, True]],
            "acc": 1.0,
        },
    ],
    "template": [
        {"text": TEMPLATE, "id": "t1"},
        {"text": "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nOpen? [/INST] Yes. </s><s>[INST] So? [/INST]"},
        {
            "text": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nOpen?<|eot_id|>",
            "reply": "Yes.",
        },
        {"text": "<bos><start_of_turn>user\nOpen?<end_of_turn>\n<start_of_turn>model\nYes.<end_of_turn>\n"},
    ],
}
