-- Packages of other ecosystems than class packages. Packages of all ecosystems share their names.
ALTER TABLE packages ADD COLUMN ecosystem TEXT NOT NULL DEFAULT 'murano';

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
    -- The readme and the licence, as JSON objects; null where there is none.
    readme TEXT,
    licence TEXT,
    PRIMARY KEY (package, version),
    FOREIGN KEY (package, version) REFERENCES releases (package, version)
);

-- When a package changed.
CREATE INDEX changes_by_package ON changes (package, serial);
