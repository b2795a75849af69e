"""What other memories write, made up for an invented project in the shapes that they really have."""

CLAUDE_MEMORY = {
    "MEMORY.md": """\
# Memory index

- [Who the user is](user_role.md) — backend engineer, new to React
- [Integration tests use the real database](feedback_no_mocks.md) — after the broken migration
- [Debugging notes](debugging.md)

The tide service is deployed by the harbour team.
""",
    "user_role.md": """\
---
name: Who the user is
description: The user is a backend engineer who is new to React.
type: user
---

Ten years of Go, first time in the frontend of this repository. Explain components by what they would be on a server.
""",
    "feedback_no_mocks.md": """\
---
name: feedback_no_mocks
description: Integration tests must use a real database.
metadata:
  type: feedback
---

Integration tests must hit a real database, never a mock.
**Why:** mocked tests passed last quarter while the migration of the berths table failed in production.
**How to apply:** every test under tests/integration.
""",
    "project_freeze.md": """\
---
name: Merge freeze
type: project
---
Merges are frozen from 2026-03-05 until the mobile release is cut.
""",
    "reference_board.md": """\
---
type: reference
---
Latency alerts of the tide service are on the Grafana board named tides-api.
""",
    "debugging.md": """\
# Debugging

- The worker leaks sockets when `TIDE_POOL` is above 64.
- `make seed` must run before the replay tool.
""",
}

CLAUDE_MD = """\
# Tide tables

See @docs/architecture.md for the whole picture.
@docs/private.md

<!-- a note to ourselves: nobody reads this -->
## Commands

Run these before pushing:
- `pnpm test` runs the unit tests
- `pnpm lint --fix` repairs the style
  and fails on unused imports

To build the image:

```sh
docker build -t tides .
```

## Code style

- Always use named exports.
- Two spaces, no tabs.
  - Makefiles are the exception.

## Decisions

We chose SQLite instead of Postgres because one file is easy to ship.

## Services

| name | port |
|---|---|
| api | 8080 |

The deploy token is ghp_{token}.

- [ ] The berth importer still reads CSV.
"""

MEMORY_SERVER = """\
{"type":"entity","name":"harbour-api","entityType":"service","observations":["Listens on port 8080",\
"Written in Go\\u2028since 2024"]}
{"type":"entity","name":"Tide_Worker","entityType":"service","observations":["Consumes the queue tides"]}
{"type":"entity","name":"Empty","entityType":"service","observations":[]}
{"type":"relation","from":"Tide_Worker","to":"harbour-api","relationType":"depends_on"}
"""

BASIC_MEMORY = {
    "design/authentication.md": """\
---
title: Authentication design
type: note
permalink: design/authentication
tags: [auth, security]
created: 2026-01-15T10:00:00+00:00
---
# Authentication design

Sessions are handled by the gateway alone.

## Observations
- [decision] JWT tokens carry the session, so that no server keeps state #security
- [technique] Refresh tokens live in HTTP-only cookies (prevents XSS) #cookies
- [constraint] Tokens expire after 15 minutes
- [ ] write the migration guide

## Relations
- implements [[API security requirements]]
- depends_on [[User database|users]] (read only)
""",
    "ports.md": """\
---
title: Ports
permalink: ports
tags:
  - network
---
- [fact] The staging gateway listens on 8443
""",
}

MEM0 = """\
{
  "results": [
    {"id": "m1", "memory": "Prefers short answers without summaries", "user_id": "u", "hash": "x",
     "categories": ["user_preferences"], "metadata": null,
     "created_at": "2025-11-02T01:30:36.275141-07:00", "updated_at": null},
    {"id": "m2", "memory": "Leads the API redesign that ships in the second quarter", "user_id": "u",
     "metadata": {"type": "professional"}, "created_at": "2025-12-24T08:00:00Z"},
    {"id": "m3", "memory": "Decided on pnpm for the frontend", "metadata": {"category": "decision"}}
  ],
  "relations": [{"source": "api_redesign", "relationship": "blocked_by", "target": "schema_review"}]
}
"""
