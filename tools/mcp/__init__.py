"""Tools of MCP servers: which servers there are, their sessions, and their tools as the engine's own."""
