"""Recorded runs through the whole graph: prompt tokens, what a prompt cache leaves of them, values kept.

python -m bench.trajectories DATA [--runs N] [--only SET]
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import tempfile
from pathlib import Path

import structlog

from bench.context.recorded import SETS, Replay, lost_values, read_recordings, recorded_business
from bench.context.sent import measure
from graph import AgentContext, Settings, open_agent
from tests.support.model_server import ModelServer

MOST_UNCACHED = 0.15
"""Of the recorded prompt tokens."""


def quiet() -> None:
    """The graph's own log lines would bury the figures."""
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


async def run(folder: Path, name: str, limit: int | None, settings: Settings, replay: Replay) -> bool:
    """Replay one set and print its figures; whether it stays within the bounds.

    A recorded model that made the same failing call again and again is stopped, as it would be in production.
    """
    recordings = read_recordings(folder, name)[:limit]
    business = recorded_business(folder, name, recordings[0].system, replay)
    recorded = sent = uncached = 0
    lost: list[str] = []
    unfinished: list[str] = []
    ended: list[str] = []
    async with open_agent(settings, business) as agent:
        for recording in recordings:
            replay.load(recording)
            for text in recording.turns():
                state = await agent.graph.ainvoke(
                    {"messages": [("user", text)]},
                    {"configurable": {"thread_id": f"{name}-{recording.id}"}},
                    context=AgentContext(user_id="recorded"),
                )
                if state["stopped_because"]:
                    ended.append(f"{recording.id} ({state['stopped_because']})")
                    break
            figures = measure(replay.requests)
            recorded += recording.prompt_tokens
            sent += sum(figure.tokens for figure in figures)
            uncached += sum(figure.uncached for figure in figures)
            lost.extend(f"{recording.id} {value}" for value in lost_values(replay, recording))
            if replay.said and not state["stopped_because"]:
                unfinished.append(recording.id)
    folds, replay.folds = replay.folds, 0
    print(
        f"{name}: {len(recordings)} runs, recorded {recorded:,} prompt tokens, sent {sent:,} "
        f"({sent / recorded:.1%}), uncached {uncached:,} ({uncached / recorded:.1%}); "
        f"values lost: {len(lost)}; "
        f"folded {folds} times; ended by a limit of the turn: {', '.join(ended) or 'none'}; "
        f"runs not replayed to the end: {len(unfinished)}"
    )
    for value in lost[:10]:
        print("  lost:", value)
    for id in unfinished[:10]:
        print("  unfinished:", id)
    return uncached <= MOST_UNCACHED * recorded and not lost and not unfinished


def main() -> None:
    """Replay both sets and print the figures."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="folder that holds trajectories/")
    parser.add_argument("--runs", type=int, default=None, help="only the first so many of each set")
    parser.add_argument("--only", choices=SETS, default=None, help="only this set")
    arguments = parser.parse_args()
    quiet()
    replay = Replay()
    good = True
    with ModelServer(replay) as server:
        for name in [arguments.only] if arguments.only else SETS:
            with tempfile.TemporaryDirectory() as home:
                settings = Settings(
                    steward_home=Path(home),
                    steward_routing="off",
                    steward_review="off",
                    steward_long_term_memory="off",
                    steward_max_tools=16,
                    **server.settings(),
                )
                good &= asyncio.run(
                    run(arguments.data / "trajectories", name, arguments.runs, settings, replay)
                )
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
