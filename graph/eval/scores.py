"""pass^k: how likely a case is to pass k times in a row, estimated without bias from n trials. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import fmean


def pass_hat(passed: int, trials: int, k: int) -> float:
    """The share of all choices of k among the trials that passed throughout; for k = 1 the plain share.

    >>> pass_hat(3, 4, 2)
    0.5
    """
    if not 1 <= k <= trials:
        raise ValueError(f"k is 1 to {trials}, not {k}")
    return comb(passed, k) / comb(trials, k)


def pass_hats(passed: Sequence[int], trials: int) -> dict[int, float]:
    """The mean over the cases for each k, given how many of its trials each case passed."""
    return {k: fmean(pass_hat(each, trials, k) for each in passed) for k in range(1, trials + 1) if passed}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
