"""Kills graph and worker processes while turns are processed, and counts what is remembered of them."""
