-- SPDX-License-Identifier: Apache-2.0
-- The store, version 1 (PRAGMA user_version). docs/cache.md explains it.
--
-- Two tables an artifact: `artifact` is small, so that a scan for `kiln ls` or an update of last_used touches
-- a few hundred bytes; `content` holds what may be megabytes and is written once.
CREATE TABLE artifact (
    id         INTEGER PRIMARY KEY,
    key        BLOB NOT NULL UNIQUE,   -- BLAKE2b-256, cache/key.def
    owner      INTEGER NOT NULL,       -- uid
    restricted INTEGER NOT NULL,       -- served to the owner only
    pin        INTEGER NOT NULL,       -- never evicted
    created    INTEGER NOT NULL,       -- Unix seconds
    last_used  INTEGER NOT NULL,
    hits       INTEGER NOT NULL,
    compile_us INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,       -- of the blob
    total      INTEGER NOT NULL,       -- what the row counts against the limit
    entry      TEXT NOT NULL,
    signature  TEXT NOT NULL,
    target     TEXT NOT NULL,
    emit       TEXT NOT NULL,
    options    TEXT NOT NULL,
    ir         BLOB NOT NULL,          -- digest of the payload
    toolchain  BLOB NOT NULL,
    parts      BLOB NOT NULL,          -- component digests, for `explain`
    sum        BLOB NOT NULL           -- BLAKE2b-256 over key, owner, restricted, compile_us, manifest, blob
);
CREATE INDEX artifact_age ON artifact (pin, last_used);
CREATE INDEX artifact_size ON artifact (pin, total);
CREATE INDEX artifact_ir ON artifact (ir);

CREATE TABLE content (
    id       INTEGER PRIMARY KEY,      -- artifact.id
    manifest BLOB NOT NULL,
    blob     BLOB NOT NULL
);

-- Payloads as they were sent, for `kiln show`: one for all specializations of a function.
CREATE TABLE payload (
    ir    BLOB NOT NULL PRIMARY KEY,   -- BLAKE2b-256 of body
    total INTEGER NOT NULL,
    body  BLOB NOT NULL
);

-- Kept by triggers, so that the limit needs no sum over all rows.
CREATE TABLE totals (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    entries INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0);

CREATE TRIGGER artifact_added AFTER INSERT ON artifact BEGIN
    UPDATE totals SET entries = entries + 1, bytes = bytes + new.total;
END;
CREATE TRIGGER artifact_gone AFTER DELETE ON artifact BEGIN
    UPDATE totals SET entries = entries - 1, bytes = bytes - old.total;
    DELETE FROM content WHERE id = old.id;
    DELETE FROM payload WHERE ir = old.ir AND NOT EXISTS (SELECT 1 FROM artifact WHERE ir = old.ir);
END;
CREATE TRIGGER payload_added AFTER INSERT ON payload BEGIN
    UPDATE totals SET bytes = bytes + new.total;
END;
CREATE TRIGGER payload_gone AFTER DELETE ON payload BEGIN
    UPDATE totals SET bytes = bytes - old.total;
END;
