"""Sessions as an agent loop of verl: `agent_loop_config_path` names `SessionLoop` (verl 0.9)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from dialogauge.core import digest_text
from dialogauge.door.session_host import session_host
from dialogauge.training import DialogueTokenizer


class SessionLoop(AgentLoopBase):
    """Plays a session with the policy that verl serves; its score is the reward.

    A session without a score raises: verl leaves its group out.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - of verl
        roles_file: str,
        turns: int,
        reply_tokens: int,
        rubric: str = "roleplay",
        weights: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - of verl
    ) -> None:
        """Take what verl gives, and the settings of the loop's file."""
        super().__init__(*args, **kwargs)
        self.host = session_host(
            roles_file, turns=turns, reply_tokens=reply_tokens, rubric=rubric, weights=weights
        )
        fits = self.rollout_config.prompt_length + self.rollout_config.response_length
        self.dialogues = DialogueTokenizer(self.tokenizer, fits)

    async def run(
        self,
        sampling_params: dict[str, Any],
        **kwargs: Any,  # noqa: ANN401 - the columns of a row
    ) -> AgentLoopOutput:
        """Play one session; `extra_info` of its row holds the scenario."""
        request, seen = uuid4().hex, dict[str, Any]()
        limit = {**sampling_params, "max_tokens": self.host.settings.reply_tokens}

        async def sample(ids: list[int]) -> list[int]:
            output = await self.server_manager.generate(
                request_id=request, prompt_ids=ids, sampling_params=dict(limit)
            )
            # The first says which weights began the session, the last which ended it.
            first = seen.get("min_global_steps", output.extra_fields.get("min_global_steps"))
            seen.update(output.extra_fields, min_global_steps=first)
            return list(output.token_ids)

        name = f"{kwargs.get('uid', request)} {kwargs.get('session_id', request)}"
        rollout = await self.host.play(
            self.dialogues,
            list(kwargs["raw_prompt"]),
            json.loads(kwargs["extra_info"]["scenario"]),
            sample,
            seed=int(digest_text(name)[:7], 16),
        )
        tokens, most = rollout.tokens, self.rollout_config.response_length
        return AgentLoopOutput(
            prompt_ids=tokens.prompt,
            response_ids=tokens.completion[:most],
            response_mask=tokens.mask[:most],
            reward_score=rollout.reward,
            num_turns=2 * len(tokens.replies),
            metrics=AgentLoopMetrics(),
            extra_fields={**seen, "reward_extra_info": {"truncated": rollout.truncated}},
        )
