"""Prompt injection: goals hidden in a shop's data, and a model that obeys whatever it reads."""
