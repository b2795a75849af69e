-- The first schema. Instants are microseconds since the Unix epoch, UTC; tau and stability are days.

CREATE TABLE scope (
    id            INTEGER PRIMARY KEY,
    key           TEXT    NOT NULL UNIQUE,
    -- the activity clock: measure (days) of ended segments, the running segment, the latest instant seen
    clock_origin  INTEGER,
    clock_closed  REAL    NOT NULL DEFAULT 0,
    clock_start   INTEGER,
    clock_end     INTEGER,
    clock_latest  INTEGER
) STRICT;

CREATE TABLE memory (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT    NOT NULL UNIQUE,
    scope         INTEGER NOT NULL REFERENCES scope (id),
    kind          TEXT    NOT NULL,
    content       TEXT,            -- NULL while the verbatim text lies in the attic
    content_hash  BLOB    NOT NULL,
    gist          TEXT    NOT NULL,
    cue           TEXT    NOT NULL,
    entities      TEXT    NOT NULL DEFAULT '[]',
    slots         TEXT    NOT NULL DEFAULT '[]',
    tags          TEXT    NOT NULL DEFAULT '[]',
    importance    REAL    NOT NULL,
    arousal       REAL    NOT NULL,
    confirmations INTEGER NOT NULL DEFAULT 0,
    pinned        INTEGER NOT NULL DEFAULT 0,
    trust         REAL    NOT NULL,
    actor         TEXT    NOT NULL,
    client        TEXT,
    session       TEXT,
    tool          TEXT,
    source        TEXT,
    event_id      TEXT    UNIQUE,
    -- shape of the text, for ranking without reading it: indexed words, who speaks, bit 0 question, bit 1 first person
    words         INTEGER NOT NULL DEFAULT 0,
    characters    INTEGER NOT NULL DEFAULT 0,
    speaker       TEXT,
    flags         INTEGER NOT NULL DEFAULT 0,
    time_words    INTEGER NOT NULL DEFAULT 0,
    recorded_at   INTEGER NOT NULL,
    valid_from    INTEGER,
    valid_to      INTEGER,
    superseded_by TEXT,
    merged_into   TEXT,            -- the id of the near-duplicate that speaks for it
    gist_of       INTEGER,         -- of how many memories it is the gist; NULL for what was said itself
    dormant       INTEGER NOT NULL DEFAULT 0,  -- a gist whose sources can still be shown themselves
    expires_at    INTEGER,
    forgotten_at  INTEGER,         -- set by forget without erase; cleared by its undo
    evicted_at    INTEGER,         -- set by the budget or an expiry, which remove for good when the undo time is over
    version       INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX memory_by_hash ON memory (scope, content_hash);
CREATE INDEX memory_by_session ON memory (scope, session, seq) WHERE session IS NOT NULL;
CREATE INDEX memory_by_expiry ON memory (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memory_by_merge ON memory (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX memory_by_gist ON memory (seq) WHERE gist_of IS NOT NULL;
CREATE INDEX memory_by_eviction ON memory (evicted_at) WHERE evicted_at IS NOT NULL;

-- Observations that consolidation has not looked at yet.
CREATE TABLE pending (
    seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE
) STRICT;

-- What the journal says, folded: derived, small, rewritten by use and by the daily run.
CREATE TABLE strength (
    seq            INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    rev            INTEGER NOT NULL,
    state          INTEGER NOT NULL DEFAULT 0,
    bit_width      INTEGER NOT NULL DEFAULT 32,
    uses           INTEGER NOT NULL DEFAULT 0,
    spaced_uses    REAL    NOT NULL DEFAULT 0,
    last_use_at    INTEGER,
    anchor_tau     REAL    NOT NULL,
    association    REAL    NOT NULL DEFAULT 0,
    activation     REAL    NOT NULL DEFAULT 0,
    activation_tau REAL    NOT NULL DEFAULT 0,
    stability      REAL    NOT NULL,
    rate           REAL    NOT NULL,
    heat_day       INTEGER NOT NULL DEFAULT 0,
    heat_mask      INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX strength_by_rev ON strength (rev);

-- How much a memory is like others by its words, summed when they came: for eviction, see lifecycle/resemblance.py.
CREATE TABLE resemblance (
    seq        INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    by_younger REAL NOT NULL DEFAULT 0,
    to_older   REAL NOT NULL DEFAULT 0
) STRICT;

-- Verbatim text of archived and forgotten memories, compressed.
CREATE TABLE attic (
    seq      INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    codec    TEXT    NOT NULL,
    body     BLOB    NOT NULL,
    moved_at INTEGER NOT NULL
) STRICT;

-- One row a memory: its chunk embeddings, one after the other, in one precision.
CREATE TABLE vector (
    seq       INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    rev       INTEGER NOT NULL,
    model     INTEGER NOT NULL REFERENCES model (id),
    version   INTEGER NOT NULL DEFAULT 1,
    bit_width INTEGER NOT NULL,
    chunks    INTEGER NOT NULL,
    codes     BLOB    NOT NULL,
    scales    BLOB    NOT NULL
) STRICT;

CREATE INDEX vector_by_rev ON vector (rev);

-- Content-token embeddings, for late interaction; the first thing that fading drops.
CREATE TABLE token (
    seq       INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    model     INTEGER NOT NULL REFERENCES model (id),
    bit_width INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    pieces    BLOB    NOT NULL,
    codes     BLOB    NOT NULL,
    scales    BLOB    NOT NULL
) STRICT;

-- In how many of the rows of `token` a word piece occurs; piece −1 counts the rows themselves.
CREATE TABLE piece (
    model INTEGER NOT NULL REFERENCES model (id),
    piece INTEGER NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (model, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
    id        INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
) STRICT;

-- Words of every memory in every state, without the text itself.
CREATE VIRTUAL TABLE lexical USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE lexical_posting USING fts5vocab (lexical, instance);
CREATE VIRTUAL TABLE lexical_term USING fts5vocab (lexical, row);
CREATE VIRTUAL TABLE substring USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = 'trigram'
);

CREATE TABLE entity (
    id    INTEGER PRIMARY KEY,
    kind  TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (value, kind)
) STRICT;

CREATE TABLE memory_entity (
    entity INTEGER NOT NULL REFERENCES entity (id),
    seq    INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_entity_by_seq ON memory_entity (seq);

-- The association graph. Undirected relations are stored both ways, so that one read finds the neighbours.
CREATE TABLE link (
    seq      INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    other    INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    relation TEXT    NOT NULL,
    weight   REAL    NOT NULL,
    PRIMARY KEY (seq, other, relation)
) STRICT, WITHOUT ROWID;

CREATE INDEX link_by_other ON link (other);
CREATE INDEX link_by_gist ON link (seq, other) WHERE relation = 'gist';

CREATE TABLE journal (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL,
    event  TEXT    NOT NULL,
    scope  INTEGER REFERENCES scope (id),
    memory TEXT,
    ref    TEXT,                   -- the recall, run or delivery it belongs to
    data   TEXT    NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX journal_by_memory ON journal (memory) WHERE memory IS NOT NULL;
CREATE INDEX journal_by_ref ON journal (ref) WHERE ref IS NOT NULL;
CREATE INDEX journal_by_event ON journal (event);
-- What was shown while somebody worked, to see whether the answer made use of it.
CREATE INDEX journal_shown ON journal (at) WHERE event = 'shown';

-- Seqs that are gone, so that readers in other processes drop them from what they keep resident.
CREATE TABLE tombstone (
    seq INTEGER PRIMARY KEY,
    rev INTEGER NOT NULL
) STRICT;

CREATE INDEX tombstone_by_rev ON tombstone (rev);

CREATE TABLE lease (
    name       TEXT    PRIMARY KEY,
    holder     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

INSERT INTO meta (key, value) VALUES ('rev', '0');

-- The name of the store: by it the log of another one is known.
INSERT INTO meta (key, value) VALUES ('store', lower(hex(randomblob(16))));
