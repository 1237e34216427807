//! The hooks for pre-commit, run by pre-commit in a repository whose packages are in folders.

use std::path::Path;
use std::process::Command;

use pkgres_tests::services;

use crate::program::write;
use crate::steps::{recipe, root, run};

/// A shell in a folder, with git, pre-commit and pkgres.
struct Shell<'folder> {
    folder: &'folder Path,
    path: String,
}

impl Shell<'_> {
    /// Runs a script in a folder of the folder.
    fn run(&self, folder: &str, script: &str) -> (bool, String) {
        run(Command::new("bash")
            .args(["-e", "-c", script])
            .current_dir(self.folder.join(folder))
            .env("PATH", &self.path)
            .env("HOME", self.folder)
            .env("PRE_COMMIT_HOME", self.folder.join("pre-commit"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "Test")
            .env("GIT_AUTHOR_EMAIL", "test@example.org")
            .env("GIT_COMMITTER_NAME", "Test")
            .env("GIT_COMMITTER_EMAIL", "test@example.org")
            .env("PKGRES_REGISTRY", "")
            .env("PKGRES_CACHE", self.folder.join("cache"))
            .env("NO_COLOR", "1"))
    }

    fn succeeds(&self, folder: &str, script: &str) -> String {
        let (is_done, text) = self.run(folder, script);
        assert!(is_done, "{script}\n{text}");
        text
    }
}

/// A commit with a stale lockfile or an invalid manifest in any folder is rejected, and one without is not.
#[test]
fn hooks_reject_commits_in_a_repository_with_packages_in_folders() {
    let Some(pre_commit) = services::program("pre-commit") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = Path::new(trycmd::cargo::cargo_bin!("pkgres"));
    let before = std::env::var("PATH").expect("a PATH");
    let folders = [program, &pre_commit].map(|path| path.parent().expect("a folder").display());
    let shell = Shell {
        folder: folder.path(),
        path: format!("{}:{}:{before}", folders[0], folders[1]),
    };
    let fixtures = root().join("fixtures/book");
    let fixtures = fixtures.display();
    let hooks = root().join(".pre-commit-hooks.yaml");
    shell.succeeds(
        ".",
        &format!(
            "git init --quiet hooks && cp '{}' hooks && git init --quiet repository && mkdir repository/services \
             && cp -R {fixtures}/app repository/services && cp {fixtures}/index.ndjson {fixtures}/pkgres.toml repository",
            hooks.display()
        ),
    );
    shell.succeeds(
        "hooks",
        "git add --all && git commit --quiet --message Hooks && git tag v0.1.0",
    );
    // What the book says, with the hooks of this repository.
    let config = recipe("docs/automation.md", "repos:");
    let own = config.replace(
        "https://github.com/pkgres/pkgres",
        shell.folder.join("hooks").to_str().expect("text"),
    );
    assert_ne!(config, own);
    write(
        &shell.folder.join("repository/.pre-commit-config.yaml"),
        &own,
    );
    shell.succeeds("repository", "pre-commit install");
    let commit = "git add --all && git commit --quiet --message Change";
    let text = shell.succeeds("repository", commit);
    assert_eq!(text.matches("Passed").count(), 2, "{text}");

    let stale = format!("cp -R {fixtures}/stale services && {commit}");
    let (is_done, text) = shell.run("repository", &stale);
    assert!(!is_done, "{text}");
    assert!(text.contains("services/stale/manifest.yaml"), "{text}");
    assert!(
        text.contains("Checked 2 projects, of which 1 failed"),
        "{text}"
    );
    // Each project can have settings of its own, in its folder.
    let own =
        format!("rm -r services/stale && git mv pkgres.toml index.ndjson services/app && {commit}");
    shell.succeeds("repository", &own);
    let broken =
        format!("sed -i 's/^Type: .*/Type: Aplication/' services/app/manifest.yaml && {commit}");
    let (is_done, text) = shell.run("repository", &broken);
    assert!(!is_done && text.contains("Aplication"), "{text}");
    // A commit without packages runs no hook.
    let other =
        format!("git checkout --quiet HEAD -- services && echo text > notes.txt && {commit}");
    let text = shell.succeeds("repository", &other);
    assert_eq!(text.matches("Skipped").count(), 2, "{text}");
    for path in CAN_BREAK {
        let touch = format!("mkdir -p $(dirname {path}) && touch {path}");
        shell.succeeds("repository", &touch);
        let (_, text) = shell.run("repository", &format!("pre-commit run --files {path}"));
        assert_eq!(
            text.matches("hook id").count() + text.matches("Passed").count(),
            2,
            "{path}: {text}"
        );
    }
}

/// Files that can make `check` or `lock --check` fail.
const CAN_BREAK: [&str; 12] = [
    "web/manifest.yaml",
    "web/Classes/Web.class",
    "web/Interfaces/Service.yaml",
    "web/resources.yaml",
    "web/image/validate.yaml",
    "web/Resources/org.example.Web/usage",
    "web/pkgres.lock",
    "requirements.yml",
    "acme/web/galaxy.yml",
    "acme/web/plugins/modules/page.py",
    "site.yml",
    "Pump.NodeSet2.xml",
];
