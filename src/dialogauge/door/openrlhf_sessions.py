"""Sessions as an agent of OpenRLHF: the file under `--train.agent_func_path` makes one (OpenRLHF 0.11)."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from secrets import randbelow
from typing import Any

from openrlhf.utils.agent import AgentExecutorBase

from dialogauge.door.session_host import session_host
from dialogauge.training import DialogueTokenizer


def executor(
    roles_file: str,
    *,
    turns: int,
    reply_tokens: int = 256,
    rubric: str = "roleplay",
    weights: str | None = None,
) -> type[AgentExecutorBase]:
    """Return the class that OpenRLHF plays sessions with.

    Args:
        roles_file: Names the roles `simulator` and `judge`.
        turns: Of a session.
        reply_tokens: At most in a reply.
        rubric: Its dimensions score a session.
        weights: File of its criteria's weights.
    """

    class SessionExecutor(AgentExecutorBase):
        """Plays a session with the policy that OpenRLHF serves; its score is the reward."""

        async def execute(  # noqa: PLR0913 - as OpenRLHF calls it
            self,
            prompt: str,
            label: str,
            sampling_params: Any,  # noqa: ANN401 - of vLLM
            max_length: int,
            hf_tokenizer: Any,  # noqa: ANN401 - of transformers
            llm_engine: Any,  # noqa: ANN401 - of OpenRLHF
            images: Any = None,  # noqa: ANN401
        ) -> dict[str, Any]:
            """Play one session; the label of its row holds scenario and context."""
            row, log_probs = json.loads(label), dict[int, list[float]]()
            limit = deepcopy(sampling_params)
            limit.max_tokens = reply_tokens

            async def sample(ids: list[int]) -> list[int]:
                output = (await llm_engine.generate(ids, deepcopy(limit))).outputs[0]
                tokens = list(output.token_ids)
                if limit.logprobs is not None:
                    each = zip(tokens, output.logprobs, strict=True)
                    log_probs[len(ids)] = [of[token].logprob for token, of in each]
                return tokens

            host = session_host(
                roles_file, turns=turns, reply_tokens=reply_tokens, rubric=rubric, weights=weights
            )
            rollout = await host.play(
                DialogueTokenizer(hf_tokenizer, max_length),
                row["prompt"],
                row["scenario"],
                sample,
                seed=randbelow(1 << 31),
            )
            tokens = rollout.tokens
            ranges = _ranges([0] * len(tokens.prompt) + tokens.mask)
            every = [0.0] * (len(tokens.prompt) + len(tokens.completion))
            for start, stop in ranges if log_probs else ():
                every[start:stop] = log_probs[start]
            return {
                "prompt": prompt,
                "label": label,
                "images": images,
                "mm_train_inputs": None,
                "observation_tokens": tokens.prompt + tokens.completion,
                "action_ranges": ranges,
                "rollout_log_probs": every if log_probs else None,
                "reward": rollout.reward,
                "scores": rollout.reward,
                "truncated": rollout.truncated > 0,
                "extra_logs": {"turns": len(tokens.replies)},
            }

    return SessionExecutor


def _ranges(mask: list[int]) -> list[tuple[int, int]]:
    """Return where runs of ones begin, and behind what they end."""
    edges = [i for i, (before, here) in enumerate(pairwise([0, *mask, 0])) if before != here]
    return list(zip(edges[::2], edges[1::2], strict=True))
