-- Searching packages by the interfaces that their releases define. Those of packages from before this step are added when
-- the registry is opened.
CREATE TABLE interfaces (
    interface TEXT NOT NULL,
    package TEXT NOT NULL REFERENCES packages (name),
    PRIMARY KEY (interface, package)
);
CREATE INDEX interfaces_by_package ON interfaces (package, interface);
