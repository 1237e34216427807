-- Searching packages by the interfaces that their releases define. A package of before this step is found by its
-- interfaces once something about it changes.
CREATE TABLE interfaces (
    interface TEXT NOT NULL,
    package TEXT NOT NULL REFERENCES packages (name),
    PRIMARY KEY (interface, package)
);
CREATE INDEX interfaces_by_package ON interfaces (package, interface);
