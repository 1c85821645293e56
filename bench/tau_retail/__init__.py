"""The retail business of tau-bench as a plug-in: its sixteen tools, in our own code, on Steward's engine."""
