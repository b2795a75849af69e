"""One file per MCP tool: its description, its limits, what it asks of the floors below, its reply."""
