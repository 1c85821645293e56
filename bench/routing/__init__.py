"""How well messages are routed without a model (`python -m bench.routing DATA`)."""
