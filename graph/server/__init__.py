"""What the LangGraph server takes from us beside the graph: authentication, routes of our own, known threads."""
