"""How often the checks of a draft flag what real models told customers.

    python -m bench.review_runs DATA_DIR [--show]

DATA_DIR holds the folder `trajectories` of recorded runs (tau-bench airline and retail). Every answer in them is
checked against the results, customer's words and policy that stood before it. The answers are not labelled:
most are sound, some are not, so the share with a hard finding is an upper bound of the false alarms. `--show`
prints the findings.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nodes.checks import Fault, Sources, find_faults, hard_faults

NOW = datetime.fromisoformat("2024-05-15T15:00:00-05:00")
"""The day on which the recorded conversations take place."""


@dataclass(frozen=True)
class Answer:
    run: str
    text: str
    sources: Sources


def answers(folder: Path, file: Path) -> Iterator[Answer]:
    """Every answer of the recorded runs with what was known when it was given."""
    prompts: dict[str, str] = json.loads((folder / "system_prompts.json").read_text(encoding="utf-8"))
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            policy, said, results = "", [], []
            for message in run["messages"]:
                content = message.get("content") or ""
                if message["role"] == "system":
                    policy = prompts.get(message.get("content_ref", ""), content)
                elif message["role"] == "user":
                    said.append(content)
                elif message["role"] == "tool":
                    results.append(_envelope(content))
                elif content and not message.get("tool_calls"):
                    sources = Sources(
                        now=NOW,
                        timezone="America/New_York",
                        results=tuple(results),
                        user_texts=tuple(said),
                        instructions=(policy,),
                    )
                    yield Answer(f"{run['task_id']}", content, sources)


def _envelope(content: str) -> str:
    data: Any
    try:
        data = json.loads(content)
    except ValueError:
        data = content
    return json.dumps({"status": "ok", "data": data})


def measure(folder: Path, file: Path, *, show: bool) -> None:
    """Print the figures of one file of runs."""
    kinds: Counter[str] = Counter()
    count = flagged = 0
    for answer in answers(folder, file):
        faults: list[Fault] = hard_faults(find_faults(answer.text, answer.sources))
        count += 1
        flagged += bool(faults)
        kinds.update(fault.kind for fault in faults)
        if faults and show:
            print(f"  run {answer.run}: {[(f.kind, f.quote) for f in faults]}")
    print(
        f"{file.stem}: {flagged} of {count} answers with a hard finding ({flagged / count:.1%}) {dict(kinds)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    folder: Path = arguments.data / "trajectories"
    for file in sorted(folder.glob("*.jsonl")):
        measure(folder, file, show=arguments.show)


if __name__ == "__main__":
    main()
