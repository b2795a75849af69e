"""The composition root, the MCP app, stdio, the command line and settings."""
