//! Scripts on this machine.

// The tests prepare files themselves.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::time::Duration;

use pkgres_engine::{ArgumentValues, Machine, PreparedValidation, Probe as _, ValidationReport};
use pkgres_manifest::Validation;
use pkgres_tests::lifeline::Lifeline;

use crate::support::{
    defaults, findings, prepared, reconcile, skipped, specification_errors, test, validation,
};

fn local() -> Machine {
    Machine::local().expect("this machine has a root")
}

/// A validation of one inline script, with arguments.
fn script(arguments: &str, properties: &str, text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("        {line}\n"))
        .collect();
    format!(
        "arguments: {{{arguments}}}\nvalidators:\n- script:\n    page:\n      {properties}\n      inline: |\n{}",
        lines.concat()
    )
}

/// The value of `found` after a script, whose output it is.
fn output(arguments: &str, properties: &str, text: &str) -> String {
    let arguments = format!("found: {{default: nothing}}{arguments}");
    let text = script(&arguments, &format!("output: found{properties}"), text);
    let report = test(&text, &local());
    assert_eq!(findings(&report), [] as [&str; 0]);
    value(&report, &validation(&text))
}

fn value(report: &ValidationReport, validation: &Validation) -> String {
    let found = report.arguments.get(&validation.arguments[0].name.value);
    found.expect("it has a value").to_string()
}

#[test]
fn a_machine_that_cannot_start_commands_is_the_reason_of_the_failure() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let found = findings(&test(&script("", "", "true\n"), &machine));
    let [finding] = &found[..] else {
        panic!("{found:?}");
    };
    // Without privileges, it is that nobody else may run commands in a folder.
    assert!(finding.contains("cannot run `page`: "), "{finding}");
    assert!(!finding.contains("chroot"), "{finding}");
}

#[test]
fn the_interpreter_of_the_first_line_runs_a_script() {
    assert_eq!(
        output("", "", "#!/bin/bash\na=(x y z)\necho ${#a[@]} $0\n"),
        "3 page"
    );
    assert_eq!(output("", "", "echo plain\n"), "plain");
}

#[test]
fn what_validators_set_is_a_choice_of_the_argument() {
    let decide =
        "- argument_case: {argument_name: found, cases: {a: [{script: {x: {inline: 'true'}}}]}}\n";
    let arguments = "found: {default: a, choices: [a, b]}";
    let printed = |value: &str| {
        let text = script(arguments, "output: found", &format!("echo {value}\n"));
        findings(&test(&format!("{text}{decide}"), &local()))
    };
    assert_eq!(printed("b"), [] as [&str; 0]);
    let expected = "v.yaml:3:3: error[PK0111]: what `page` prints: `c` is not a choice of `found`";
    assert_eq!(printed("c"), [expected]);
    let expected = "v.yaml:3:3: error[PK0111]: what `page` prints is not UTF-8";
    assert_eq!(printed("$(printf '\\377')"), [expected]);
    // What a validator sets itself is known before anything runs.
    let set = |value: &str| {
        let set = format!("- argument_set: {{argument_name: found, value: {value}}}\n");
        validation(&format!(
            "arguments: {{{arguments}}}\nvalidators:\n{set}{decide}"
        ))
    };
    let prepare = |validation: &Validation| {
        let prepared = PreparedValidation::new(validation, &[], |_| Ok(None));
        prepared.map(|_| ()).map_err(specification_errors)
    };
    assert_eq!(prepare(&set("b")), Ok(()));
    let expected = "v.yaml:3:47: error[PK0095]: `c` is not a choice of `found`";
    assert_eq!(prepare(&set("c")), Err(vec![expected.to_owned()]));
}

#[test]
fn values_are_variables_and_never_code() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pwned = folder.path().join("pwned");
    let value = format!(
        "ab; touch {0} $(touch {0}) `touch {0}`\\n\\\"'",
        pwned.display()
    );
    let arguments = format!(", java: {{default: \"{value}\", target_variable: JAVA}}");
    let text = "printf '%s' \"$JAVA\"\n";
    let expected = value.replace("\\n", "\n").replace("\\\"", "\"");
    assert_eq!(
        output(&arguments, "\n      env_vars: [java]", text),
        expected
    );
    // On a machine that may be written to, too.
    let text = script(arguments.trim_start_matches(", "), "env_vars: [java]", text);
    assert!(reconcile(&text, &local()).is_passed());
    assert!(!Path::new(&pwned).exists());
}

#[test]
fn scripts_get_named_variables_and_nothing_else() {
    let text = "env | grep -vE '^(PWD|OLDPWD|SHLVL|_)=' | sort\n";
    let arguments = ", a-b: {default: 1.10}, secret: {default: x}";
    let os = local()
        .facts()
        .values("os")
        .next()
        .unwrap_or_default()
        .to_owned();
    assert_eq!(
        output(arguments, "\n      env_vars: [a-b]", text),
        format!(
            "HOME=/root\nLC_ALL=C.UTF-8\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n\
             SIV_DISTRO={os}\nSIV_RECONCILE=0\na_b=1.10\ndistro={os}\ntest_only=1"
        )
    );
}

#[test]
fn an_output_decides_what_follows() {
    let text = "arguments: {found: {default: none}}\nvalidators:\n\
                - script: {look: {inline: 'echo here', output: found}}\n\
                - argument_case: {argument_name: found, cases: {none: [], here: [{script: {x: {inline: 'exit 3'}}}]}}\n";
    assert_eq!(
        findings(&test(text, &local())),
        ["v.yaml:4:67: error[PK0111]: `x` exited with code 3"]
    );
}

#[test]
fn a_script_that_only_claims_to_test_is_found_out() {
    let machine = local();
    if !machine.enforces_read_only() {
        skipped("mount namespaces");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("written");
    let text = script(
        "",
        "output: found",
        &format!("echo lie > {}\ntrue\n", file.display()),
    );
    let report = test(&text, &machine);
    let found = findings(&report);
    assert!(!file.exists());
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = "v.yaml:3:3: error[PK0112]: `page` succeeded in a test, although it tried to change something: ";
    assert!(found[0].starts_with(expected), "{found:?}");
    assert!(found[0].ends_with("Read-only file system"), "{found:?}");
    // It may do so where it is asked to.
    let report = reconcile(&text, &machine);
    assert!(report.is_passed() && file.exists());
}

#[test]
fn a_script_that_takes_too_long_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let held = folder.path().join("held");
    let lifeline = Lifeline::new(&held);
    let text = script(
        "",
        "output: found",
        &format!("(exec 9>{}; sleep 1000) &\nsleep 1000\n", held.display()),
    );
    let validation = validation(&text);
    let prepared = prepared(&validation, &[]).timeout(Duration::from_millis(200));
    let report = prepared.reconcile(&local(), ArgumentValues::default());
    assert_eq!(
        findings(&report.expect("it is not cancelled")),
        ["v.yaml:3:3: error[PK0111]: `page` was killed: it did not end in 0.2 s"]
    );
    assert!(lifeline.is_released());
}

#[test]
fn a_script_leaves_no_file_of_its_own() {
    let names = || {
        let names = local().names(Path::new("/tmp")).expect("there is one");
        names
            .into_iter()
            .filter(|name| name.to_string_lossy().contains("pkgres"))
            .count()
    };
    let before = names();
    let text = script("", "output: found", "false\n");
    assert_eq!(
        findings(&reconcile(&text, &local())),
        ["v.yaml:3:3: error[PK0111]: `page` exited with code 1"]
    );
    assert_eq!(names(), before);
    let validation = validation(&text);
    let report = prepared(&validation, &[]).test(&local(), defaults(&validation));
    assert!(!report.expect("it is not cancelled").is_passed());
}
