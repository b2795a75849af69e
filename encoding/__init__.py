"""From raw text to a trace: cleaning, redaction, entities, times, embeddings, reconciliation."""
