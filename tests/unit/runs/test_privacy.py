"""What a masked run keeps of what a model wrote."""

import json

from dialogauge.data import Mask
from dialogauge.runs.privacy import mask_written

MAIL = "zhang@example.com"


def test_what_a_model_wrote_is_masked_and_the_rest_of_the_row_stands():
    """The mail need not be in the conversation: a model can make one up."""
    ours = {"conversation_id": MAIL, "level": "conversation", "scores": {"tone": 3}, "verdict": "good"}
    written = {
        "rationale": f"It should ask {MAIL}.",
        "issues": [{"turn": 1, "quote": MAIL}],
        "failure": {"kind": "invalid_schema", "message": "no scores", "raw": f"I wrote to {MAIL}"},
    }
    row = mask_written(Mask(redact=True, hash_ids=False, salt=b"salt"), {**ours, **written})
    assert {key: row[key] for key in ours} == ours, "ids are masked before, in the conversation"
    hidden = json.dumps({key: row[key] for key in written})
    assert MAIL not in hidden
    assert (row["issues"][0]["turn"], row["failure"]["message"]) == (1, "no scores")
