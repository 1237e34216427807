//! The examples in the help of each command.

/// A command line, and what it does.
pub(super) type Example = (&'static str, &'static str);

/// The examples of each command. A test parses them; the first one is in the short help as well.
pub(super) const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "resolve",
        &[
            ("pkgres resolve app", "the project in the folder `app`"),
            (
                "pkgres resolve --registry https://packages.example.org --format json",
                "with packages of a server, as JSON",
            ),
            (
                "pkgres resolve --prefer oldest",
                "with the oldest versions, to test lower bounds",
            ),
        ],
    ),
    (
        "lock",
        &[
            (
                "pkgres lock",
                "write pkgres.lock of the project in this folder",
            ),
            ("pkgres lock --check", "fail if it is out of date, as in CI"),
            ("pkgres lock --workspace", "all members of the workspace"),
        ],
    ),
    (
        "init",
        &[
            ("pkgres init web", "a package in the new folder `web`"),
            ("pkgres init tools --template library", "a library"),
        ],
    ),
    (
        "add",
        &[
            ("pkgres add org.example.Db", "the newest version that fits"),
            ("pkgres add 'org.example.Db@>=1.2, <3'", "with a spec"),
            (
                "pkgres add org.example.Db -p web",
                "to a member of the workspace",
            ),
        ],
    ),
    (
        "remove",
        &[(
            "pkgres remove org.example.Db",
            "remove a requirement, and lock",
        )],
    ),
    (
        "update",
        &[
            ("pkgres update", "all packages"),
            (
                "pkgres update org.example.Db",
                "one package, and nothing else if possible",
            ),
            (
                "pkgres update org.example.Db --precise 1.4.0",
                "to exactly this version",
            ),
        ],
    ),
    (
        "outdated",
        &[(
            "pkgres outdated --exit-code",
            "end with 10 if something is outdated",
        )],
    ),
    (
        "diff",
        &[
            ("pkgres diff", "the lockfile and its last commit"),
            (
                "pkgres diff main --format markdown",
                "against a branch, as a table for a pull request",
            ),
        ],
    ),
    (
        "pin",
        &[
            (
                "pkgres pin model.yaml --in-place",
                "write versions into the model",
            ),
            (
                "pkgres pin --check model.yaml",
                "check a model with versions",
            ),
        ],
    ),
    (
        "tree",
        &[
            ("pkgres tree --depth 2", "two levels"),
            (
                "pkgres tree --invert org.example.Db",
                "what requires a package, directly and indirectly",
            ),
        ],
    ),
    (
        "why",
        &[(
            "pkgres why org.example.Db",
            "the shortest paths to a package",
        )],
    ),
    (
        "why-not",
        &[(
            "pkgres why-not org.example.Db@2.0.0",
            "what keeps a version out of the resolution",
        )],
    ),
    (
        "explain",
        &[
            ("pkgres explain app", "why the project has no resolution"),
            (
                "pkgres explain PK0012",
                "what a code means, and how to fix it",
            ),
            (
                "pkgres explain class-removed",
                "what a rule of compatibility means, and what to do",
            ),
            ("pkgres explain --list", "all codes and rules"),
        ],
    ),
    (
        "repair",
        &[
            ("pkgres repair", "the cheapest ways to repair a conflict"),
            (
                "pkgres repair --apply 1 --dry-run",
                "what the first way would change in manifest and lockfile",
            ),
            ("pkgres repair --apply 1", "make these changes"),
            (
                "pkgres repair --update org.example.Db --precise 2.0.0",
                "what to change so that a package can be updated to a version",
            ),
        ],
    ),
    (
        "graph",
        &[
            ("pkgres graph --format mermaid", "for Markdown"),
            (
                "pkgres graph --classes --format svg",
                "a picture, with classes",
            ),
        ],
    ),
    (
        "export",
        &[
            ("pkgres export --format cyclonedx", "a bill of materials"),
            (
                "pkgres export --workspace --format spdx",
                "one for all members of the workspace",
            ),
        ],
    ),
    (
        "verify-certificate",
        &[(
            "pkgres verify-certificate proof",
            "what the certificate in the folder `proof` proves",
        )],
    ),
    (
        "schema",
        &[("pkgres schema manifest", "for completion in editors")],
    ),
    (
        "completions",
        &[("pkgres completions bash", "for the shell Bash")],
    ),
    ("man", &[("pkgres man update", "the page of one command")]),
    (
        "config list",
        &[(
            "pkgres config list --show-origin",
            "and where each value comes from",
        )],
    ),
    (
        "config get",
        &[("pkgres config get prefer", "the value that is used here")],
    ),
    (
        "config set",
        &[
            ("pkgres config set offline true", "for you, everywhere"),
            (
                "pkgres config set --project registries https://packages.example.org",
                "for this project",
            ),
        ],
    ),
    (
        "config unset",
        &[(
            "pkgres config unset --project registries",
            "use the default registry again",
        )],
    ),
    (
        "spec",
        &[(
            "pkgres spec '>=1.2, <3' 1.4.0 3.0.0",
            "which of the versions match",
        )],
    ),
    (
        "index",
        &[(
            "pkgres index packages --output index.ndjson",
            "write an index file",
        )],
    ),
    ("pack", &[("pkgres pack web", "write the archive of web")]),
    (
        "unpack",
        &[(
            "pkgres unpack org.example.Web-1.0.0.zip web",
            "into the new folder `web`",
        )],
    ),
    (
        "check",
        &[
            ("pkgres check web", "a package"),
            (
                "pkgres check --format github",
                "as annotations of a GitHub workflow",
            ),
            (
                "pkgres check --interfaces --facts windows.yaml",
                "which functions of interfaces classes lack on a platform",
            ),
        ],
    ),
    (
        "semver",
        &[
            (
                "pkgres semver HEAD~1",
                "the package in this folder, compared with the previous commit",
            ),
            (
                "pkgres semver @newest web --registry https://packages.example.org",
                "a package, compared with its newest published version",
            ),
            (
                "pkgres semver web-1.2.0.zip web --witness witnesses",
                "and write packages that show what breaks",
            ),
        ],
    ),
    (
        "validate",
        &[
            (
                "pkgres validate web --target local:",
                "test this machine, and change nothing",
            ),
            (
                "pkgres validate web --target rootfs:image --reconcile --arg java=zulu",
                "set up what an unpacked image lacks",
            ),
            (
                "pkgres validate web/validate.yaml --target rootfs:image --prove",
                "find out what would change, and which tests cannot be trusted",
            ),
        ],
    ),
    (
        "prune",
        &[
            (
                "pkgres prune --target rootfs:image --dry-run",
                "the archives of earlier releases that nothing uses",
            ),
            ("pkgres prune --target rootfs:image", "remove them"),
        ],
    ),
    (
        "plan",
        &[
            (
                "pkgres plan web --target rootfs:image",
                "what would change in an unpacked image",
            ),
            (
                "pkgres plan --target local: --model model.yaml --exit-code",
                "with the objects of a model; end with 10 if something would change",
            ),
            (
                "pkgres plan web --target rootfs:image --diff",
                "and which files, with the lines that differ",
            ),
            (
                "pkgres plan --target local: --format svg",
                "draw the resources and their order",
            ),
        ],
    ),
    (
        "call",
        &[
            (
                "pkgres call org.example.Web status --target local:",
                "what the function of a class in this project returns on this machine",
            ),
            (
                "pkgres call org.example.Web restart force=true --target ssh://web1 --model model.yaml",
                "with an argument, for the object of a model on another machine",
            ),
            (
                "pkgres call org.example.Web status --target rootfs:image --read-only --strict",
                "as a test: the function cannot write, and must return what its interface says",
            ),
        ],
    ),
    (
        "apply",
        &[
            (
                "pkgres apply web --target rootfs:image",
                "change what differs in an unpacked image",
            ),
            (
                "pkgres apply --target local: --watch",
                "this machine, and restore what changes until Ctrl-C",
            ),
            (
                "pkgres apply --target local: --watch --converged-timeout 5 --converged-exit",
                "end once nothing has happened for 5 seconds",
            ),
            (
                "pkgres apply --target local: --watch --metrics /var/lib/prometheus/node-exporter/pkgres.prom",
                "with metrics for Prometheus",
            ),
        ],
    ),
    (
        "interface init",
        &[
            (
                "pkgres interface init --from org.example.Apt",
                "the functions of a class as an interface",
            ),
            (
                "pkgres interface init --from org.example.providers -o Interfaces/Pkg.yaml",
                "what most classes of a package have in common",
            ),
        ],
    ),
    (
        "interface diff",
        &[(
            "pkgres interface diff old/Service.yaml Interfaces/Service.yaml",
            "what changes for callers, and the version bump that it requires",
        )],
    ),
    (
        "publish",
        &[
            (
                "pkgres publish web --dry-run",
                "show what would be published",
            ),
            (
                "pkgres publish web --registry https://packages.example.org",
                "publish to a server",
            ),
        ],
    ),
    (
        "yank",
        &[(
            "pkgres yank org.example.Web@1.0.0 --reason 'data loss'",
            "keep it from being chosen again",
        )],
    ),
    (
        "login",
        &[("pkgres login https://packages.example.org", "store a token")],
    ),
    (
        "logout",
        &[("pkgres logout https://packages.example.org", "remove it")],
    ),
    (
        "whoami",
        &[
            ("pkgres whoami", "for the first registry on the network"),
            ("pkgres whoami https://packages.example.org", "for another"),
        ],
    ),
    (
        "owner list",
        &[("pkgres owner list org.example.Web", "who can publish it")],
    ),
    (
        "owner add",
        &[("pkgres owner add org.example.Web ann", "let ann publish it")],
    ),
    (
        "owner remove",
        &[(
            "pkgres owner remove org.example.Web ann",
            "ann can no longer publish it",
        )],
    ),
    (
        "token create",
        &[
            (
                "pkgres token create --scope publish --name 'org.example.*' --expires '30 days'",
                "for a job that publishes",
            ),
            (
                "pkgres token create --scope read --scope publish --owner ann",
                "as administrator, for another person",
            ),
        ],
    ),
    (
        "token list",
        &[("pkgres token list", "your tokens, without their secrets")],
    ),
    (
        "token revoke",
        &[(
            "pkgres token revoke 0d2f5f4c-6f0e-4a5e-9c3b-1f2a3b4c5d6e",
            "by its id in the list",
        )],
    ),
    (
        "search",
        &[("pkgres search web server", "packages with both words")],
    ),
    (
        "info",
        &[
            ("pkgres info org.example.Db", "the newest release"),
            ("pkgres info org.example.Db@1.2.0", "a particular release"),
        ],
    ),
    (
        "fetch",
        &[("pkgres fetch", "before a build without a network")],
    ),
    (
        "verify",
        &[
            (
                "pkgres verify",
                "compare all locked releases with their digests",
            ),
            (
                "pkgres verify --installed ~/.ansible/collections requirements.yml",
                "find what differs from the lockfile of collections",
            ),
        ],
    ),
    (
        "vendor",
        &[(
            "pkgres vendor third-party app",
            "archives for a build without registries",
        )],
    ),
    (
        "install",
        &[(
            "pkgres install ~/.ansible/collections requirements.yml",
            "the locked collections, where Ansible finds them",
        )],
    ),
    ("cache dir", &[("pkgres cache dir", "where the cache is")]),
    (
        "cache list",
        &[("pkgres cache list", "what is in the cache")],
    ),
    ("cache clean", &[("pkgres cache clean", "remove all of it")]),
    (
        "cache verify",
        &[("pkgres cache verify", "remove what is damaged")],
    ),
    (
        "cache forget",
        &[(
            "pkgres cache forget acme",
            "trust a registry again as on first use",
        )],
    ),
    (
        "serve",
        &[(
            "pkgres serve --data registry --listen 127.0.0.1:8080",
            "a registry in a folder",
        )],
    ),
    (
        "export-static",
        &[(
            "pkgres export-static --data registry www",
            "files for any web server",
        )],
    ),
];
