-- Artifacts that are removed from where they are kept, which is no part of a transaction. A row is written
-- before the artifact goes, and stays for a while: by it, whoever publishes the same bytes sees that what
-- they put there may be gone.
CREATE TABLE removals (
    sha256 TEXT PRIMARY KEY,
    -- Another one with each removal.
    id TEXT NOT NULL,
    -- The process that is at it.
    node TEXT NOT NULL,
    -- When it began, or ended, in seconds since 1970.
    at BIGINT NOT NULL,
    -- 0 or 1.
    is_over BIGINT NOT NULL
);
