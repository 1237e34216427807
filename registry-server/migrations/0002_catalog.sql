-- The catalog: what is said of releases beside the index. It can change; releases cannot.

CREATE TABLE catalog (
    package TEXT COLLATE {bytes} NOT NULL,
    version TEXT NOT NULL,
    -- The first 32 digits of the digest of the artifact: other bytes are another release.
    id TEXT COLLATE {bytes} NOT NULL UNIQUE,
    -- The name that is shown to people.
    name TEXT COLLATE {bytes} NOT NULL,
    -- 'Application' or 'Library'.
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Lists of texts, as JSON.
    tags TEXT NOT NULL,
    categories TEXT NOT NULL,
    -- 0 or 1.
    is_public BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    -- Whom the token belonged to that the release was published with.
    owner TEXT NOT NULL,
    created TEXT COLLATE {bytes} NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (package, version),
    FOREIGN KEY (package, version) REFERENCES releases (package, version)
);
CREATE INDEX catalog_by_name ON catalog (name, id);
CREATE INDEX catalog_by_creation ON catalog (created, id);

CREATE TABLE categories (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
);

CREATE TABLE bundles (
    name TEXT PRIMARY KEY,
    -- The document as it is served.
    body TEXT NOT NULL
);
