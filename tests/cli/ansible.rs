//! ansible-core uses what `pkgres install` installs.
//!
//! The programs of ansible-core are in the Python environment that `PKGRES_ANSIBLE` names. If it is missing, the tests
//! report that and pass, unless `PKGRES_REQUIRE_SERVICES` is set, as in `.ci/run`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pkgres_tests::skip;

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
        stderr.contains("`>=1.0.0,<2.0.0` has the versions"),
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
