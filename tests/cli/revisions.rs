//! `pkgres diff` and `pkgres semver` of git revisions.

use std::path::Path;

use pkgres_tests::repository::git;

use super::program::{command, pkgres, write};

/// Exit code, stdout and stderr of a run.
fn diff(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = pkgres(folder, &[&["diff"], arguments].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn done(stdout: &str, stderr: &str) -> (Option<i32>, String, String) {
    (Some(0), stdout.to_owned(), stderr.to_owned())
}

/// A lockfile of a root that requires `Db`, and `Log` if it has a version.
fn lock(db: &str, log: Option<&str>) -> String {
    let requirement = |name: &str, version: &str| {
        format!(
            "    org.example.{name}:\n      spec: \">=1.0.0,<2.0.0\"\n      version: {version}\n"
        )
    };
    let package = |name: &str, version: &str| {
        format!("- name: org.example.{name}\n  version: {version}\n  source: default\n")
    };
    let log = |part: &dyn Fn(&str, &str) -> String| {
        log.map(|version| part("Log", version)).unwrap_or_default()
    };
    format!(
        "lock: 1\norder: 1\nroots:\n- name: org.example.App\n  requires:\n{}{}packages:\n{}{}complete: true\n",
        requirement("Db", db),
        log(&requirement),
        package("Db", db),
        log(&package),
    )
}

/// A repository with three commits: without a lockfile, with one, and with a changed one. The project is a folder of
/// the repository.
fn history() -> tempfile::TempDir {
    let repository = tempfile::tempdir().expect("a temporary folder");
    let folder = repository.path();
    let app = folder.join("app");
    std::fs::create_dir(&app).expect("a temporary folder can be written");
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    write(&app.join("manifest.yaml"), "FullName: org.example.App\n");
    for (text, message, tag) in [
        (None, "no lock", "none"),
        (Some(lock("1.0.0", None)), "a lock", "first"),
        (Some(lock("1.1.0", Some("1.0.0"))), "an update", "second"),
    ] {
        if let Some(text) = text {
            write(&app.join("pkgres.lock"), &text);
        }
        git(folder, &["add", "."]);
        git(folder, &["commit", "--quiet", "-m", message]);
        git(folder, &["tag", tag]);
    }
    repository
}

const TEXT: &str = "\
~ org.example.Db 1.0.0 -> 1.1.0
+ org.example.Log 1.0.0
+ org.example.App requires org.example.Log >=1.0.0,<2.0.0
";

#[test]
fn revisions_are_compared_in_each_format() {
    let repository = history();
    let app = repository.path().join("app");
    assert_eq!(
        diff(&app, &["first", "second"]),
        done(TEXT, "3 differences\n")
    );
    // Any spelling of a revision works.
    for before in [
        "HEAD~1",
        "main^",
        "first^{commit}",
        "first:app/pkgres.lock",
        "first:./pkgres.lock",
    ] {
        assert_eq!(
            diff(&app, &[before, "HEAD"]),
            done(TEXT, "3 differences\n"),
            "{before}"
        );
    }
    let markdown = "\
| package | before | after |
|---|---|---|
| `org.example.Db` | 1.0.0 | 1.1.0 |
| `org.example.Log` |  | 1.0.0 |

- `+ org.example.App requires org.example.Log >=1.0.0,<2.0.0`
";
    assert_eq!(
        diff(&app, &["first", "second", "--format", "markdown"]),
        done(markdown, "")
    );
    let (code, json, stderr) = diff(
        &app,
        &["first", "second", "--format", "json", "--exit-code"],
    );
    assert_eq!((code, stderr.as_str()), (Some(10), ""));
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["status"], "different");
    let expected = serde_json::json!([
        {
            "package": "org.example.Db", "before": ["1.0.0"], "after": ["1.1.0"],
            "source": {"before": ["default"], "after": ["default"]},
        },
        {
            "package": "org.example.Log", "before": [], "after": ["1.0.0"],
            "source": {"before": [], "after": ["default"]},
        },
    ]);
    assert_eq!(json["changes"]["packages"], expected);
}

/// The same package in a registry of strangers has a higher version: this is what a review has to notice.
#[test]
fn a_source_that_changes_with_the_version_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let before = lock("1.0.0", None);
    let after = lock("1.1.0", None).replace("source: default", "source: public");
    write(&folder.path().join("before.lock"), &before);
    write(&folder.path().join("after.lock"), &after);
    let files = ["before.lock", "after.lock"];
    assert_eq!(
        diff(folder.path(), &files),
        done(
            "~ org.example.Db 1.0.0 -> 1.1.0 (source default -> public)\n",
            "1 difference\n"
        )
    );
    let (_, markdown, _) = diff(
        folder.path(),
        &[&files[..], &["--format", "markdown"]].concat(),
    );
    let row = "| `org.example.Db` | 1.0.0 | 1.1.0 (source default -> public) |\n";
    assert!(markdown.contains(row), "{markdown}");
}

#[test]
fn a_deleted_lockfile_of_a_folder_that_is_named_is_a_removal() {
    let repository = history();
    let folder = repository.path();
    git(folder, &["rm", "--quiet", "app/pkgres.lock"]);
    let removed = "\
- org.example.Db 1.1.0
- org.example.App requires org.example.Db >=1.0.0,<2.0.0
- org.example.Log 1.0.0
- org.example.App requires org.example.Log >=1.0.0,<2.0.0
";
    for project in ["app", "app/manifest.yaml"] {
        assert_eq!(
            diff(folder, &["HEAD", project]),
            done(removed, "4 differences\n"),
            "{project}"
        );
    }
    // A revision in which it never was is no better than a folder without one.
    let (code, _, stderr) = diff(folder, &["none", "app"]);
    assert_eq!(code, Some(2), "{stderr}");
}

/// git sets `GIT_DIR` for the hooks of a linked worktree, and takes the current folder for its top then.
#[test]
fn the_variables_of_hooks_do_not_move_the_repository() {
    let repository = history();
    let folder = repository.path();
    for dir in [folder.join(".git"), ".git".into()] {
        let mut command = command(&folder.join("app"), &["diff", "first"]);
        let output = command.env("GIT_DIR", dir).output();
        let output = output.expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), TEXT, "{stderr}");
    }
}

/// As in `pkgres diff <(git show REVISION:FILE)` in a shell.
#[test]
fn a_pipe_is_a_file() {
    let repository = history();
    let app = repository.path().join("app");
    let program = trycmd::cargo::cargo_bin!("pkgres");
    for arguments in [
        "<(git show first:./pkgres.lock) pkgres.lock",
        "<(git show first:./pkgres.lock)",
        "first <(cat pkgres.lock)",
        "<(git show first:./pkgres.lock) HEAD",
    ] {
        let script = format!("'{}' diff {arguments}", program.display());
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &script]).current_dir(&app);
        let output = bash.env("NO_COLOR", "1").output().expect("bash starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr, "3 differences\n", "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), TEXT, "{arguments}");
    }
}

/// Nobody named the pipe, so that nobody writes into it.
#[test]
fn a_pipe_is_no_lockfile_of_a_folder() {
    let repository = history();
    let app = repository.path().join("app");
    let script = "rm pkgres.lock && mkfifo pkgres.lock";
    let status = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(&app)
        .status();
    assert!(status.expect("sh starts").success());
    for arguments in [&["diff", "first"][..], &["diff", "first", "."]] {
        let output = command(&app, arguments).output();
        let output = output.expect("the program starts");
        assert!(!output.status.success(), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("pkgres.lock"), "{stderr}");
    }
}

#[test]
fn a_revision_is_of_the_project_on_the_other_side() {
    let repository = history();
    let folder = repository.path();
    let same = done("", "No differences\n");
    assert_eq!(diff(folder, &["HEAD", "app"]), same);
    assert_eq!(diff(folder, &["HEAD", "app/manifest.yaml"]), same);
    assert_eq!(diff(folder, &["app", "HEAD"]), same);
    assert_eq!(diff(folder, &["app/pkgres.lock", "HEAD"]), same);
    // A folder of a revision means its lockfile, as it does without a revision.
    for object in ["HEAD:app", "HEAD:app/", "HEAD:./app"] {
        assert_eq!(diff(folder, &[object, "app"]), same, "{object}");
        assert_eq!(diff(folder, &[object, "HEAD"]), same, "{object}");
        assert_eq!(diff(folder, &["HEAD", object]), same, "{object}");
        let changed = done(TEXT, "3 differences\n");
        assert_eq!(diff(folder, &["first", object]), changed, "{object}");
    }
}

/// git does not follow links: the folder behind one is looked up in the revision.
#[cfg(unix)]
#[test]
fn a_link_to_a_project_is_that_project() {
    let repository = history();
    let folder = repository.path();
    std::os::unix::fs::symlink("app", folder.join("link")).expect("it can be written");
    let same = done("", "No differences\n");
    assert_eq!(diff(folder, &["HEAD", "link"]), same);
    assert_eq!(diff(folder, &["link", "HEAD"]), same);
    let changed = done(TEXT, "3 differences\n");
    assert_eq!(diff(folder, &["first", "link"]), changed);
    // A folder of the repository that is not below the current one.
    let below = folder.join("below");
    std::fs::create_dir(&below).expect("it can be created");
    std::os::unix::fs::symlink("../app", below.join("link")).expect("it can be written");
    assert_eq!(diff(&below, &["first", "link"]), changed);
    let absolute = folder.join("app");
    let absolute = absolute.to_string_lossy();
    assert_eq!(diff(&below, &["first", &absolute]), changed);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_deleted_lockfile_is_a_difference() {
    let repository = history();
    let app = repository.path().join("app");
    std::fs::remove_file(app.join("pkgres.lock")).expect("it is there");
    let (code, text, note) = diff(&app, &["HEAD"]);
    assert_eq!((code, note.as_str()), (Some(0), "4 differences\n"));
    assert!(text.contains("- org.example.Db 1.1.0\n"), "{text}");
    let (code, _, note) = diff(&app, &["none"]);
    assert_eq!(code, Some(2), "{note}");
}

#[test]
fn a_revision_is_compared_with_the_working_tree() {
    let repository = history();
    let app = repository.path().join("app");
    let same = "No differences\n";
    assert_eq!(diff(&app, &["HEAD"]), done("", same));
    assert_eq!(diff(&app, &["HEAD", "--exit-code"]), done("", same));
    // Uncommitted changes count.
    write(&app.join("pkgres.lock"), &lock("1.2.0", Some("1.0.0")));
    assert_eq!(
        diff(&app, &["HEAD"]),
        done("~ org.example.Db 1.1.0 -> 1.2.0\n", "1 difference\n")
    );
    let (code, _, _) = diff(&app, &["HEAD", "--exit-code"]);
    assert_eq!(code, Some(10));
    // Before the first lockfile nothing was locked.
    let all = "\
+ org.example.Db 1.0.0
+ org.example.App requires org.example.Db >=1.0.0,<2.0.0
";
    assert_eq!(diff(&app, &["none", "first"]), done(all, "2 differences\n"));
}

/// At the root of a repository, all lockfiles are compared, with those of projects that are gone or new.
#[test]
fn all_lockfiles_of_a_repository_are_compared_at_its_root() {
    let repository = history();
    let folder = repository.path();
    git(folder, &["mv", "app", "old"]);
    for name in ["services", "services/new", "services/same"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    write(
        &folder.join("services/same/pkgres.lock"),
        &lock("1.0.0", None),
    );
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message=moved"]);
    git(folder, &["rm", "-r", "--quiet", "old"]);
    write(
        &folder.join("services/new/pkgres.lock"),
        &lock("1.1.0", None),
    );
    let text = "old:\n\
        - org.example.Db 1.1.0\n\
        - org.example.App requires org.example.Db >=1.0.0,<2.0.0\n\
        - org.example.Log 1.0.0\n\
        - org.example.App requires org.example.Log >=1.0.0,<2.0.0\n\
        services/new:\n\
        + org.example.Db 1.1.0\n\
        + org.example.App requires org.example.Db >=1.0.0,<2.0.0\n";
    assert_eq!(diff(folder, &[]), done(text, "6 differences\n"));
    let (code, markdown, _) = diff(folder, &["HEAD", "--format", "markdown", "--exit-code"]);
    assert_eq!(code, Some(10));
    assert!(
        markdown.starts_with("### `old`\n\n| package |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("\n\n### `services/new`\n\n"),
        "{markdown}"
    );
    let (_, document, _) = diff(folder, &["HEAD", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    let projects = document["projects"].as_array().expect("a list").iter();
    let states: Vec<_> = projects
        .map(|project| (project["project"].as_str(), project["status"].as_str()))
        .collect();
    let expected = [
        ("old", "different"),
        ("services/new", "different"),
        ("services/same", "same"),
    ];
    assert_eq!(
        states,
        expected.map(|(name, state)| (Some(name), Some(state)))
    );
    // A folder of the repository has only its own projects.
    let services = diff(&folder.join("services"), &["HEAD"]).1;
    assert!(services.starts_with("new:\n"), "{services}");
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message=now"]);
    assert_eq!(diff(folder, &[]), done("", "No differences\n"));
}

#[test]
fn all_lockfiles_of_two_revisions_are_compared_at_the_root_of_a_repository() {
    let repository = history();
    let folder = repository.path();
    let changes = format!("app:\n{TEXT}");
    assert_eq!(
        diff(folder, &["first", "second"]),
        done(&changes, "3 differences\n")
    );
    let (code, ..) = diff(folder, &["first", "second", "--exit-code"]);
    assert_eq!(code, Some(10));
    assert_eq!(
        diff(folder, &["second", "HEAD"]),
        done("", "No differences\n")
    );
    // A revision with no lockfile at all counts as one in which nothing is locked, but two of them are a mistake.
    let (code, stdout, _) = diff(folder, &["none", "first"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("+ org.example.Db 1.0.0"), "{stdout}");
    let (code, stdout, stderr) = diff(folder, &["none", "none"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(
        stderr.contains("neither `none` nor `none` has a lockfile in this folder or below"),
        "{stderr}"
    );
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).expect("a temporary folder can be written");
    let (code, stdout, stderr) = diff(&empty, &["second"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    let message = "neither `second` nor the working tree has a lockfile in this folder or below";
    assert!(stderr.contains(message), "{stderr}");
    // Below the folder of the project, it is still that project.
    let classes = folder.join("app/Classes");
    std::fs::create_dir(&classes).expect("a temporary folder can be written");
    assert_eq!(
        diff(&classes, &["first", "second"]),
        done(TEXT, "3 differences\n")
    );
}

#[test]
fn invalid_revisions_are_errors() {
    let repository = history();
    let app = repository.path().join("app");
    let (code, stdout, stderr) = diff(&app, &["third"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        "error[PK0091]: `third` is neither a lockfile nor a git revision\n\
         hint: a file, a folder with a pkgres.lock or a revision such as `HEAD~1` is expected\n"
    );
    let (code, _, stderr) = diff(&app, &["--", "--output=x"]);
    assert_eq!(code, Some(2));
    assert_eq!(
        stderr,
        "error[PK0091]: `--output=x` is neither a lockfile nor a git revision\n\
         hint: a file, a folder with a pkgres.lock or a revision such as `HEAD~1` is expected\n"
    );
    assert!(!app.join("x").exists());
    // A committed lockfile with conflict markers.
    write(&app.join("pkgres.lock"), "<<<<<<< HEAD\n");
    git(&app, &["commit", "--quiet", "-am", "unmerged"]);
    let (code, _, stderr) = diff(&app, &["HEAD"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.starts_with("error[PK0022]: the lockfile contains merge conflict markers\n --> HEAD:./pkgres.lock:1:1\n"),
        "{stderr}"
    );
    // A file that is not in the revision.
    let (code, stdout, stderr) = diff(&app, &["first:nothing.lock", "first"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
}

#[test]
fn without_a_repository_there_are_no_revisions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (revision, expected) in [
        ("HEAD", "there is no commit to compare with"),
        ("v1", "`v1` is neither a lockfile nor a git revision"),
    ] {
        let (code, _, stderr) = diff(folder.path(), &[revision]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn a_repository_that_git_does_not_read_is_reported_in_its_words() {
    let repository = history();
    let app = repository.path().join("app");
    for words in [&["diff", "HEAD"][..], &["semver", "HEAD", "."]] {
        let mut command = command(&app, words);
        // git takes all folders for those of another user.
        let command = command
            .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command.output().expect("the program starts");
        let stderr = String::from_utf8(output.stderr).expect("it is text");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(": git says: detected dubious ownership in repository at "),
            "{stderr}"
        );
        let hint = "hint: `git config --global --add safe.directory ";
        assert!(stderr.contains(hint), "{stderr}");
    }
}

#[test]
fn a_shallow_clone_is_named_as_the_reason() {
    let repository = history();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!("file://{}", repository.path().display());
    git(
        folder.path(),
        &["clone", "--quiet", "--depth=1", &source, "clone"],
    );
    let app = folder.path().join("clone/app");
    let (code, _, stderr) = diff(&app, &["HEAD~1"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(
        stderr,
        "error[PK0091]: `HEAD~1` is neither a lockfile nor a git revision: this clone is shallow, and has only the \
         newest commits\n\
         hint: `git fetch --unshallow` gets the others; in a workflow, `fetch-depth: 0` of the checkout does\n"
    );
    git(&app, &["fetch", "--quiet", "--unshallow"]);
    assert_eq!(diff(&app, &["HEAD~1"]).0, Some(0));
}

/// A repository whose first commit has a package with a method that the folder does not have any more.
fn package_history() -> tempfile::TempDir {
    let repository = tempfile::tempdir().expect("a temporary folder");
    let folder = repository.path();
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    #[expect(clippy::disallowed_methods, reason = "a temporary folder")]
    std::fs::create_dir_all(folder.join("web/Classes")).expect("it can be written");
    let manifest = |version: &str| {
        format!(
            "Type: Library\nFullName: org.example.Web\nVersion: {version}\nClasses:\n  org.example.Web: Web.yaml\n"
        )
    };
    let class = folder.join("web/Classes/Web.yaml");
    write(&folder.join("web/manifest.yaml"), &manifest("1.0.0"));
    write(&class, "Name: org.example.Web\nMethods:\n  stop: {}\n");
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "first"]);
    write(&folder.join("web/manifest.yaml"), &manifest("1.0.1"));
    write(&class, "Name: org.example.Web\n");
    repository
}

#[test]
fn packages_of_revisions_are_compared() {
    let repository = package_history();
    let semver = |folder: &Path, arguments: &[&str]| {
        let output = pkgres(folder, &[&["semver"], arguments].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let folder = repository.path();
    let message = "major: `org.example.Web` no longer has the method `stop` (method-removed)\n";
    for (arguments, old, new) in [
        (&["HEAD", "web"][..], "HEAD:./web", "web"),
        (&["HEAD:web", "web"], "HEAD:web", "web"),
    ] {
        let (exit, stdout, _) = semver(folder, arguments);
        let places = format!("  {old}/Classes/Web.yaml:3:3 -> {new}/Classes/Web.yaml:1:7\n");
        assert_eq!((exit, stdout), (Some(1), format!("{message}{places}")));
    }
    // In the folder of the package, the new version is what is there.
    let (exit, stdout, stderr) = semver(&folder.join("web"), &["HEAD"]);
    assert_eq!(exit, Some(1));
    assert!(
        stdout.starts_with(message) && stdout.contains("HEAD:./Classes"),
        "{stdout}"
    );
    assert!(stderr.contains("give it the version 2.0.0"), "{stderr}");
    let (exit, stdout, _) = semver(folder, &["HEAD:web", "HEAD:web"]);
    let expected = "org.example.Web 1.0.0: no differences\n";
    assert_eq!((exit, stdout.as_str()), (Some(0), expected));
    for (arguments, problem) in [
        (
            &["HEAD:nowhere", "web"][..],
            "there is no package at `HEAD:nowhere/manifest.yaml`",
        ),
        (
            &["HEAD~7", "web"],
            "`HEAD~7` is neither a package nor a git revision",
        ),
        (&["HEAD"], "cannot read ./manifest.yaml"),
    ] {
        let (exit, _, stderr) = semver(folder, arguments);
        assert!(exit == Some(2) && stderr.contains(problem), "{stderr}");
    }
}
