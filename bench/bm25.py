"""Bigram BM25, the yardstick that recall has to beat: no vectors, no word lists, no neighbours."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

TOKEN = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+")
K1, B = 1.2, 0.75


def tokens(text: str) -> list[str]:
    """Character bigrams for Chinese, lower-cased words without a plural s for the rest."""
    found: list[str] = []
    for run in TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if "\u3400" <= run[0] <= "\u9fff":
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            run = run.lstrip("0") or "0"  # 04-27 and 4月27日
            found.append(run[:-1] if len(run) > 3 and run.endswith("s") else run)
    return found


class Bm25:
    """An index over (id, text) pairs."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self._ids = [id for id, _ in documents]
        self._counts = [Counter(tokens(text)) for _, text in documents]
        self._lengths = [sum(count.values()) for count in self._counts]
        self._mean = sum(self._lengths) / max(len(documents), 1)
        self._frequency = Counter(term for count in self._counts for term in count)

    def search(self, text: str, k: int) -> list[str]:
        """Ids of the k best documents."""
        scores = [0.0] * len(self._ids)
        for term in set(tokens(text)):
            frequency = self._frequency[term]
            weight = math.log(1 + (len(self._ids) - frequency + 0.5) / (frequency + 0.5))
            for index, count in enumerate(self._counts):
                if count[term]:
                    norm = K1 * (1 - B + B * self._lengths[index] / self._mean)
                    scores[index] += weight * count[term] * (K1 + 1) / (count[term] + norm)
        best = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [self._ids[index] for index in best[:k] if scores[index] > 0]
