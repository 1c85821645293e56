"""`steward eval`: conversations with expectations, played several times against the configured endpoint (O9)."""
