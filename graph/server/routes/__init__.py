"""Routes of ours beside the LangGraph server's own API."""
