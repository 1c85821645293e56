"""Plays the cases of an evaluation, some at once, each trial in a state of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graph.eval.cases import Case
from graph.eval.databases import FreshDatabases, fresh_databases
from graph.eval.trial import Failure, Trial, play
from graph.open import open_agent
from graph.settings import Settings
from memory.errors import StewardError
from nodes.business import Business


@dataclass(frozen=True)
class CaseResult:
    """A case with its trials."""

    case: Case
    beyond: tuple[str, ...]
    """Capabilities that the case needs and the demo model has not; where a real model plays: none."""
    trials: list[Trial] = field(default_factory=list)

    @property
    def expected(self) -> bool:
        """Whether the model that plays is expected to pass it."""
        return not self.beyond

    @property
    def passed(self) -> int:
        return sum(trial.passed for trial in self.trials)


async def evaluate(
    cases: Sequence[Case],
    settings: Settings,
    business: Business,
    *,
    trials: int,
    parallel: int,
    ended: Callable[[CaseResult], None],
) -> list[CaseResult]:
    """Each case `trials` times, at most `parallel` at once; `ended` is told each case when its last trial is over.

    Raises ConfigurationError, DatabaseError where no trial can be played at all.
    """
    lacks = business.evaluation.demo_lacks if settings.offline and business.evaluation else {}
    results = [CaseResult(case, tuple(need for need in case.needs if need in lacks)) for case in cases]
    places = asyncio.Semaphore(parallel)
    async with fresh_databases(settings, business) as databases, asyncio.TaskGroup() as group:
        for result in results:
            for _ in range(trials):
                group.create_task(_play(result, databases, business, places, trials, ended))
    return results


async def _play(
    result: CaseResult,
    databases: FreshDatabases,
    business: Business,
    places: asyncio.Semaphore,
    trials: int,
    ended: Callable[[CaseResult], None],
) -> None:
    async with places:
        try:
            async with databases.fresh() as settings, open_agent(settings, business) as agent:
                trial = await play(result.case, agent)
        except StewardError as error:
            trial = Trial(failures=[Failure(0, str(error))])
    result.trials.append(trial)
    if len(result.trials) == trials:
        ended(result)
