"""The clinic's tools: each a typed function whose queries are bound to the patient."""
