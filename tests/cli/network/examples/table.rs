//! The examples, each with the set-up that it needs.

use super::Example;

/// What several examples need: lines of a shell that run before them.
pub(super) struct SetUp {
    /// The folder that is copied, beside this file or in the folder of documents.
    pub(super) folder: &'static str,
    /// Whether a registry is served. Its data are in the folder `registry`, and it is the only registry.
    pub(super) is_served: bool,
    pub(super) before: &'static [&'static str],
    pub(super) examples: &'static [Example],
}

/// Packages, two projects that require them, and a folder `providers` with a package of interfaces.
const WORLD: &str = "network/examples/world";

/// Lines that make the folder `image` a small system, in which a shell runs.
const IMAGE: &str = "mkdir -p image/tmp image/bin image/etc image/proc image/dev \"image$ROOT\" && \
                     cp /bin/sh image/bin/sh && ldd /bin/sh | grep -o '/[^ ]*' | xargs cp --parents -L -t image";

/// Replacements in the lines of examples: the test can neither reach the server that they name nor write where services
/// do.
pub(super) const REPLACED: &[(&str, &str)] = &[
    ("https://packages.example.org", "$REGISTRY"),
    ("127.0.0.1:8080", "127.0.0.1:0"),
    ("/var/lib/prometheus/node-exporter", "$ROOT"),
    ("ssh://web1", "ssh://$SSH_ADDRESS --ssh-config $SSH_CONFIG"),
    ("0d2f5f4c-6f0e-4a5e-9c3b-1f2a3b4c5d6e", "$TOKEN_ID"),
    (
        "pkgres apply --target local:",
        "pkgres apply --target local: --state $ROOT/machine",
    ),
    (
        "pkgres plan --target local:",
        "pkgres plan --target local: --state $ROOT/machine",
    ),
];

/// All examples of the help.
pub(super) const SET_UPS: &[SetUp] = &[
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &[],
        examples: &[
            Example::of("pkgres resolve app").shows("org.example.Db 1.4.0"),
            Example::of("pkgres lock --workspace").then("test -f app/pkgres.lock -a -f web/pkgres.lock"),
            Example::of("pkgres init web")
                .after("rm -r web")
                .then("grep -q Application web/manifest.yaml"),
            Example::of("pkgres init tools --template library")
                .then("grep -q Library tools/manifest.yaml"),
            Example::of("pkgres add org.example.Db -p web").then("grep -q Db web/manifest.yaml web/pkgres.lock"),
            Example::of("pkgres explain PK0012").shows("How to fix it"),
            Example::of("pkgres explain class-removed").shows("no longer listed in the manifest"),
            Example::of("pkgres explain --list").shows("class-removed"),
            Example::of("pkgres explain app")
                .after("sed -i 's/Db: 1/Db: 3/' app/manifest.yaml")
                .finds(1)
                .shows("org.example.App 1.0.0 requires org.example.Db 3"),
            Example::of("pkgres export --workspace --format spdx").shows("SPDX-2.3"),
            Example::of("pkgres schema manifest").shows("\"$schema\""),
            Example::of("pkgres completions bash").shows("complete -F"),
            Example::of("pkgres man update").shows("EXAMPLES"),
            Example::of("pkgres config list --show-origin").shows("pkgres.toml"),
            Example::of("pkgres config get prefer").shows("newest"),
            Example::of("pkgres config set offline true").then("cd / && pkgres config get offline | grep -q true"),
            Example::of("pkgres config set --project registries https://packages.example.org")
                .then("grep -q \"$REGISTRY\" pkgres.toml && ! grep -q dir: pkgres.toml"),
            Example::of("pkgres config unset --project registries").then("! grep -q dir: pkgres.toml"),
            Example::of("pkgres spec '>=1.2, <3' 1.4.0 3.0.0").finds(1).shows("1.4.0"),
            Example::of("pkgres index packages --output index.ndjson").then("test -s index.ndjson"),
            Example::of("pkgres pack web").then("test -s org.example.Web-1.0.0.zip"),
            Example::of("pkgres unpack org.example.Web-1.0.0.zip web")
                .after("pkgres pack web && rm -r web")
                .then("test -s web/manifest.yaml"),
            Example::of("pkgres check web").shows("0 errors, 0 warnings"),
            Example::of("pkgres semver web-1.2.0.zip web --witness witnesses")
                .after("pkgres pack web -o web-1.2.0.zip && sed -i '/restart/,$d' web/Classes/Web.yaml")
                .finds(1)
                .shows("restart")
                .then("test -d witnesses"),
            Example::of("pkgres vendor third-party app")
                .after("pkgres lock app")
                .then("test -s third-party/org.example.Db-1.4.0.zip"),
            Example::of("pkgres cache dir").shows("/cache"),
            Example::of("pkgres cache list"),
            Example::of("pkgres cache clean"),
            Example::of("pkgres cache verify"),
            Example::of("pkgres serve --data registry --listen 127.0.0.1:8080")
                .until("http://127.0.0.1:", 0)
                .then("test -s registry/admin-token"),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &["cd app", "pkgres lock --prefer oldest"],
        examples: &[
            Example::of("pkgres resolve --prefer oldest").shows("org.example.Db 1.2.0"),
            Example::of("pkgres lock").after("rm pkgres.lock").then("grep -q 1.4.0 pkgres.lock"),
            Example::of("pkgres lock --check").shows("up to date"),
            Example::of("pkgres add org.example.Db")
                .after("pkgres remove org.example.Db")
                .then("grep -q 2.0.0 pkgres.lock"),
            Example::of("pkgres add 'org.example.Db@>=1.2, <3'").then("grep -q '>=1.2, <3' manifest.yaml"),
            Example::of("pkgres remove org.example.Db").then("! grep -q Db manifest.yaml pkgres.lock"),
            Example::of("pkgres update").then("grep -q 1.4.0 pkgres.lock"),
            Example::of("pkgres update org.example.Db").then("grep -q 1.4.0 pkgres.lock"),
            Example::of("pkgres update org.example.Db --precise 1.4.0").then("grep -q 1.4.0 pkgres.lock"),
            Example::of("pkgres outdated --exit-code").finds(10).shows("2.0.0"),
            Example::of("pkgres pin model.yaml --in-place").then("grep -q 'version: 2.0.0' model.yaml"),
            Example::of("pkgres pin --check model.yaml")
                .after("pkgres pin model.yaml --in-place")
                .shows("0 errors"),
            Example::of("pkgres tree --depth 2").shows("org.example.Db 1.2.0"),
            Example::of("pkgres tree --invert org.example.Db").shows("org.example.App"),
            Example::of("pkgres why org.example.Db").shows("org.example.App"),
            Example::of("pkgres why-not org.example.Db@2.0.0").finds(1).shows("requires org.example.Db 1"),
            Example::of("pkgres graph --format mermaid").shows("graph"),
            Example::of("pkgres graph --classes --format svg").shows("</svg>"),
            Example::of("pkgres export --format cyclonedx").shows("CycloneDX"),
            Example::of("pkgres check --format github"),
            Example::of("pkgres fetch"),
            Example::of("pkgres verify").shows("1 "),
            Example::of("pkgres repair --update org.example.Db --precise 2.0.0").finds(1).shows("require org.example.Db ^2.0.0"),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &["cd app", "sed -i 's/Db: 1/Db: 3/' manifest.yaml"],
        examples: &[
            Example::of("pkgres repair").finds(1).shows("1. "),
            Example::of("pkgres verify-certificate proof")
                .after("! pkgres resolve --certificate proof")
                .shows("no resolution"),
            Example::of("pkgres repair --apply 1 --dry-run").then("grep -q 'Db: 3' manifest.yaml"),
            Example::of("pkgres repair --apply 1").then("pkgres lock --check"),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &[
            "cd app",
            "pkgres lock --prefer oldest",
            "git init --quiet --initial-branch=main",
            "git add . && git commit --quiet --message=first",
        ],
        examples: &[
            Example::of("pkgres diff").after("pkgres update").shows("org.example.Db 1.2.0 -> 1.4.0"),
            Example::of("pkgres diff main --format markdown")
                .after("git switch --quiet --create=other && pkgres update && git commit --quiet --all --message=second")
                .shows("| `org.example.Db` | 1.2.0 | 1.4.0 |"),
            Example::of("pkgres semver HEAD~1")
                .after("sed -i 's/Version: 1.0.0/Version: 1.0.1/' manifest.yaml && git commit --quiet --all --message=second")
                .shows("1.0.1"),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &["pkgres lock web", IMAGE],
        examples: &[
            Example::of("pkgres validate web --target local:").shows("The machine passes"),
            Example::of("pkgres validate web --target rootfs:image --reconcile --arg java=zulu")
                .then("test -f image/tmp/zulu"),
            Example::of("pkgres validate web/validate.yaml --target rootfs:image --prove")
                .after("cp web/image/* web"),
            Example::of("pkgres plan web --target rootfs:image").shows("1 to change"),
            Example::of("pkgres plan web --target rootfs:image --diff").shows("+listen"),
            Example::of("pkgres call org.example.Web status --target rootfs:image --read-only --strict")
                .after("cp -r web/* . && cp web/pkgres.lock .")
                .shows("running"),
            Example::of("pkgres prune --target rootfs:image --dry-run"),
            Example::of("pkgres prune --target rootfs:image"),
            Example::of("pkgres apply web --target rootfs:image").then("grep -q listen \"image$ROOT/web.conf\""),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &["cd web", "pkgres lock"],
        examples: &[
            Example::of("pkgres plan --target local: --model model.yaml --exit-code").finds(10).shows("web.conf"),
            Example::of("pkgres plan --target local: --format svg").shows("</svg>"),
            Example::of("pkgres call org.example.Web status --target local:").shows("running"),
            Example::of("pkgres call org.example.Web restart force=true --target ssh://web1 --model model.yaml")
                .shows("forced"),
            Example::of("pkgres apply --target local: --watch").until("watching it until Ctrl-C", 130).then("test -f \"$ROOT/web.conf\""),
            Example::of("pkgres apply --target local: --watch --converged-timeout 5 --converged-exit")
                .then("test -f \"$ROOT/web.conf\""),
            Example::of("pkgres apply --target local: --watch --metrics /var/lib/prometheus/node-exporter/pkgres.prom")
                .until("watching it until Ctrl-C", 130)
                .then("grep -q pkgres_resources \"$ROOT/pkgres.prom\""),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: false,
        before: &["cd providers"],
        examples: &[
            Example::of("pkgres check --interfaces --facts windows.yaml").shows("not-implemented"),
            Example::of("pkgres interface init --from org.example.Apt").shows("install:"),
            Example::of("pkgres interface init --from org.example.providers -o Interfaces/Pkg.yaml")
                .then("grep -q install Interfaces/Pkg.yaml"),
            Example::of("pkgres interface diff old/Service.yaml Interfaces/Service.yaml").shows("minor"),
        ],
    },
    SetUp {
        folder: "install.in",
        is_served: false,
        before: &["export PKGRES_REGISTRY=dir:collections", "pkgres lock requirements.yml"],
        examples: &[
            Example::of("pkgres install ~/.ansible/collections requirements.yml")
                .then("test -d ~/.ansible/collections/ansible_collections/acme/web"),
            Example::of("pkgres verify --installed ~/.ansible/collections requirements.yml")
                .after("pkgres install ~/.ansible/collections requirements.yml")
                .shows("Verified 2 collections"),
        ],
    },
    SetUp {
        folder: WORLD,
        is_served: true,
        before: &[
            "pkgres login acme < registry/admin-token",
            "for package in packages/db-* packages/services; do pkgres publish $package; done",
        ],
        examples: &[
            Example::of("pkgres resolve --registry https://packages.example.org --format json")
                .after("cd app")
                .shows("\"resolved\""),
            Example::of("pkgres semver @newest web --registry https://packages.example.org")
                .after("pkgres publish web && sed -i 's/Version: 1.0.0/Version: 1.0.1/' web/manifest.yaml")
                .shows("1.0.1"),
            Example::of("pkgres publish web --dry-run").shows("org.example.Web 1.0.0"),
            Example::of("pkgres publish web --registry https://packages.example.org")
                .then("pkgres info org.example.Web"),
            Example::of("pkgres yank org.example.Web@1.0.0 --reason 'data loss'")
                .after("pkgres publish web")
                .then("pkgres info org.example.Web@1.0.0 | grep -q yanked"),
            Example::of("pkgres login https://packages.example.org")
                .after("pkgres logout acme")
                .reads("registry/admin-token")
                .then("pkgres whoami"),
            Example::of("pkgres logout https://packages.example.org").then("! pkgres whoami"),
            Example::of("pkgres whoami").shows("admin"),
            Example::of("pkgres whoami https://packages.example.org").shows("admin"),
            Example::of("pkgres owner list org.example.Web").after("pkgres publish web").shows("admin"),
            Example::of("pkgres owner add org.example.Web ann")
                .after("pkgres publish web")
                .then("pkgres owner list org.example.Web | grep -q ann"),
            Example::of("pkgres owner remove org.example.Web ann")
                .after("pkgres publish web && pkgres owner add org.example.Web ann")
                .then("! pkgres owner list org.example.Web | grep -q ann"),
            Example::of("pkgres token create --scope publish --name 'org.example.*' --expires '30 days'")
                .then("pkgres token list | grep -q 'org.example'"),
            Example::of("pkgres token create --scope read --scope publish --owner ann")
                .then("pkgres token list | grep -q 'ann  publish, read'"),
            Example::of("pkgres token list").shows("admin"),
            Example::of("pkgres token revoke 0d2f5f4c-6f0e-4a5e-9c3b-1f2a3b4c5d6e")
                .after("pkgres token create --scope publish > token && TOKEN_ID=$(pkgres token list | grep publish | grep -o '[0-9a-f-]\\{36\\}' | head -n 1)")
                .then("test -n \"$TOKEN_ID\" && ! pkgres token list | grep -q \"$TOKEN_ID\""),
            Example::of("pkgres search web server").after("pkgres publish web").shows("org.example.Web"),
            Example::of("pkgres info org.example.Db").shows("2.0.0"),
            Example::of("pkgres info org.example.Db@1.2.0").shows("1.2.0"),
            Example::of("pkgres cache forget acme"),
            Example::of("pkgres export-static --data registry www").then("test -d www/index"),
        ],
    },
];
