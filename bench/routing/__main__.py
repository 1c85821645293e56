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
import sys
import tempfile
from pathlib import Path

from bench.routing.accuracy import measure, measure_thresholds
from bench.routing.clarification import measure_clarification
from bench.routing.speed import measure_speed
from bench.routing.utterances import Routed, chinese, english, route_all
from graph.shop.business import SHOP
from memory.embeddings import LocalEmbedder
from nodes.classifier import LocalRouter
from nodes.classifier_store import ClassifierStore

FLOORS = {"strict": 0.80, "lenient": 0.88, "right alone": 0.98, "alone": 0.40}


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
