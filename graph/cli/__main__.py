"""`python -m graph.cli` is `steward`."""

from graph.cli import main

main()
