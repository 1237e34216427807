-- Searching packages by parts of the names of their classes.
CREATE INDEX definitions_by_package ON definitions (package, class);
