"""The one door to SQLite: database, memories, vectors, lexical index, graph, journal, backup."""
