"""Judges that fine-tune a text encoder on the training users' ratings (PersTurnBench, appendix D.1)."""

from dialogauge.judges.encoder.judge import EncoderJudge, encoder_judge
from dialogauge.judges.encoder.text import ENCODER_JUDGES, EncoderSettings

__all__ = ["ENCODER_JUDGES", "EncoderJudge", "EncoderSettings", "encoder_judge"]
