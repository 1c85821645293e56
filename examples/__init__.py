"""Examples: a second business, and ways to embed an agent."""
