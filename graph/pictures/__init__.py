"""The graph and its costs as pictures."""
