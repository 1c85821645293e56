"""Steward beside LangChain's `create_agent` and beside the bare graph: time, throughput, bytes, start."""
