"""A scenario as a file writes it. In a module of its own: with it comes pydantic."""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field


class UserEntry(BaseModel):
    """Who talks with the candidate."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str | None = Field(default=None, min_length=1)
    kind: Literal["passive", "goal", "adversarial"] | None = None
    persona: str | None = Field(default=None, min_length=1, max_length=20_000)
    goal: str | None = Field(default=None, min_length=1)
    facts: dict[str, str | int | float | bool] = Field(default_factory=dict)
    patience: int | None = Field(default=None, ge=1, le=1_000)
    opening: str | None = Field(default=None, min_length=1)


class ScenarioEntry(BaseModel):
    """A character or a service, and its user."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str = Field(min_length=1, max_length=200)
    kind: Literal["character", "task"] = "character"
    name: str = Field(min_length=1, max_length=500)
    text: str = Field(min_length=1, validation_alias=AliasChoices("text", "persona"))
    greeting: str | None = None
    category: str | None = None
    real_person: bool = False
    mentions_user: bool | None = None
    language: str | None = Field(default=None, min_length=2)
    user: UserEntry = Field(default_factory=UserEntry)
