"""A clinic's appointment desk, quite different from the shop, on the same engine.

STEWARD_BUSINESS=examples.clinic:CLINIC steward chat --user patient_7
"""

from examples.clinic.business import CLINIC

__all__ = ["CLINIC"]
