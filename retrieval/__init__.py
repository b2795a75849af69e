"""From a question to the memories that answer it: query analysis, channels, fusion, rendering."""
