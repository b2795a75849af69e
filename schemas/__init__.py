"""What things are: frozen dataclasses and enums, the error tree, wire models, SQL migrations."""
