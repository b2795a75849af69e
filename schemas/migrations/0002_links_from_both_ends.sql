-- Every link is stored from both of its ends, so what leads to a memory is told by what leads from it: an index by the
-- other end told nothing more and was a sixth of the pages that a save wrote.

CREATE TABLE link_from_both_ends (
    seq      INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    other    INTEGER NOT NULL,
    relation TEXT    NOT NULL,
    weight   REAL    NOT NULL,
    PRIMARY KEY (seq, other, relation)
) STRICT, WITHOUT ROWID;

-- What damage has left of memories that are gone must not keep a store from being opened. The plus signs keep SQLite from
-- trying each memory with each other one.
INSERT INTO link_from_both_ends SELECT seq, other, relation, weight FROM link
    WHERE +seq IN (SELECT seq FROM memory) AND +other IN (SELECT seq FROM memory);
INSERT INTO link_from_both_ends SELECT other, seq, relation, weight FROM link_from_both_ends WHERE true
    ON CONFLICT DO UPDATE SET weight = max(weight, excluded.weight);

DROP TABLE link;
ALTER TABLE link_from_both_ends RENAME TO link;
CREATE INDEX link_by_gist ON link (seq, other) WHERE relation = 'gist';

-- The rows of a memory that goes are removed by its foreign key, those that lead to it by this.
CREATE TRIGGER link_to_gone BEFORE DELETE ON memory BEGIN
    DELETE FROM link WHERE (seq, other) IN (SELECT other, seq FROM link WHERE seq = old.seq);
END;
