//! ansible-core uses what `pkgres install` installs.
//!
//! The programs of ansible-core are in the Python environment that `PKGRES_ANSIBLE` names. If it is missing, the tests
//! report that and pass, unless `PKGRES_REQUIRE_SERVICES` is set, as in `.ci/run`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pkgres_tests::skip;
use serde_json::Value;

/// Collections that depend on each other, and a folder for everything.
struct Workplace {
    ansible: PathBuf,
    folder: tempfile::TempDir,
}

impl Workplace {
    fn new() -> Option<Self> {
        let Some(ansible) = std::env::var_os("PKGRES_ANSIBLE") else {
            skip::without_service("PKGRES_ANSIBLE names no environment with ansible-core");
            return None;
        };
        let place = Self {
            ansible: PathBuf::from(ansible),
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        place.write("requirements.yml", "collections:\n  - acme.web\n");
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a file of the test")]
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }

    #[expect(clippy::disallowed_methods, reason = "a link of the test")]
    fn link(&self, target: &str, name: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("it can be made");
        std::os::unix::fs::symlink(target, path).expect("it can be made");
    }

    /// Runs a program; fails if it fails, and returns what it prints.
    fn does(&self, program: &Path, arguments: &[&str]) -> String {
        let output = self.run(program, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        stdout
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.folder.path())
            .env("ANSIBLE_HOME", self.path("home"))
            .env("ANSIBLE_COLLECTIONS_PATH", self.path("installed"))
            .output()
            .expect("it starts")
    }

    fn ansible(&self, program: &str) -> PathBuf {
        self.ansible.join("bin").join(program)
    }

    fn pkgres(&self, arguments: &[&str]) -> Output {
        self.run(trycmd::cargo::cargo_bin!("pkgres"), arguments)
    }

    fn pkgres_does(&self, arguments: &[&str]) {
        self.does(trycmd::cargo::cargo_bin!("pkgres"), arguments);
    }

    /// Builds an artifact with ansible-galaxy.
    fn build(&self, name: &str, version: &str, dependency: &str, files: &[(&str, &str)]) {
        let folder = format!("sources/{name}-{version}");
        let galaxy = format!(
            "namespace: acme\nname: {name}\nversion: {version}\nreadme: README.md\nauthors: [Acme]\n\
             dependencies: {{{dependency}}}\n"
        );
        self.write(&format!("{folder}/galaxy.yml"), &galaxy);
        self.write(&format!("{folder}/README.md"), "# Acme\n");
        self.write(
            &format!("{folder}/meta/runtime.yml"),
            "requires_ansible: '>=2.15.0'\n",
        );
        for (path, text) in files {
            self.write(&format!("{folder}/{path}"), text);
        }
        self.link("../README.md", &format!("{folder}/docs/README.md"));
        self.link("../meta", &format!("{folder}/docs/meta"));
        let arguments = ["collection", "build", &folder, "--output-path", "artifacts"];
        self.does(&self.ansible("ansible-galaxy"), &arguments);
    }

    fn build_all(&self) {
        let tcp = (
            "plugins/module_utils/tcp.py",
            "def connect():\n    return 7\n",
        );
        let socket = (
            "plugins/module_utils/socket.py",
            "def connect():\n    return 8\n",
        );
        self.build("net", "1.0.0", "", &[tcp]);
        self.build("net", "1.1.0", "", &[tcp]);
        self.build("net", "2.0.0", "", &[socket]);
        let page = (
            "plugins/modules/page.py",
            "DOCUMENTATION = '''\nmodule: page\nshort_description: Opens a page\ndescription: Opens a page.\n\
             author: Acme (@acme)\noptions: {}\n'''\nEXAMPLES = ''\nRETURN = ''\n\
             from ansible_collections.acme.net.plugins.module_utils.tcp import connect\n",
        );
        self.build("web", "1.0.0", "acme.net: '>=1.0.0'", &[page]);
    }
}

#[test]
fn ansible_accepts_and_imports_what_is_installed() {
    let Some(place) = Workplace::new() else {
        return;
    };
    place.build_all();
    let registry = ["--registry", "dir:artifacts"];
    place.pkgres_does(&["lock", "requirements.yml", registry[0], registry[1]]);
    let install = [
        "install",
        "installed",
        "requirements.yml",
        registry[0],
        registry[1],
    ];
    place.pkgres_does(&install);

    let galaxy = place.ansible("ansible-galaxy");
    let listed = place.does(&galaxy, &["collection", "list", "-p", "installed"]);
    for (name, version) in [("acme.net", "1.1.0"), ("acme.web", "1.0.0")] {
        let is_listed = |line: &str| line.starts_with(name) && line.contains(version);
        assert!(listed.lines().any(is_listed), "{listed}");
    }
    let verify = [
        "collection",
        "verify",
        "--offline",
        "-p",
        "installed",
        "acme.web",
        "acme.net",
    ];
    let verified = place.does(&galaxy, &verify);
    assert!(verified.contains("Successfully verified"), "{verified}");
    for (link, target) in [("docs/meta", "../meta"), ("docs/README.md", "../README.md")] {
        let path = place.path(&format!("installed/ansible_collections/acme/web/{link}"));
        let found = std::fs::read_link(&path).expect("it is a link");
        assert_eq!(found, Path::new(target));
    }
    let documented = place.does(&place.ansible("ansible-doc"), &["acme.web.page"]);
    assert!(documented.contains("Opens a page"), "{documented}");
    let import = format!(
        "from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder\n\
         _AnsibleCollectionFinder(paths=[{:?}])._install()\n\
         from ansible_collections.acme.web.plugins.modules.page import connect\n\
         print(connect())",
        place.path("installed")
    );
    let imported = place.does(&place.ansible("python"), &["-c", &import]);
    assert_eq!(imported.trim(), "7");

    // An artifact is checked as a folder is.
    let arguments = [
        "check",
        "artifacts/acme-web-1.0.0.tar.gz",
        registry[0],
        registry[1],
    ];
    let checked = place.pkgres(&arguments);
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{stderr}");
    assert!(
        stderr.contains("`>=1.0.0,<2.0.0` allows only versions"),
        "{stderr}"
    );

    // What Python compiled there is no difference; everything else is.
    let compare = [
        "verify",
        "requirements.yml",
        "--installed",
        "installed",
        registry[0],
        registry[1],
    ];
    place.pkgres_does(&compare);
    let page = "installed/ansible_collections/acme/web/plugins/modules/page.py";
    place.write(page, "X = 1\n");
    assert_eq!(place.pkgres(&compare).status.code(), Some(4));
    let verified = place.run(&galaxy, &verify);
    assert!(!verified.status.success());
    place.pkgres_does(&install);
    place.pkgres_does(&compare);
    place.does(&galaxy, &verify);

    // Links are kept on machines, too.
    place.write(
        "site/manifest.yaml",
        "FullName: acme.Site\nType: Application\nVersion: 1.0.0\nResources: r.yaml\n",
    );
    place.write(
        "site/r.yaml",
        "Package:\n- collections: /c\n  lockfile: ansible/pkgres.lock\n",
    );
    place.write("site/ansible/requirements.yml", "collections: [acme.web]\n");
    place.write("root/etc/machine", "");
    for arguments in [
        &["lock", "site/ansible"][..],
        &["lock", "site"],
        &["apply", "site", "--target", "rootfs:root"],
        &["plan", "site", "--target", "rootfs:root", "--exit-code"],
    ] {
        place.pkgres_does(&[arguments, &registry].concat());
    }
    let verify_root = verify.map(|word| if word == "installed" { "root/c" } else { word });
    place.does(&galaxy, &verify_root);

    // Folders of sources can have links as well, and so can installed collections.
    for (registry, folder) in [
        ("dir:sources", "of-sources"),
        ("dir:installed", "of-installed"),
    ] {
        place.write(
            &format!("{folder}/requirements.yml"),
            "collections: [acme.web]\n",
        );
        for command in ["lock", "verify"] {
            place.pkgres_does(&[command, folder, "--registry", registry]);
        }
    }
    let copy = [
        "install",
        "copy",
        "of-installed",
        "--registry",
        "dir:installed",
    ];
    place.pkgres_does(&copy);
    let verify_copy = verify.map(|word| if word == "installed" { "copy" } else { word });
    place.does(&galaxy, &verify_copy);

    // What is newest lacks what is imported, and ansible-core cannot import it.
    let unchecked = "unchecked/requirements.yml";
    place.write(unchecked, "collections:\n  - acme.web\n");
    place.pkgres_does(&[
        "lock",
        unchecked,
        "--ignore-classes",
        registry[0],
        registry[1],
    ]);
    place.pkgres_does(&["install", "installed", unchecked, registry[0], registry[1]]);
    let imported = place.run(&place.ansible("python"), &["-c", &import]);
    assert!(!imported.status.success());
    let stderr = String::from_utf8_lossy(&imported.stderr);
    assert!(stderr.contains("ModuleNotFoundError"), "{stderr}");
}

/// What modules of `acme.net` define, in all ways in which modules define names.
const DEFINITIONS: [(&str, &str); 9] = [
    (
        "tcp",
        "import os\nfrom sys import path as search\nPORT: int = 80\nHOST, (PEER, *REST) = 1, (2, 3)\n\
         class Socket:\n    inner = 1\n    def read(self): pass\ndef connect():\n    local = 1\n    return 7\n\
         async def wait(): pass\nUNBOUND: int\n",
    ),
    (
        "guarded",
        "try:\n    import json as codec\nexcept ImportError:\n    codec = None\nif True:\n    CHOSEN = 1\n\
         with open(__file__) as opened:\n    READ = 1\nfor number in [1]:\n    LAST = number\n\
         while (walrus := False):\n    pass\n",
    ),
    (
        "star",
        "from ansible_collections.acme.net.plugins.module_utils.tcp import *\nOWN = 1\n",
    ),
    (
        "relative",
        "from .tcp import connect as dial\nfrom . import tcp\nfrom .. import module_utils\n",
    ),
    (
        "lazy",
        "def __getattr__(name):\n    if name == 'anything':\n        return 1\n    raise AttributeError(name)\n",
    ),
    ("dynamic", "globals().update(made=1)\n"),
    (
        "package/__init__",
        "FROM_PACKAGE = 1\nfrom .inner import deep\n",
    ),
    (
        "package/inner",
        "deep = 1\ndef with_global():\n    global later\n    later = 1\nwith_global()\n",
    ),
    ("plain/folder/leaf", "leaf = 1\n"),
];

/// Imports of these: the module below `plugins.module_utils`, and names.
const IMPORTED: [(&str, &[&str]); 15] = [
    (
        "tcp",
        &[
            "os", "search", "path", "PORT", "HOST", "PEER", "REST", "Socket", "inner", "read",
            "connect", "local", "wait", "UNBOUND", "missing",
        ],
    ),
    (
        "guarded",
        &[
            "codec", "json", "CHOSEN", "opened", "READ", "number", "LAST", "walrus", "gone",
        ],
    ),
    ("star", &["OWN", "connect", "PEER", "local", "none"]),
    ("relative", &["dial", "connect", "tcp", "module_utils"]),
    ("lazy", &["anything"]),
    ("dynamic", &["made"]),
    ("package", &["FROM_PACKAGE", "deep", "inner", "absent"]),
    ("package.inner", &["deep", "later", "with_global"]),
    ("plain", &["folder", "leaf"]),
    ("plain.folder", &["leaf"]),
    ("plain.folder.leaf", &["leaf", "folder"]),
    ("nowhere", &["x"]),
    ("tcp.deeper", &["x"]),
    ("package.nowhere", &["x"]),
    ("plain.nowhere", &["x"]),
];

/// The modules of a collection, each with one import of another collection, by their dotted paths.
fn importers() -> BTreeMap<String, String> {
    const BASE: &str = "ansible_collections.acme.net.plugins.module_utils";
    let mut statements = Vec::new();
    for (module, names) in IMPORTED {
        statements.push(format!("import {BASE}.{module}"));
        // A class that is missing is reported once.
        if !module.ends_with("where") && module != "tcp.deeper" {
            statements.push(format!("from {BASE}.{module} import *"));
        }
        for name in names {
            statements.push(format!("from {BASE}.{module} import {name} as name"));
        }
    }
    statements.push(format!("from {BASE}.elsewhere import *"));
    statements.push(format!("from {BASE} import tcp, package"));
    statements.push(format!("from {BASE} import tcp, nothing"));
    let numbered = statements.into_iter().enumerate();
    numbered
        .map(|(number, statement)| (format!("plugins.module_utils.m{number}"), statement))
        .collect()
}

/// `pkgres check` calls a module importable if it finds no error in it: then ansible-core imports the module. What it
/// reports cannot be imported.
#[test]
fn ansible_core_imports_what_check_calls_importable() {
    let Some(place) = Workplace::new() else {
        return;
    };
    let paths = DEFINITIONS.map(|(path, _)| format!("plugins/module_utils/{path}.py"));
    let definitions: Vec<(&str, &str)> = (paths.iter().zip(DEFINITIONS))
        .map(|(path, (_, text))| (&**path, text))
        .collect();
    place.build("net", "1.0.0", "", &definitions);
    let importers = importers();
    let files: Vec<(String, String)> = (importers.iter())
        .map(|(module, statement)| {
            let path = format!("{}.py", module.replace('.', "/"));
            (path, format!("{statement}\n"))
        })
        .collect();
    let files: Vec<(&str, &str)> = (files.iter())
        .map(|(path, text)| (&**path, &**text))
        .collect();
    place.build("web", "1.0.0", "acme.net: '>=1.0.0'", &files);

    let artifacts = ["net", "web"].map(|name| format!("artifacts/acme-{name}-1.0.0.tar.gz"));
    let registry = ["--registry", "dir:artifacts", "--format", "json"];
    let checked = place.pkgres(&[&["check", &artifacts[1]][..], &registry].concat());
    let checked: Value = serde_json::from_slice(&checked.stdout).expect("it is JSON");
    let findings = checked["diagnostics"].as_array().expect("there is a list");
    let errors = findings.iter().filter(|one| one["severity"] == "error");
    let reported: BTreeSet<&str> = errors
        .map(|error| {
            let message = error["message"].as_str().expect("it has a message");
            message.split('`').nth(1).expect("it names a module")
        })
        .collect();

    for artifact in &artifacts {
        let install = [
            "collection",
            "install",
            artifact,
            "-p",
            "installed",
            "--offline",
        ];
        place.does(&place.ansible("ansible-galaxy"), &install);
    }
    let modules: Vec<&str> = importers.keys().map(String::as_str).collect();
    let program = format!(
        "import importlib\n\
         from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder\n\
         _AnsibleCollectionFinder(paths=[{:?}])._install()\n\
         for name in {modules:?}:\n\
         \u{20}   try:\n\
         \u{20}       importlib.import_module('ansible_collections.acme.web.' + name)\n\
         \u{20}   except ImportError:\n\
         \u{20}       continue\n\
         \u{20}   print(name)\n",
        place.path("installed")
    );
    let imported = place.does(&place.ansible("python"), &["-c", &program]);
    let imported: BTreeSet<&str> = imported.lines().collect();

    let statements = |modules: Vec<&str>| -> Vec<&str> {
        let statements = modules.into_iter().map(|module| &*importers[module]);
        statements.collect()
    };
    let called_importable = |module: &&str| !reported.contains(module);
    let (importable, others): (Vec<&str>, Vec<&str>) =
        modules.into_iter().partition(called_importable);
    assert!(importable.len() > 30 && others.len() > 10, "{reported:?}");
    let not_imported = |module: &&str| !imported.contains(module);
    let wrong = importable.into_iter().filter(not_imported).collect();
    assert_eq!(statements(wrong), Vec::<&str>::new(), "ansible-core fails");
    let is_imported = |module: &&str| imported.contains(module);
    let wrong = others.into_iter().filter(is_imported).collect();
    assert_eq!(statements(wrong), Vec::<&str>::new(), "it imports them");
}
