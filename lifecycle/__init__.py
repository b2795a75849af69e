"""What time does: clock, strength, retention, precision, soft prompts, the daily run."""
