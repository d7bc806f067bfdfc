"""Writes which conversations were looked at when signals of the local judge were chosen, as digests.

    python tools/looked_at.py FOLDER

FOLDER holds data/ as docs/development/results/trust.md describes it: RecLLMSim (training and dev users), USS
MultiWOZ, the trajectories of tau, and the role-play that people rated. Of each conversation four bytes of the digest of its words are kept: no
text, and no way back to it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dialogauge.core import Conversation
from dialogauge.core.unit import words_digest
from dialogauge.data import read_conversations
from dialogauge.judges.local.evidence import LOOKED_AT_BYTES

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src" / "dialogauge" / "judges" / "local" / "looked_at.bin"
SOURCES = (
    "recllmsim/human_exp_V2",
    "uss/MWOZ.txt",
    "tdeval/tau_trajectories",
    "roleplay/characterbench_human_turn.jsonl",
    "roleplay/sotopia_pi_human_session.jsonl",
)


def main(folder: str) -> None:
    """Write the digests in order."""
    digests = set()
    for source in SOURCES:
        read = list(read_conversations([str(Path(folder) / "data" / source)]))
        talks = [talk for talk in read if isinstance(talk, Conversation) and talk.messages]
        digests |= {bytes.fromhex(words_digest(talk)[: 2 * LOOKED_AT_BYTES]) for talk in talks}
        print(f"{source}: {len(talks):,} conversations")
    FILE.write_bytes(b"".join(sorted(digests)))
    print(f"{FILE}: {len(digests):,} digests, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
