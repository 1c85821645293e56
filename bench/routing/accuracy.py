"""How often the likeliest intent is right, and what is decided alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from bench.routing.utterances import NAMES, Routed


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
