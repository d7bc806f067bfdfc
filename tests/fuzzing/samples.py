"""Valid samples of evaluations and texts of chat templates, from which the broken ones are made."""

from __future__ import annotations

from typing import Any

TEMPLATE = (
    "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nIs it ready?<|im_end|>\n"
    '<|im_start|>assistant\n<tool_call>\n{"name": "find", "arguments": {"id": 1}}\n</tool_call><|im_end|>\n'
    "<|im_start|>user\n<tool_response>\nready\n</tool_response><|im_end|>\n<|im_start|>assistant\nYes."
)

SAMPLES: dict[str, list[Any]] = {
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
