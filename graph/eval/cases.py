"""The cases of an evaluation: conversations, with what is expected of each turn and in the end (docs/eval.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Level = Literal["easy", "medium", "hard", "hostile"]
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard", "hostile")
Arguments = dict[str, JsonValue]


class _Part(BaseModel):
    """Unknown names are refused: a misspelled expectation would otherwise never be looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerExpectation(_Part):
    """The text of an answer. Case, width and white space do not matter."""

    has: list[Text] = Field(default=[], description="Texts that all stand in the answer.")
    has_one: list[Text] = Field(default=[], description="Texts of which at least one stands in the answer.")
    lacks: list[Text] = Field(default=[], description="Texts that do not stand in the answer.")
    grounded: bool = Field(
        default=True,
        description="Every number, amount and date stems from a tool result, a document, memory or the customer.",
    )


class TurnExpectation(_Part):
    """What one turn has to come to. What is not said is not looked at."""

    route: Name | list[Name] | None = Field(
        default=None, description="The leading intent; as a list: all of these are served, in any order."
    )
    asks: bool | None = Field(
        default=None, description="Whether the agent asks which kind of request is meant."
    )
    calls: list[dict[str, Arguments | None]] = Field(
        default=[],
        description="Tools that are called, in any order, each as {tool: {argument: value}}. Only the arguments that "
        "are named are compared; a text that begins with ~ need only be part of the argument.",
    )
    never: list[str] = Field(default=[], description="Tools that do not run.")
    errors: list[str] = Field(default=[], description="Error kinds that the turn's calls end in.")
    answer: AnswerExpectation = AnswerExpectation()
    waits: Literal["customer", "staff", "nobody"] | None = Field(
        default=None, description="Whose approval the turn waits for in the end."
    )
    handed_over: bool | None = Field(default=None, description="Whether the thread is with a person now.")
    stopped: str | None = Field(default=None, description="The limit that ended the turn.")


class Step(_Part):
    """One thing that happens: the customer says something, or somebody decides on what waits for approval."""

    say: Text | None = Field(default=None, description="The customer's message.")
    decide: Literal["approve", "edit", "reject", "respond"] | None = Field(
        default=None, description="What is decided on all that waits for approval."
    )
    by: Literal["customer", "staff"] = Field(default="customer", description="Who decides.")
    args: Arguments | None = Field(default=None, description="With edit: all arguments of the call.")
    message: Text | None = Field(default=None, description="With reject and respond: what is said to it.")
    thread: int = Field(
        default=1, ge=1, description="Which conversation; another number is another thread of the same user."
    )
    days_later: int = Field(default=0, ge=0, description="Days after the case's beginning.")
    expect: TurnExpectation = TurnExpectation()

    @model_validator(mode="after")
    def _one_thing_happens(self) -> Step:
        if (self.say is None) == (self.decide is None):
            raise ValueError("a step has either `say` or `decide`")
        if self.decide == "edit" and self.args is None:
            raise ValueError("`decide: edit` needs `args`")
        return self


class Look(_Part):
    """What a view of the business's tables shows in the end."""

    view: Name = Field(description="One of the views that the business declares; `memories` is there always.")
    of: Arguments = Field(default={}, description="What the view is asked for.")
    is_: JsonValue = Field(
        default=None,
        alias="is",
        description="What it shows. Of an object only the fields that are named are compared; null: nothing.",
    )


class Case(_Part):
    """One conversation with its expectations."""

    id: Name
    about: str = Field(default="", description="What it tries, in a sentence.")
    level: Level = "medium"
    language: Literal["zh", "en"] | None = None
    user: str = Field(default="user", min_length=1, max_length=512)
    now: datetime | None = Field(default=None, description="The clock at the beginning; none: the file's.")
    needs: list[Name] = Field(
        default=[],
        description="Capabilities beyond the ordinary, such as `typos`; the demo model lacks some.",
    )
    turns: list[Step] = Field(min_length=1)
    end: list[Look] = []


class CaseFile(_Part):
    """A file of cases."""

    user: str | None = Field(default=None, description="The customer of cases that name none.")
    now: datetime | None = Field(
        default=None, description="The clock of cases that name none; none: the real one."
    )
    cases: list[Case] = Field(min_length=1)

    def completed(self) -> list[Case]:
        """The cases with what the file says for all of them."""
        return [case.model_copy(update=self._missing(case)) for case in self.cases]

    def _missing(self, case: Case) -> dict[str, Any]:
        update: dict[str, Any] = {}
        if self.user is not None and "user" not in case.model_fields_set:
            update["user"] = self.user
        if case.now is None:
            update["now"] = self.now
        return update
