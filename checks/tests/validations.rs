//! Each lint on validation files: a case in which it speaks, and one in which it has no reason to.

use pkgres_checks::check_validation;
use pkgres_manifest::{ReadOptions, read_validation_file};

/// The findings on a validation whose package has the scripts `a` and `b`.
fn findings(text: &str) -> Vec<String> {
    let read = read_validation_file("v.yaml", text.as_bytes(), &ReadOptions::default());
    let (validation, warnings) = read.into_result().expect("it can be read");
    assert_eq!(warnings, []);
    let has_script =
        |script: &pkgres_manifest::Script| ["a", "b"].contains(&script.path.value.as_str());
    let findings = check_validation(&validation, has_script);
    let findings = findings.iter().map(|finding| {
        let text = finding.to_string();
        text.strip_prefix("v.yaml:").unwrap_or(&text).to_owned()
    });
    findings.collect()
}

const NONE: [&str; 0] = [];

const ARGUMENTS: &str =
    "arguments: {java: {default: openjdk, choices: [openjdk, zulu], target_variable: JAVA}}\n";

/// The findings on validators that have an argument `java`.
fn in_validators(validators: &str) -> Vec<String> {
    findings(&format!("{ARGUMENTS}validators:\n{validators}"))
}

#[test]
fn scripts_that_ask_for_what_is_not_an_argument() {
    assert_eq!(
        in_validators("- script: {a: {env_vars: [jaba, java, distro, test_only]}}"),
        [
            "3:27: warning[PK0096]: `a` asks for `jaba`, which is not an argument; hint: did you mean `java`?"
        ]
    );
    assert_eq!(
        in_validators("- script: {a: {env_vars: [JAVA]}}"),
        [
            "3:27: warning[PK0096]: `a` asks for `JAVA`, which is not an argument; hint: `JAVA` is the variable of the argument `java`: name the argument"
        ]
    );
}

#[test]
fn arguments_that_are_set_but_not_declared() {
    let validators = "- script: {a: {output: found}}\n\
                      - argument_set: {argument_name: where, value: here}\n\
                      - script: {b: {env_vars: [found, where]}}\n\
                      - argument_case: {argument_name: found, cases: {x: []}}\n";
    assert_eq!(
        in_validators(validators),
        [
            "3:24: warning[PK0096]: the output of `a` goes to `found`, which is not an argument",
            "4:33: warning[PK0096]: `argument_set` sets `where`, which is not an argument",
        ]
    );
    assert_eq!(in_validators("- script: {a: {output: java}}"), NONE);
}

#[test]
fn decisions_on_what_is_not_an_argument() {
    assert_eq!(
        in_validators("- argument_case: {argument_name: version, cases: {x: []}}"),
        ["3:34: error[PK0096]: `argument_case` depends on `version`, which is not an argument"]
    );
    assert_eq!(
        in_validators("- argument_case: {argument_name: distro, cases: {debian: []}}"),
        NONE
    );
    // Only scripts get it.
    assert_eq!(
        in_validators("- argument_case: {argument_name: test_only, cases: {1: []}}").len(),
        2
    );
}

#[test]
fn choices_without_a_case() {
    assert_eq!(
        in_validators("- argument_case: {argument_name: java, cases: {openjdk: []}}"),
        [
            "1:57: warning[PK0097]: the choice `zulu` has no case; hint: if nothing has to be done, add `zulu: []`"
        ]
    );
    let both = "- argument_case: {argument_name: java, cases: {openjdk: [], zulu: []}}\n";
    assert_eq!(in_validators(both), NONE);
    // With `zulu`, nothing runs in the second place, whatever the other ones have.
    let second_without =
        format!("{both}- argument_case: {{argument_name: java, cases: {{openjdk: []}}}}\n{both}");
    assert_eq!(in_validators(&second_without).len(), 1);
    let each_without_another = "- argument_case: {argument_name: java, cases: {openjdk: []}}\n\
                                - argument_case: {argument_name: java, cases: {zulu: []}}\n";
    assert_eq!(in_validators(each_without_another).len(), 2);
}

#[test]
fn cases_that_are_no_choice() {
    let case = "- argument_case: {argument_name: java, cases: {openjdk: [], zuul: [], zulu: []}}";
    assert_eq!(
        in_validators(case),
        ["3:61: warning[PK0098]: `zuul` is not a choice of `java`; hint: did you mean `zulu`?"]
    );
    // A value that is set is a choice as well.
    let set = "- argument_set: {argument_name: java, value: zuul}\n";
    assert_eq!(
        in_validators(&format!("{set}{case}")),
        ["3:46: error[PK0095]: `zuul` is not a choice of `java`; hint: did you mean `zulu`?"]
    );
    let output = "- script: {a: {output: java}}\n";
    assert_eq!(in_validators(&format!("{output}{case}")), NONE);
}

#[test]
fn systems_after_their_family() {
    assert_eq!(
        in_validators("- os_case: [{redhat: []}, {ubuntu: []}, {centos: []}, {redhat: []}]"),
        [
            "3:42: warning[PK0098]: the case `centos` is never reached; hint: put `centos` before `redhat`, its family",
            "3:56: warning[PK0098]: the case `redhat` is never reached; hint: move its validators there",
        ]
    );
    assert_eq!(
        in_validators("- os_case: [{ubuntu: []}, {debian: []}, {void: []}]"),
        NONE
    );
    assert_eq!(
        in_validators("- os_case: [{ubunut: []}, {unheard-of: []}]"),
        [
            "3:14: warning[PK0098]: `ubunut` is not a known operating system; hint: did you mean `ubuntu`?",
            "3:28: warning[PK0098]: `unheard-of` is not a known operating system; hint: the case counts where /etc/os-release has `ID=unheard-of`",
        ]
    );
}

#[test]
fn scripts_that_are_not_there() {
    let text =
        "- any:\n  - copy_script: c\n  - script: d\n  - script: a\n  - script: {e: {inline: x}}\n";
    let hint =
        "hint: scripts are beside the validation file, or in the package's folder `Resources`";
    assert_eq!(
        in_validators(text),
        [
            format!("4:18: error[PK0099]: there is no script `c`; {hint}"),
            format!("5:13: error[PK0099]: there is no script `d`; {hint}"),
        ]
    );
}

#[test]
fn values_that_are_not_text() {
    let text = "arguments: {a: {default: 1.10, choices: [1.10, '2', yes]}, b: {default: 1.2.3}}\n\
                validators:\n\
                - argument_set: {argument_name: b, value: 7}\n\
                - argument_case: {argument_name: a, cases: {1.10: [], '2': [], 'yes': []}}\n";
    assert_eq!(
        findings(text),
        [
            "1:26: warning[PK0110]: `1.10` is not text for every YAML reader; hint: write `\"1.10\"`",
            "1:42: warning[PK0110]: `1.10` is not text for every YAML reader; hint: write `\"1.10\"`",
            "1:53: warning[PK0110]: `yes` is not text for every YAML reader; hint: write `\"yes\"`",
            "3:43: warning[PK0110]: `7` is not text for every YAML reader; hint: write `\"7\"`",
            "4:45: warning[PK0110]: `1.10` is not text for every YAML reader; hint: write `\"1.10\"`",
        ]
    );
}

#[test]
fn keys_without_a_meaning() {
    assert_eq!(
        findings("arguments: {a: {default: b, hidden: true}}\nvalidators: []\n"),
        ["1:29: warning[PK0072]: the key `hidden` has no meaning in an argument"]
    );
}
