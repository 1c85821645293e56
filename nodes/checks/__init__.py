"""Checks of a draft against its sources, without a model (F4). Pure."""

from nodes.checks.faults import Fault, FaultKind, find_faults, hard_faults
from nodes.checks.sources import Sources, Wish

__all__ = ["Fault", "FaultKind", "Sources", "Wish", "find_faults", "hard_faults"]
