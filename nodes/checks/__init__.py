"""Checks of a draft against its sources, without a model (F4). Pure."""

from nodes.checks.faults import Fault, FaultKind, find_faults, hard_faults
from nodes.checks.sources import Sources

__all__ = ["Fault", "FaultKind", "Sources", "find_faults", "hard_faults"]
