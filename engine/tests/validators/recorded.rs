//! What is asked and changed in which order, on machines that only record.

use pkgres_engine::{ArgumentValues, CustomValidator, Output, PreparedValidation, Probe, Target};

use crate::support::{
    Recorder, defaults, exited, findings, prepared, printed, reconcile, specification_errors, test,
    validation,
};

/// The last words of the commands of a machine: the paths of scripts.
fn scripts(recorder: &Recorder) -> Vec<String> {
    let calls = recorder.calls();
    let calls = calls.iter().map(|call| {
        let kind = &call[..1];
        let last = call.rsplit(' ').next().unwrap_or_default();
        format!("{kind}{last}")
    });
    calls.collect()
}

const ANY: &str = "validators: [{any: [{script: a}, {script: b}]}]\n";

#[test]
fn any_tests_all_branches_before_it_changes_something() {
    let both_fail = || Recorder::failing(&["a", "b"]);
    let machine = both_fail();
    assert_eq!(
        findings(&reconcile(ANY, &machine)),
        ["v.yaml:1:15: error[PK0111]: no alternative succeeds"]
    );
    // Before a script changes something, its own test says whether it has to.
    assert_eq!(scripts(&machine), ["?a", "?b", "?a", "!a", "?b", "!b"]);
    let machine = both_fail();
    let report = test(ANY, &machine);
    let notes: Vec<_> = report.findings[0]
        .labels
        .iter()
        .map(|it| it.message.clone())
        .collect();
    assert_eq!(
        notes,
        ["", "`a` exited with code 1", "`b` exited with code 1"]
    );
    assert_eq!(scripts(&machine), ["?a", "?b"]);

    for is_test in [true, false] {
        let machine = Recorder::failing(&["b"]);
        let report = if is_test {
            test(ANY, &machine)
        } else {
            reconcile(ANY, &machine)
        };
        assert!(report.is_passed());
        assert_eq!(scripts(&machine), ["?a"]);
    }
    // The second branch is there already: nothing is changed for the first one.
    let machine = Recorder::failing(&["a"]);
    assert!(reconcile(ANY, &machine).is_passed());
    assert_eq!(scripts(&machine), ["?a", "?b"]);
}

#[test]
fn only_a_branch_that_succeeds_leaves_values() {
    let set = |value: &str| format!("{{argument_set: {{argument_name: x, value: {value}}}}}");
    let decide = "- argument_case: {argument_name: x, cases: {first: [{script: s1}], leaked: [{script: s2}], kept: [{script: s3}]}}\n";
    let text = format!(
        "arguments: {{x: {{default: first}}}}\nvalidators:\n\
         - any: [{{all: [{leaked}, {{script: bad}}]}}, {{script: good}}]\n{decide}\
         - any: [{{all: [{leaked}, {{script: bad}}]}}, {{all: [{kept}, {{script: good}}]}}]\n{decide}",
        leaked = set("leaked"),
        kept = set("kept"),
    );
    for is_test in [true, false] {
        let machine = Recorder::failing(&["bad"]);
        let report = if is_test {
            test(&text, &machine)
        } else {
            reconcile(&text, &machine)
        };
        assert!(report.is_passed());
        let decided: Vec<String> = (scripts(&machine).iter())
            .filter(|script| script.contains('s') && script.starts_with('?') == is_test)
            .map(|script| script[1..].to_owned())
            .collect();
        assert_eq!(decided, ["s1", "s3"]);
        let values: Vec<String> = (report.arguments.iter())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(values, ["x=kept"]);
    }
}

#[test]
fn all_stops_at_the_first_failure() {
    let machine = Recorder::failing(&["b"]);
    let text = "validators:\n- all: [{script: a}, {script: b}, {script: c}]\n- script: d\n";
    assert_eq!(
        findings(&reconcile(text, &machine)),
        ["v.yaml:2:23: error[PK0111]: `b` exited with code 1"]
    );
    assert_eq!(scripts(&machine), ["?a", "!a", "?b", "!b"]);
}

#[test]
fn what_was_missing_is_tested_again_after_it_was_brought_about() {
    let text = "validators:\n- script: a\n";
    let changed = |machine: &Recorder| {
        let report = reconcile(text, machine);
        (findings(&report), report.steps[0].is_changed)
    };
    let machine = Recorder::new("debian", "debian", |_, before| {
        exited(i32::from(before == 0))
    });
    assert_eq!(changed(&machine), (vec![], true));
    assert_eq!(scripts(&machine), ["?a", "!a", "?a"]);
    let machine = Recorder::failing(&[]);
    assert_eq!(changed(&machine), (vec![], false));
    assert_eq!(scripts(&machine), ["?a", "!a"]);
    // It claims to have done what its test does not find.
    let machine = Recorder::new("debian", "debian", |_, before| {
        exited(i32::from(before != 1))
    });
    let finding = "v.yaml:2:3: error[PK0111]: script a made its changes and succeeded, but its test still \
                   fails: `a` exited with code 1";
    assert_eq!(changed(&machine), (vec![finding.to_owned()], false));
}

#[test]
fn the_first_case_of_the_system_or_its_family_applies() {
    let text = "validators:\n- os_case: [{suse: [{script: s}]}, {redhat: [{script: r}]}, {fedora: [{script: f}]}]\n\
                - os_case: [{fedora: [{script: g}]}, {redhat: [{script: h}]}]\n\
                - os_case: [{debian: [{script: d}]}]\n";
    let machine = Recorder::new("fedora", "redhat", |_, _| exited(0));
    assert!(test(text, &machine).is_passed());
    assert_eq!(scripts(&machine), ["?r", "?g"]);
    let machine = Recorder::failing(&[]);
    assert!(test(text, &machine).is_passed());
    assert_eq!(scripts(&machine), ["?d"]);
}

#[test]
fn a_list_of_packages_is_one_command() {
    let text = "validators: [{package: [wget, {ntp: {version: '1:4.2'}}]}]\n";
    let both = "ii \twget\tamd64\t1.2\nii \tntp\tamd64\t1:4.2\n";
    let machine = Recorder::new("debian", "debian", move |_, _| printed(both));
    assert!(reconcile(text, &machine).is_passed());
    let calls = machine.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("?dpkg-query --show "), "{calls:?}");
    assert!(calls[0].ends_with(" -- wget ntp"), "{calls:?}");
    let other = "ii \twget\tamd64\t1.2\nii \tntp\tamd64\t4.2\n";
    let machine = Recorder::new("debian", "debian", move |_, _| printed(other));
    assert_eq!(
        findings(&test(text, &machine)),
        ["v.yaml:1:15: error[PK0111]: `ntp` is installed in version 4.2, not 1:4.2"]
    );
    assert_eq!(machine.calls().len(), 1);
}

#[test]
fn packages_that_are_missing_are_installed_in_one_step_and_checked_again() {
    let text = "validators: [{package: [zip, {wget: {version: 1.21-3}}, tar]}]\n";
    let machine = Recorder::new("centos", "redhat", |_, before| match before {
        0 => printed("ii \ttar\tnoarch\t1.3\t1.3-1\npackage zip is not installed\n"),
        1 => exited(0),
        _ => printed("ii \ttar\tx\t1.3\t1.3-1\nii \tzip\tx\t3\t3-1\nii \twget\tx\t1.21\t1.21-3\n"),
    });
    assert!(reconcile(text, &machine).is_passed());
    let calls = machine.calls();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(calls[0].starts_with("?rpm --query "), "{calls:?}");
    assert_eq!(calls[1], "!yum -y install zip wget-1.21-3");
    assert_eq!(calls[2], calls[0]);

    let machine = Recorder::new("plan9", "plan9", |_, _| exited(0));
    assert_eq!(
        findings(&test(text, &machine)),
        ["v.yaml:1:15: error[PK0111]: packages of the family `plan9` are not supported"]
    );
}

#[test]
fn packages_that_the_lists_of_apt_lack_are_looked_for_in_new_lists() {
    let text = "validators: [{package: wget}]\n";
    let machine = Recorder::new("debian", "debian", |_, before| match before {
        0 => exited(1),
        1 => Output {
            stderr: b"E: Unable to locate package wget\n".to_vec(),
            ..exited(100)
        },
        2 | 3 => exited(0),
        _ => printed("ii \twget\tamd64\t1.2\n"),
    });
    assert!(reconcile(text, &machine).is_passed());
    let calls = machine.calls();
    assert_eq!(calls.len(), 5, "{calls:?}");
    assert!(calls[1].ends_with(" install --no-remove wget"), "{calls:?}");
    assert!(calls[2].ends_with(" update"), "{calls:?}");
    assert_eq!(calls[3], calls[1]);
}

#[test]
fn a_query_that_fails_says_nothing_about_packages() {
    let text = "validators: [{package: wget}]\n";
    for (system, family, program) in [
        ("debian", "debian", "dpkg-query"),
        ("centos", "redhat", "rpm"),
    ] {
        let machine = Recorder::new(system, family, |_, _| Output {
            stderr: b"the database is damaged\n".to_vec(),
            ..exited(2)
        });
        let found = findings(&reconcile(text, &machine));
        assert_eq!(found.len(), 1, "{found:?}");
        let begin = format!("v.yaml:1:15: error[PK0111]: `{program} ");
        assert!(found[0].starts_with(&begin), "{found:?}");
        let end = "exited with code 2: the database is damaged";
        assert!(found[0].ends_with(end), "{found:?}");
        assert_eq!(machine.calls().len(), 1, "nothing is installed");
    }
}

#[test]
fn packages_are_installed_only_in_the_state_that_says_so() {
    let text = "validators: [{package: [a]}]\n";
    for (state, is_installed) in [
        ("ii ", true),
        ("hi ", true),
        ("rc ", false),
        ("un ", false),
        ("iU ", false),
        ("iHR", false),
        ("iiR", false),
    ] {
        let line = format!("{state}\ta\tamd64\t1\n");
        let machine = Recorder::new("debian", "debian", move |_, _| printed(&line));
        assert_eq!(test(text, &machine).is_passed(), is_installed, "{state}");
    }
    let foreign = "validators: [{package: 'a:i386'}]\n";
    let machine = Recorder::new("debian", "debian", |_, _| printed("ii \ta\tamd64\t1\n"));
    assert!(!test(foreign, &machine).is_passed());
}

#[test]
fn a_script_is_copied_if_it_is_not_there() {
    let text = "validators: [{copy_script: common/resources/deep/tool.py}]\n";
    let machine = Recorder::failing(&[]);
    assert_eq!(
        findings(&test(text, &machine)),
        [
            "v.yaml:1:15: error[PK0111]: /tmp/tool.py does not have the content of `common/resources/deep/tool.py`"
        ]
    );
    assert!(machine.calls().is_empty());
    assert!(reconcile(text, &machine).is_passed());
    assert_eq!(machine.calls(), ["!write /tmp/tool.py"]);
}

#[test]
fn arguments_get_given_values_or_defaults() {
    let text =
        "arguments: {a: {default: x, choices: [x, y]}, b: {required: true}}\nvalidators: []\n";
    let validation = validation(text);
    let values = |given: &[(&'static str, &'static str)]| {
        ArgumentValues::new(&validation, given.iter().copied())
    };
    let good = values(&[("b", "1"), ("a", "y")]).expect("they are allowed");
    let shown: Vec<String> = good
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(shown, ["a=y", "b=1"]);
    let errors = values(&[("a", "z"), ("aa", "1")]).expect_err("they are wrong");
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "v.yaml:1:13: error[PK0091]: `z` is not a choice of `a`; hint: choose `x` or `y`",
            "error[PK0096]: the validation has no argument `aa`; hint: did you mean `a`?",
            "v.yaml:1:47: error[PK0091]: the argument `b` has no value; hint: `--arg b=VALUE` sets it",
        ]
    );
}

#[test]
fn a_wrong_value_is_not_reported_as_a_missing_one() {
    let text = "arguments: {a: {required: true, choices: [x, y]}}\nvalidators: []\n";
    let errors = ArgumentValues::new(&validation(text), [("a", "z")]).expect_err("it is wrong");
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["v.yaml:1:13: error[PK0091]: `z` is not a choice of `a`; hint: choose `x` or `y`"]
    );
}

#[test]
fn what_is_wrong_is_known_before_anything_runs() {
    let text = "validators:\n- script: first\n- script: missing\n- script: {odd: {inline: '#!/usr/bin/awk -f'}}\n\
                - argument_case: {argument_name: nowhere, cases: {a: []}}\n- kernel: {min: 6}\n";
    let validation = validation(text);
    let error = PreparedValidation::new(&validation, &[], |script| {
        let is_there = script.path.value.as_str() != "missing";
        Ok(is_there.then(|| b"true".to_vec()))
    });
    assert_eq!(
        specification_errors(error.expect_err("it is wrong")),
        [
            "v.yaml:3:11: error[PK0099]: there is no script `missing`",
            "v.yaml:4:12: error[PK0095]: nothing can run the script `odd`, which begins with `#!/usr/bin/awk -f`; hint: the first line has to name a shell, Python, Perl or Ruby",
            "v.yaml:5:34: error[PK0096]: `argument_case` depends on `nowhere`, which is not an argument",
            "v.yaml:6:3: error[PK0095]: this program has no validator `kernel`",
        ]
    );
}

#[test]
fn a_custom_validator_is_asked_only_for_what_it_can_do() {
    let plain = validation("validators:\n- script: first\n- kernel: {min: 6}\n");
    let inside = validation("validators:\n- any: [{all: [{kernel: {min: 6}}]}]\n");
    let test_only = || {
        CustomValidator::new("kernel").testing(|_, probe: &dyn Probe, _| {
            let debian = probe.facts().values("os").any(|os| os == "debian");
            if debian {
                Ok(())
            } else {
                Err("it is too old".to_owned())
            }
        })
    };
    let can_both = || test_only().reconciling(|_, _: &dyn Target, _| Ok(()));
    let reconcile_only =
        || CustomValidator::new("kernel").reconciling(|_, _: &dyn Target, _| Ok(()));
    let machine = Recorder::failing(&[]);

    let custom = [test_only()];
    let prepared_plain = prepared(&plain, &custom);
    let report = prepared_plain
        .test(&machine, defaults(&plain))
        .expect("it can test");
    assert!(report.is_passed());
    let calls = machine.calls().len();
    let error = prepared_plain.reconcile(&machine, defaults(&plain));
    assert_eq!(
        specification_errors(error.expect_err("it cannot")),
        ["v.yaml:3:3: error[PK0095]: `kernel` cannot reconcile"]
    );
    assert_eq!(machine.calls().len(), calls, "nothing ran");
    let old = Recorder::new("fedora", "redhat", |_, _| exited(0));
    let report = prepared_plain
        .test(&old, defaults(&plain))
        .expect("it can test");
    assert_eq!(
        findings(&report),
        ["v.yaml:3:3: error[PK0111]: it is too old"]
    );

    let custom = [reconcile_only()];
    let cannot_test = "`kernel` cannot test without changing something";
    let error = prepared(&plain, &custom).test(&machine, defaults(&plain));
    assert_eq!(
        specification_errors(error.expect_err("it cannot")),
        [format!("v.yaml:3:3: error[PK0095]: {cannot_test}")]
    );
    let report = prepared(&plain, &custom).reconcile(&machine, defaults(&plain));
    assert!(report.expect("it can").is_passed());
    // To find the alternative that is there, each of them has to test.
    let error = prepared(&inside, &custom).reconcile(&machine, defaults(&inside));
    assert_eq!(
        specification_errors(error.expect_err("it cannot")),
        [format!("v.yaml:2:17: error[PK0095]: {cannot_test}")]
    );
    let custom = [can_both()];
    let report = prepared(&inside, &custom).reconcile(&machine, defaults(&inside));
    assert!(report.expect("it can").is_passed());
}
