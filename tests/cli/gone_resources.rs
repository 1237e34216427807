//! Resources that an earlier run applied and that are not in the graph any more.

#![expect(clippy::disallowed_methods, reason = "tests make files themselves")]

use crate::deployment::{WEB, apply, folder, lock_resources};
use crate::watched::{pkgres, write};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_reversal_that_fails_says_that_it_is_one_and_how_to_go_on() {
    let folder = folder();
    let made = |path: &str| std::fs::create_dir(folder.path().join("root").join(path));
    made("app").expect("nothing is there");
    lock_resources(
        folder.path(),
        "Package:\n- file: /app/conf\n  content: new\n  meta: {reverse: true}\n",
    );
    assert_eq!(apply(folder.path(), &[]).status.code(), Some(0));
    let away = folder.path().join("away");
    std::fs::rename(folder.path().join("root/app"), away).expect("it is there");
    lock_resources(folder.path(), "Package:\n- file: /other\n");

    let planned = pkgres(folder.path()).arg("plan").args(WEB).output();
    let planned = planned.expect("the program starts");
    assert_eq!(planned.status.code(), Some(0), "{planned:?}");
    // What it removes is gone already; a folder in the way cannot be removed.
    made("app").expect("it was moved away");
    made("app/conf").expect("nothing is there");
    let planned = pkgres(folder.path()).arg("plan").args(WEB).output();
    let planned = planned.expect("the program starts");
    assert_eq!(planned.status.code(), Some(7));
    let (stdout, stderr) = (text(&planned.stdout), text(&planned.stderr));
    assert!(
        stdout.contains("! file:/app/conf (gone from the packages)\n"),
        "{stdout}"
    );
    for expected in [
        "error[PK0107]: restoring file:/app/conf, which is gone from the packages, failed: ",
        "hint: remove /var/lib/pkgres/state/org.example.Web/before/file:%2Fapp%2Fconf.json there to keep it as it is",
    ] {
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn without_a_model_nothing_of_its_objects_is_restored() {
    let folder = folder();
    let class = "Name: org.example.Web\nProperties:\n  name: {Contract: $.string().notNull()}\n";
    let classes = folder.path().join("web/Classes");
    std::fs::create_dir(&classes).expect("nothing is there");
    write(&classes.join("Web.yaml"), class);
    write(
        &folder.path().join("web/manifest.yaml"),
        "FullName: org.example.Web\nType: Application\nVersion: 1.0.0\nResources: r.yaml\nClasses: {org.example.Web: Web.yaml}\n",
    );
    let model = "{'?': {id: one, type: org.example.Web}, name: a}\n";
    write(&folder.path().join("model.yaml"), model);
    write(&folder.path().join("none.yaml"), "[]\n");
    let conf = folder.path().join("root/a.conf");
    write(&conf, "before");
    lock_resources(
        folder.path(),
        "Classes:\n  org.example.Web:\n  - {file: '/${this.name}.conf', content: v, meta: {reverse: true}}\n",
    );
    let content = || std::fs::read_to_string(&conf).unwrap_or_default();
    let run = |model: &[&str]| {
        let run = apply(folder.path(), model);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        text(&run.stderr)
    };
    run(&["--model", "model.yaml"]);
    assert_eq!(content(), "v");
    let said = run(&[]);
    assert!(said.contains("Skipped 1 resource of classes"), "{said}");
    assert_eq!(content(), "v");
    let planned = pkgres(folder.path()).arg("plan").args(WEB).output();
    let said = text(&planned.expect("the program starts").stderr);
    let note =
        "1 resource of objects of an earlier run stays as it is without `--model`: file:/a.conf";
    assert!(said.contains(note), "{said}");
    let said = run(&["--model", "none.yaml"]);
    assert!(!said.contains("Left out"), "{said}");
    assert_eq!(content(), "before");
}
