//! Validation files: what is read, and the errors on what is not.

use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    Package, PackageManifest, PackagePath, ReadOptions, Validation, ValidatorCheck,
    read_validation_file,
};

fn read_with(text: &str, options: &ReadOptions) -> (Option<Validation>, Vec<String>) {
    let read = read_validation_file("v.yaml", text.as_bytes(), options);
    let findings = read.diagnostics().iter();
    let findings = findings.map(|finding| {
        let text = finding.to_string();
        let text = text.strip_prefix("v.yaml:").unwrap_or(&text);
        text.replace("error[PK0095]: ", "")
    });
    let findings = findings.collect();
    let validation = read.into_result().ok();
    (validation.map(|(validation, _)| validation), findings)
}

fn read(text: &str) -> (Option<Validation>, Vec<String>) {
    read_with(text, &ReadOptions::default())
}

/// The findings on a text that cannot be read.
fn errors(text: &str) -> Vec<String> {
    let (validation, findings) = read(text);
    assert!(validation.is_none(), "{text} is read");
    findings
}

/// The findings on validators under `validators`, whose lines begin with the second.
fn in_validators(validators: &str) -> Vec<String> {
    errors(&format!("validators:\n{validators}"))
}

const ALL: &str = r#"
arguments:
  java-distro:
    description: The distribution of Java.
    default: openjdk
    choices: [openjdk, zulu]
    target_variable: JAVA_DISTRO
    hidden: true
  version: {required: true}
  ratio: {default: 1.10}
validators:
  - package: wget
  - package: {ntp: {version: 1:4.10}}
  - package: [zip, {unzip: }, {tar: {version: "1.30"}}]
  - os_case:
      - debian:
          - all: [{package: apt}, {script: a/b.sh}]
      - redhat: []
  - any:
      - script: {install: {env_vars: [version, distro], output: found}}
      - script:
          inline_one:
            inline: |
              #!/bin/sh
              echo 1
  - argument_case:
      argument_name: java-distro
      cases:
        openjdk:
          - argument_set: {argument_name: version, value: 2.0}
        zulu:
  - copy_script: common/resources/tools.py
"#;

#[test]
fn everything_is_read_as_it_is_written() {
    let (validation, findings) = read(ALL);
    assert_eq!(findings, [] as [&str; 0]);
    let validation = validation.expect("it is valid");
    let names: Vec<&str> = (validation.arguments.iter())
        .map(|argument| argument.name.value.as_str())
        .collect();
    assert_eq!(names, ["java-distro", "version", "ratio"]);
    let java = &validation.arguments[0];
    assert_eq!(java.variable().as_str(), "JAVA_DISTRO");
    assert!(java.hidden.is_some() && !java.is_required);
    let ratio = validation.arguments[2]
        .default
        .as_ref()
        .expect("it has one");
    assert_eq!(ratio.value.as_str(), "1.10");
    assert!(!ratio.value.is_plain_text());

    let mut order = Vec::new();
    validation.visit(|validator| {
        let position = validator.location.position();
        order.push(match &validator.check {
            ValidatorCheck::Packages(packages) => {
                let pins = packages.iter().map(|package| match &package.version {
                    Some(version) => format!("{}={}", package.name.value, version.value),
                    None => package.name.value.to_string(),
                });
                pins.collect::<Vec<_>>().join(" ")
            }
            ValidatorCheck::Script(script) => format!(
                "script {} {}",
                script.path.value.as_str(),
                script
                    .inline
                    .as_ref()
                    .map_or(0, |inline| inline.value.lines().count())
            ),
            ValidatorCheck::CopyScript(script) => format!("copy {}", script.file_name()),
            ValidatorCheck::ArgumentSet { argument, value } => {
                format!("{}:={}", argument.value, value.value)
            }
            ValidatorCheck::Any(_) => format!("any at {}:{}", position.line, position.column),
            ValidatorCheck::All(_) => "all".to_owned(),
            ValidatorCheck::OsCase(cases) => format!("os {}", cases.len()),
            ValidatorCheck::ArgumentCase(case) => format!("case {}", case.cases.len()),
            other => panic!("{other:?}"),
        });
    });
    assert_eq!(
        order,
        [
            "wget",
            "ntp=1:4.10",
            "zip unzip tar=1.30",
            "os 2",
            "all",
            "apt",
            "script a/b.sh 0",
            "any at 19:5",
            "script install 0",
            "script inline_one 2",
            "case 2",
            "version:=2.0",
            "copy tools.py",
        ]
    );
}

#[test]
fn one_run_finds_all_mistakes() {
    let found = errors(
        "argumnets: {}\n\
         arguments:\n\
         \x20 distro: {default: debian}\n\
         \x20 no_default: {description: x}\n\
         \x20 wrong: {default: opnjdk, choices: [openjdk, openjdk], requierd: yes}\n\
         \x20 my-name: {default: a}\n\
         \x20 my_name: {default: a, target_variable: SIV_RECONCILE}\n\
         validators: []\n",
    );
    assert_eq!(
        found,
        [
            "1:1: unknown key `argumnets` in a validation; hint: did you mean `arguments`?",
            "3:3: the name `distro` is reserved: pkgres gives it a value",
            "4:3: the argument `no_default` has no `default` and is not `required`; hint: add a `default`, or `required: true`",
            "5:20: the default `opnjdk` is not among the choices; hint: did you mean `openjdk`?",
            "5:47: the choice `openjdk` is listed twice",
            "5:57: unknown key `requierd` in an argument; hint: did you mean `required`?",
            "7:42: the name `SIV_RECONCILE` is reserved: pkgres gives it a value",
        ]
    );
    let twice =
        errors("arguments: {my-name: {default: a}, my_name: {default: a}}\nvalidators: []\n");
    assert_eq!(
        twice,
        ["1:36: another argument already has the variable `my_name`"]
    );
}

#[test]
fn validators_have_a_kind_and_its_keys() {
    for (validators, expected) in [
        (
            "  - packages: wget",
            "2:5: unknown validator `packages`; hint: did you mean `package`?",
        ),
        (
            "  - package: --force-yes",
            "2:14: `--force-yes` is not the name of a system package: it begins with neither a letter nor a digit",
        ),
        (
            "  - package: [a, a]",
            "2:18: the package `a` is listed twice",
        ),
        ("  - package: []", "2:14: `package` has no package"),
        (
            "  - package: {a: {versoin: 1}}",
            "2:19: unknown key `versoin` in a package; hint: did you mean `version`?",
        ),
        (
            "  - package: {a: {version: '1 2'}}",
            "2:28: `1 2` is not the version of a system package: it can have ASCII letters, digits, `+`, `-`, `.`, `~`, `:`, `_` and `^`",
        ),
        (
            "  - script: ../x",
            "2:13: `../x` is not a path inside a package: `.` and `..` are not allowed",
        ),
        (
            "  - script: {x: {env_vars: a}}",
            "2:28: `env_vars` must be a list, not a scalar",
        ),
        (
            "  - script: {x: {output: test_only}}",
            "2:26: the name `test_only` is reserved: pkgres gives it a value",
        ),
        (
            "  - any: []",
            "2:5: `any` has no validators, so none can succeed",
        ),
        (
            "  - os_case: {debian: []}",
            "2:14: `os_case` must be a list, not a mapping",
        ),
        (
            "  - os_case: [{Debian: []}]",
            "2:16: `Debian` can never be the name of an operating system; hint: write `debian`",
        ),
        (
            "  - argument_case: {argument_name: a}",
            "2:20: `argument_case` has no `cases`",
        ),
        (
            "  - argument_set: {value: a}",
            "2:19: `argument_set` has no `argument_name`",
        ),
        (
            "  - package: a\n    script: b",
            "3:5: a validator has more than one key; hint: begin a new item of the list with `- `, or indent the key",
        ),
        (
            "  - package",
            "2:5: a validator must be a mapping, not a scalar",
        ),
        (
            "  - script: {x: {inline: [a]}}",
            "2:26: `inline` must be text, not a list",
        ),
    ] {
        assert_eq!(in_validators(validators), [expected], "{validators}");
    }
    for (text, expected) in [
        ("", "1:1: the validation file is empty"),
        ("arguments: {}", "1:1: `validators` is missing"),
        // The generic hint, to write `script: page`, would lead to the next error.
        (
            "- script: page",
            "1:1: a validation must be a mapping, not a list; hint: write the list below `validators:`",
        ),
        (
            "validators: 1",
            "1:13: `validators` must be a list of validators, not a scalar",
        ),
    ] {
        assert_eq!(errors(text), [expected], "{text}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels: usize| {
        let all = "{all: [".repeat(levels);
        let end = "]}".repeat(levels);
        format!("validators: [{all}{end}]")
    };
    let mut options = ReadOptions::default();
    options.limits.depth = 1000;
    let (validation, _) = read_with(&nested(32), &options);
    assert!(validation.is_some());
    let (validation, findings) = read_with(&nested(33), &options);
    assert!(validation.is_none());
    assert!(
        findings[0].contains("more than the limit of 32 levels of nested validators"),
        "{findings:?}"
    );
}

#[test]
fn programs_can_have_validators_of_their_own() {
    let text = "validators:\n  - kernel: {min: 6.1}\n";
    assert_eq!(
        errors(text),
        [
            "2:5: unknown validator `kernel`; hint: the validators are `all`, `any`, `argument_case`, `argument_set`, `copy_script`, `os_case`, `package`, `script`"
        ]
    );
    let mut options = ReadOptions::default();
    options.custom_validators.push("kernel".to_owned());
    let (validation, findings) = read_with(text, &options);
    assert_eq!(findings, [] as [&str; 0]);
    let validation = validation.expect("it is valid");
    let ValidatorCheck::Custom { name, value } = &validation.validators[0].check else {
        panic!("it is a custom one");
    };
    assert_eq!(name.value, "kernel");
    let minimum = value.as_mapping().and_then(|it| it.get("min"));
    let minimum = minimum.and_then(|it| it.as_scalar());
    assert_eq!(minimum.map(|it| it.text.as_str()), Some("6.1"));
}

#[test]
fn a_package_has_the_validation_that_its_manifest_names() {
    let assemble = |validate: &str, content: Option<&str>| {
        let text = format!("FullName: a.B\nType: Library\nValidate: {validate}\n");
        let source = SourceText::new("p/manifest.yaml", text);
        let options = ReadOptions::default();
        let read = PackageManifest::parse(&source, &options);
        let (manifest, _) = read.into_result().expect("the manifest is valid");
        let read = Package::assemble(manifest, &options, |path| {
            let content = content.filter(|_| path.as_str() == "image/validate.yaml");
            content.map(|content| content.as_bytes().to_vec())
        });
        match read.into_result() {
            Ok((package, _)) => Ok(package),
            Err(errors) => Err(errors[0].to_string()),
        }
    };
    let good = "validators: [{script: install}]";
    let package = assemble("image/validate.yaml", Some(good)).expect("it is valid");
    let validation = package.validation.expect("it has one");
    assert_eq!(validation.source.name(), "p/image/validate.yaml");
    let ValidatorCheck::Script(script) = &validation.validators[0].check else {
        panic!("it is a script");
    };
    let file = package.manifest.validate.expect("it has one").value;
    let places = script.places(&file);
    let places: Vec<&str> = places.iter().map(PackagePath::as_str).collect();
    assert_eq!(places, ["image/install", "Resources/install"]);
    assert_eq!(
        assemble("image/validate.yaml", Some("validators: 1")).expect_err("it is wrong"),
        "p/image/validate.yaml:1:13: error[PK0095]: `validators` must be a list of validators, not a scalar"
    );
    assert_eq!(
        assemble("other.yaml", Some(good)).expect_err("it is wrong"),
        "p/manifest.yaml:3:11: error[PK0031]: the package has no file `other.yaml`"
    );
}
