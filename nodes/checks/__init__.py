"""Checks of a draft against its sources, without a model (F4). Pure."""

from nodes.checks.checker import Checked, Checker, find_faults
from nodes.checks.faults import Fault, FaultKind, hard_faults
from nodes.checks.revision import corrects, objection
from nodes.checks.sources import Sources, Wish

__all__ = [
    "Checked",
    "Checker",
    "Fault",
    "FaultKind",
    "Sources",
    "Wish",
    "corrects",
    "find_faults",
    "hard_faults",
    "objection",
]
