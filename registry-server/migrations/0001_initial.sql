-- The first schema. It means the same to SQLite and to PostgreSQL: texts, 64-bit integers and bytes.
-- "{bytes}" is replaced by the name of the collation that compares bytes.

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

-- Packages of all ecosystems share their names.
CREATE TABLE packages (
    name TEXT COLLATE {bytes} PRIMARY KEY,
    -- The name after case folding: two packages never differ in case alone.
    folded TEXT NOT NULL UNIQUE,
    -- 'murano' for class packages.
    ecosystem TEXT NOT NULL,
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
    -- The token that it was published with; empty if it was not published over HTTP.
    token TEXT NOT NULL,
    -- Why it is yanked; null if it is not.
    yanked TEXT,
    PRIMARY KEY (package, version)
);
CREATE INDEX releases_by_digest ON releases (sha256);

-- What clients of the catalog ask of releases of class packages beside the index. It can change; releases cannot.
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
    -- The author and the tags in the form that searches compare: lower case, one per line.
    searched TEXT NOT NULL,
    -- 0 or 1.
    is_public BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    -- The owner of the token that the release was published with.
    owner TEXT NOT NULL,
    created TEXT COLLATE {bytes} NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (package, version),
    FOREIGN KEY (package, version) REFERENCES releases (package, version) ON DELETE CASCADE
);
CREATE INDEX catalog_by_name ON catalog (name, id);
CREATE INDEX catalog_by_creation ON catalog (created, id);

-- What clients of Galaxy ask of releases of Ansible collections beside the index. The values never change.
CREATE TABLE collections (
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    -- The version with its build metadata.
    written TEXT NOT NULL,
    -- The versions of ansible-core; null for any.
    requires_ansible TEXT,
    -- The names of required collections with their ranges, as a JSON object.
    dependencies TEXT NOT NULL,
    -- What the metadata says for people, as a JSON object.
    about TEXT NOT NULL,
    -- The readme and the licence, as JSON objects; null if there is none.
    readme TEXT,
    licence TEXT,
    -- The authors and the tags in the form that searches compare: lower case, one per line.
    searched TEXT NOT NULL,
    PRIMARY KEY (package, version),
    FOREIGN KEY (package, version) REFERENCES releases (package, version) ON DELETE CASCADE
);

-- Which packages have a release that requires a package, that defines a class, and that defines an interface.
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
CREATE INDEX definitions_by_package ON definitions (package, class);
CREATE TABLE interfaces (
    interface TEXT NOT NULL,
    package TEXT NOT NULL REFERENCES packages (name),
    PRIMARY KEY (interface, package)
);
CREATE INDEX interfaces_by_package ON interfaces (package, interface);

-- The plug-ins, roles and playbooks of Ansible collections, which searches look at.
CREATE TABLE contents (
    package TEXT NOT NULL REFERENCES packages (name),
    class TEXT NOT NULL,
    -- The name as users call it, such as acme.web.page.
    name TEXT NOT NULL,
    PRIMARY KEY (package, class)
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
CREATE INDEX changes_by_package ON changes (package, serial);

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

-- Artifacts that are being removed from their storage, which is not part of a transaction. A row is written
-- before the artifact is removed, and stays for a while, so that whoever publishes the same bytes sees that
-- the artifact may be gone again.
CREATE TABLE removals (
    sha256 TEXT PRIMARY KEY,
    -- Another one with each removal.
    id TEXT NOT NULL,
    -- The process that removes it.
    node TEXT NOT NULL,
    -- When it began, or ended, in seconds since 1970.
    at BIGINT NOT NULL,
    -- 0 or 1.
    is_over BIGINT NOT NULL
);
