"""How well messages are routed without a model, and what asking the customer saves where the model is wrong.

    python -m bench.routing DATA [--only en_dev|tuning|held_back|clarification|speed] [--errors] [--thresholds]

`DATA` holds `intent_routing/en_dev.jsonl` (utterances of Bitext, CLINC150 and BANKING77; `out_of_scope` counts as
`chat`), which the classifier never trains on. The two Chinese sets lie in `bench/routing_set`. Strict: the likeliest
intent is the label. Lenient: it is one of the acceptable ones. A message decided alone counts as right where every
decided intent is acceptable, and, where several wishes are labelled, none of them is missing. Ends with exit code 1
where a floor is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.ask_router import weigh
from nodes.classifier import LocalRoute, LocalRouter, labelled_examples
from nodes.classifier_store import ClassifierStore
from nodes.linear_model import fit
from nodes.routing import lead_by_priority
from nodes.text_features import without_identifiers
from nodes.wishes import clauses

SETS = Path(__file__).parent / "routing_set"
NAMES = [intent.name for intent in SHOP.intents]
CLARIFY_BELOW = 0.6
FLOORS = {"strict": 0.80, "lenient": 0.88, "right alone": 0.98, "alone": 0.40}
SEEDS = 20
BATCH = 256


@dataclass(frozen=True)
class Utterance:
    text: str
    label: str
    acceptable: frozenset[str]
    wishes: frozenset[str]
    source: str
    kind: str


@dataclass(frozen=True)
class Routed:
    utterance: Utterance
    local: LocalRoute

    @property
    def top(self) -> str:
        return self.local.intents[0][0]

    @property
    def strict(self) -> bool:
        return self.top == self.utterance.label

    @property
    def lenient(self) -> bool:
        return self.top in self.utterance.acceptable

    @property
    def right_alone(self) -> bool:
        decided = {name for name, _ in self.local.decided}
        several = len(self.utterance.wishes) > 1
        return decided <= self.utterance.acceptable and (not several or self.utterance.wishes <= decided)


def english(data: Path) -> list[Utterance]:
    found = []
    for row in _rows(data / "intent_routing" / "en_dev.jsonl"):
        label = _in_shop(row["label"])
        acceptable = frozenset(map(_in_shop, row["acceptable"]))
        found.append(
            Utterance(row["text"], label, acceptable, frozenset([label]), row["source"], row["src_intent"])
        )
    return found


def chinese(name: str) -> list[Utterance]:
    return [
        Utterance(
            row["text"],
            row["wishes"][0],
            frozenset(row["acceptable"]),
            frozenset(row["wishes"]),
            name,
            "several wishes" if len(row["wishes"]) > 1 else row["wishes"][0],
        )
        for row in _rows(SETS / f"{name}.jsonl")
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _in_shop(label: str) -> str:
    return "chat" if label == "out_of_scope" else label


async def route_all(
    router: LocalRouter, embedder: LocalEmbedder, utterances: Sequence[Utterance]
) -> list[Routed]:
    """Embedded in batches first: a text by itself takes several times as long."""
    routed = []
    for start in range(0, len(utterances), BATCH):
        batch = utterances[start : start + BATCH]
        plain = [without_identifiers(utterance.text) for utterance in batch]
        await embedder.embed([*plain, *(clause for text in plain for clause in clauses(text))])
        routed += [Routed(utterance, await router.classify(utterance.text)) for utterance in batch]
    return routed


def measure(title: str, routed: Sequence[Routed], *, errors: bool) -> dict[str, float]:
    """Print the figures of one set, its sources and its confusions."""
    groups: dict[str, list[Routed]] = defaultdict(list)
    for one in routed:
        groups[one.utterance.source].append(one)
    print(f"\n{title}: {len(routed)} utterances")
    figures = _figures(routed)
    for name, of in [("all", routed), *(sorted(groups.items()) if len(groups) > 1 else [])]:
        print(f"  {name:<10} " + "  ".join(f"{key} {value:.3f}" for key, value in _figures(of).items()))
    confusion = Counter((one.utterance.label, one.top) for one in routed)
    print("  label \\ taken for " + "".join(f"{name:>11}" for name in NAMES))
    for label in NAMES:
        print(f"  {label:<17} " + "".join(f"{confusion[label, name]:>11}" for name in NAMES))
    if errors:
        _print_errors(routed)
    return figures


def _figures(routed: Sequence[Routed]) -> dict[str, float]:
    alone = [one for one in routed if one.local.decided]
    return {
        "strict": _share(one.strict for one in routed),
        "lenient": _share(one.lenient for one in routed),
        "alone": len(alone) / len(routed),
        "right alone": _share(one.right_alone for one in alone),
    }


def _share(hits: Iterable[bool]) -> float:
    found = list(hits)
    return sum(found) / len(found) if found else 1.0


def _print_errors(routed: Sequence[Routed]) -> None:
    for one in routed:
        wrong_alone = one.local.decided and not one.right_alone
        if wrong_alone or not one.lenient:
            mark = "alone" if wrong_alone else "     "
            print(f"  {mark} {one.utterance.kind:<24} {one.local.intents[:2]} {one.utterance.text}")


def measure_thresholds(routed: Sequence[Routed]) -> None:
    """Print what each threshold would decide alone, source by source: one chosen without a source has to hold there."""
    print("\nthreshold: share decided alone, right of these (whole message, one wish)")
    groups: dict[str, list[Routed]] = defaultdict(list)
    for one in routed:
        groups[one.utterance.source].append(one)
    for threshold in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        cells = []
        for source, of in sorted(groups.items()):
            sure = [one for one in of if one.local.intents[0][1] >= threshold]
            cells.append(f"{source} {len(sure) / len(of):.2f} {_share(one.lenient for one in sure):.3f}")
        print(f"  {threshold:.2f}  " + "   ".join(cells))


@dataclass
class Flow:
    """Counts of simulated turns."""

    turns: int = 0
    asked: int = 0
    wrong: int = 0


def simulate(routed: Sequence[Routed], *, classifier: bool, decides: bool, clarify: bool, seed: int) -> Flow:
    """Turns with a router model that is unsure in 10 % (half of them wrong) and surely wrong in 5 %.

    A customer who is asked picks the right option where it is offered, else says the wish again, which the router
    then answers by the same odds; a second question never follows.
    """
    chance = random.Random(seed)
    flow = Flow()
    for one in routed:
        flow.turns += 1
        if classifier and decides and one.local.decided:
            flow.wrong += not one.right_alone
            continue
        name, asks, offered = _turn(one, classifier, chance)
        if asks and clarify:
            flow.asked += 1
            if one.utterance.acceptable & set(offered[:3]):
                continue
            name, _, _ = _turn(one, classifier, chance)
        flow.wrong += name not in one.utterance.acceptable
    return flow


def _turn(one: Routed, classifier: bool, chance: random.Random) -> tuple[str, bool, Sequence[str]]:
    right = one.utterance.label
    wrong = chance.choice([name for name in NAMES if name not in one.utterance.acceptable])
    draw = chance.random()
    if draw < 0.05:
        stated = [(wrong, 0.4), (right, 0.3)]
    elif draw < 0.10:
        stated = [(right, 0.4), (wrong, 0.3)]
    elif draw < 0.15:
        stated = [(wrong, 0.95)]
    else:
        stated = [(right, 0.95)]
    intents, likely = weigh(stated, one.local if classifier else None)
    asks = max(intent["confidence"] for intent in intents) < CLARIFY_BELOW
    return lead_by_priority(intents, SHOP)[0]["name"], asks, likely


def measure_clarification(routed: Sequence[Routed]) -> bool:
    """Print wrong flows with and without clarification; whether the floors are met."""
    print("\nclarification: wrong flows and questions, in % of turns (mean of seeds)")
    met = True
    for title, classifier, decides in (
        ("classifier decides what it is sure of", True, True),
        ("classifier only tempers", True, False),
        ("classifier off", False, False),
    ):
        on, off = (
            [
                simulate(routed, classifier=classifier, decides=decides, clarify=clarify, seed=seed)
                for seed in range(SEEDS)
            ]
            for clarify in (True, False)
        )
        turns = sum(flow.turns for flow in on)
        wrong, without = sum(flow.wrong for flow in on), sum(flow.wrong for flow in off)
        asked = sum(flow.asked for flow in on) / turns
        print(
            f"  {title:<38} off {100 * without / turns:5.2f}  on {100 * wrong / turns:5.2f}  "
            f"ratio {wrong / without:.2f}  asked {100 * asked:5.2f}"
        )
        if classifier:
            met = met and wrong / without <= 0.4 and asked <= 0.15
    return met


async def measure_speed(embedder: LocalEmbedder) -> None:
    """Print what a first process, a second one, and each message pay."""
    await embedder.embed(["warm"])
    examples = labelled_examples(SHOP)
    texts, labels = [text for text, _ in examples], [label for _, label in examples]
    began = time.perf_counter()
    vectors = await LocalEmbedder().embed(texts)
    embedding = time.perf_counter() - began
    walls, processor = [], []
    for _ in range(5):
        began, spent = time.perf_counter(), time.process_time()
        fit(texts, vectors, labels, len(NAMES))
        walls.append(time.perf_counter() - began)
        processor.append(time.process_time() - spent)
    with tempfile.TemporaryDirectory() as folder:
        await LocalRouter(SHOP, embedder, ClassifierStore(Path(folder))).train()
        began = time.perf_counter()
        await LocalRouter(SHOP, embedder, ClassifierStore(Path(folder))).train()
        second = time.perf_counter() - began
        size = await asyncio.to_thread(_bytes_in, Path(folder))
    print(f"\nspeed: {len(texts)} examples")
    print(f"  embedding them {embedding:.2f} s (first process, with loading the model)")
    print(
        f"  fit {1000 * min(walls):.0f} ms at best of five, {1000 * min(processor):.0f} ms of processor time"
    )
    print(f"  second process: ready after {1000 * second:.0f} ms, {size / 1024:.0f} kB on disk")


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


async def run(arguments: argparse.Namespace) -> bool:
    embedder = LocalEmbedder()
    wanted = (
        [arguments.only] if arguments.only else ["en_dev", "tuning", "held_back", "clarification", "speed"]
    )
    met = True
    with tempfile.TemporaryDirectory() as folder:
        router = LocalRouter(SHOP, embedder, ClassifierStore(Path(folder), SHOP.classifiers))
        routed: list[Routed] = []
        if {"en_dev", "clarification"} & set(wanted):
            routed = await route_all(router, embedder, english(arguments.data))
        if "en_dev" in wanted:
            figures = measure("en_dev", routed, errors=arguments.errors)
            met = met and all(figures[name] >= floor for name, floor in FLOORS.items())
        for name in ("tuning", "held_back"):
            if name in wanted:
                held = await route_all(router, embedder, chinese(name))
                figures = measure(f"Chinese, {name}", held, errors=arguments.errors)
                met = met and figures["strict"] >= 0.85
                if arguments.thresholds:
                    measure_thresholds(held)
        if arguments.thresholds and routed:
            measure_thresholds(routed)
        if "clarification" in wanted:
            met = measure_clarification(routed) and met
        if "speed" in wanted:
            await measure_speed(embedder)
    return met


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=("en_dev", "tuning", "held_back", "clarification", "speed"))
    parser.add_argument("--errors", action="store_true", help="print what was taken for something else")
    parser.add_argument("--thresholds", action="store_true", help="print other thresholds, source by source")
    sys.exit(0 if asyncio.run(run(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
