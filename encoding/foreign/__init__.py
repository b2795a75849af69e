"""What other memories write, as notes that can be saved here: one file a format, one registry."""
