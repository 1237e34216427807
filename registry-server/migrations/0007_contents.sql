-- Searching Ansible collections by their plug-ins, roles and playbooks, and by authors and tags. Those of releases from
-- before this step are added when the registry is opened.
CREATE TABLE contents (
    package TEXT NOT NULL REFERENCES packages (name),
    class TEXT NOT NULL,
    -- The name as users call it, such as acme.web.page.
    name TEXT NOT NULL,
    PRIMARY KEY (package, class)
);
-- Lists of texts, as JSON; empty if they are still to be added.
ALTER TABLE collections ADD COLUMN authors TEXT NOT NULL DEFAULT '';
ALTER TABLE collections ADD COLUMN tags TEXT NOT NULL DEFAULT '';
