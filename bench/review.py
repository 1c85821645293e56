"""How well the checks of a draft find planted faults, and how seldom they flag a sound one.

    python -m bench.review [--set tuning|held_back|control] [--errors]

The sets lie in `bench/review_set`, one situation a line: what the tools, documents and memories say, what the
customer wrote, sound drafts, and drafts with one planted fault each. A fault counts as found where a finding of
its kind quotes the planted words. `--errors` prints what was missed and what was flagged wrongly.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graph.shop.intents import INTENTS
from graph.shop.review_words import ANSWER_WORDS, STATES
from nodes.checks import Fault, Sources, Wish, find_faults
from nodes.checks.text import fold

FOLDER = Path(__file__).parent / "review_set"
SETS = ("tuning", "held_back", "control")
FACTS = ("identifier", "amount", "date", "state")
"""Kinds of fault that have to be found; the others are reported beside them."""


@dataclass(frozen=True)
class Draft:
    situation: str
    language: str
    text: str
    sources: Sources
    planted: str | None
    """Kind of the fault; None for a sound draft."""
    quote: str | None

    def findings(self) -> list[Fault]:
        return find_faults(self.text, self.sources)

    def is_found(self, findings: list[Fault]) -> bool:
        return any(fault.kind == self.planted and self._covers(fault) for fault in findings)

    def _covers(self, fault: Fault) -> bool:
        if self.quote is None:
            return True
        quote, planted = fault.quote.casefold(), fold(self.quote).casefold()
        return quote in planted or planted in quote


def drafts(name: str) -> Iterator[Draft]:
    """The drafts of one set, sound ones first in each situation."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            situation = json.loads(line)
            sources = _sources(situation)
            for text in situation["sound"]:
                yield Draft(situation["id"], situation["language"], text, sources, None, None)
            for case in situation["faulty"]:
                yield Draft(
                    situation["id"],
                    situation["language"],
                    case["text"],
                    sources,
                    case["planted"],
                    case["quote"],
                )


def _sources(situation: dict[str, Any]) -> Sources:
    return Sources(
        now=datetime.fromisoformat(situation["now"]),
        timezone=situation["timezone"],
        results=[_envelope(result) for result in situation["results"]],
        user_texts=situation["user"],
        memories=situation["memories"],
        documents=situation["documents"],
        instructions=situation["instructions"],
        states=STATES,
        required=situation["required"],
        wishes={name: _wish(name, situation) for name in situation["intents"]},
    )


def _wish(name: str, situation: dict[str, Any]) -> Wish:
    tools = {intent.name: set(intent.tools) for intent in INTENTS}
    others = set().union(*(tools[other] for other in situation["intents"] if other != name))
    fetched = [
        (result["tool"], _envelope(result))
        for result in situation["results"]
        if result["tool"] in tools[name] and result["envelope"]["status"] == "ok"
    ]
    return Wish(
        words=ANSWER_WORDS.get(name, ()),
        own=[envelope for tool, envelope in fetched if tool not in others],
        fetched=any(tool in others for tool, _ in fetched) or bool(situation["documents"]),
    )


def _envelope(result: dict[str, Any]) -> str:
    return json.dumps(result["envelope"], ensure_ascii=False)


def measure(name: str, *, errors: bool) -> None:
    """Print the figures of one set."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    flagged: defaultdict[str, list[bool]] = defaultdict(list)
    began = time.perf_counter()
    for draft in drafts(name):
        findings = draft.findings()
        if draft.planted is None:
            flagged[draft.language].append(bool(findings))
            if findings and errors:
                print(f"  flagged {draft.situation}: {[(f.kind, f.quote) for f in findings]} in {draft.text}")
            continue
        hit = draft.is_found(findings)
        found[draft.planted].append(hit)
        if draft.planted in FACTS:
            found[f"facts, {draft.language}"].append(hit)
            found["facts"].append(hit)
        if not hit and errors:
            print(f"  missed {draft.situation} {draft.planted} {draft.quote!r}: {draft.text}")
    count = sum(map(len, flagged.values())) + sum(len(found[kind]) for kind in found if "facts" not in kind)
    milliseconds = 1000 * (time.perf_counter() - began) / count
    print(f"{name}: {count} drafts, {milliseconds:.1f} ms each")
    for kind, hits in sorted(found.items(), key=lambda item: ("facts" not in item[0], item[0])):
        print(f"  found    {kind:<12} {sum(hits):>3} of {len(hits):>3}  {sum(hits) / len(hits):.1%}")
    for language, hits in sorted(flagged.items()):
        print(
            f"  flagged  sound, {language:<5} {sum(hits):>3} of {len(hits):>3}  {sum(hits) / len(hits):.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=SETS, help="default: all")
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    for name in [arguments.set] if arguments.set else SETS:
        measure(name, errors=arguments.errors)


if __name__ == "__main__":
    main()
