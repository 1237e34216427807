-- The first schema. It means the same to SQLite and to PostgreSQL: texts, 64-bit integers and bytes.
-- What stands for "{bytes}" is the name of the collation that compares bytes.

-- Facts about the registry itself: its identity and its signing key.
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- The serial. Every writer updates this row first and holds it until it commits: writers wait for
-- each other, and serials have no gaps and become visible in order. A sequence would do neither.
CREATE TABLE counter (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    serial BIGINT NOT NULL
);
INSERT INTO counter (id, serial) VALUES (1, 0);

CREATE TABLE packages (
    name TEXT COLLATE {bytes} PRIMARY KEY,
    -- The name after case folding: two packages never differ in case alone.
    folded TEXT NOT NULL UNIQUE,
    -- Grows with each change of the owners.
    generation BIGINT NOT NULL,
    -- What the newest release says of itself.
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    updated TEXT NOT NULL
);

CREATE TABLE owners (
    package TEXT NOT NULL REFERENCES packages (name),
    owner TEXT NOT NULL,
    PRIMARY KEY (package, owner)
);
CREATE INDEX owners_by_owner ON owners (owner, package);

CREATE TABLE releases (
    package TEXT NOT NULL REFERENCES packages (name),
    -- The version without build metadata, which does not tell releases apart.
    version TEXT NOT NULL,
    -- The line of the index document.
    record TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    published TEXT NOT NULL,
    -- The token that it was published with; empty where it was not published over HTTP.
    token TEXT NOT NULL,
    -- Why it is yanked; null while it is not.
    yanked TEXT,
    PRIMARY KEY (package, version)
);
CREATE INDEX releases_by_digest ON releases (sha256);

-- Which packages have a release that requires a package, and which have one that defines a class.
CREATE TABLE requirements (
    required TEXT NOT NULL,
    package TEXT NOT NULL REFERENCES packages (name),
    PRIMARY KEY (required, package)
);
CREATE TABLE definitions (
    class TEXT NOT NULL,
    package TEXT NOT NULL REFERENCES packages (name),
    PRIMARY KEY (class, package)
);

-- Every document of the index as it is served, rendered by the transaction that changed it.
CREATE TABLE documents (
    -- 'package' or 'class'.
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body BYTEA NOT NULL,
    sha256 TEXT NOT NULL,
    -- What releases of the package require, sorted, with a line feed between names.
    requires TEXT NOT NULL,
    -- The serial of the change that rendered it.
    serial BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE INDEX documents_by_serial ON documents (serial);

CREATE TABLE changes (
    serial BIGINT PRIMARY KEY,
    kind TEXT NOT NULL,
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    at TEXT NOT NULL,
    token TEXT NOT NULL
);

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    -- The digest of the secret; the secret itself is nowhere.
    sha256 TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    -- Words with spaces between them.
    scopes TEXT NOT NULL,
    names TEXT NOT NULL,
    note TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT
);
