//! Calls of functions, which are scripts of packages, on this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pkgres_checks::{BoundPackage, BoundPackages, CallError, Strictness};
use pkgres_engine::{
    CallFailure, CalledFunction, FunctionCall, Machine, PackageFiles, TargetError, callable_objects,
};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ClassName, Facts, Limits, ObjectModel, Package, PackageManifest, PackagePath, ReadOptions,
    Release,
};
use serde_json::{Value, json};

/// The files of packages by package and path.
#[derive(Default)]
struct Files(BTreeMap<(String, String), String>);

impl PackageFiles for Files {
    fn read(&self, release: &Release, path: &PackagePath) -> Result<Option<Vec<u8>>, String> {
        let key = (release.name.to_string(), path.as_str().to_owned());
        Ok(self.0.get(&key).map(|text| text.clone().into_bytes()))
    }
}

/// The name of a package, the rest of its manifest, and its files by path.
type WrittenPackage<'text> = (&'text str, &'text str, &'text [(&'text str, &'text str)]);

/// Packages, of which each requires those before it, and their files.
fn bind(packages: &[WrittenPackage<'_>]) -> (BoundPackages, Vec<Release>, Files) {
    let options = ReadOptions::with_core(None);
    let mut bound = BoundPackages::default();
    let mut releases: Vec<Release> = Vec::new();
    let mut files = Files::default();
    for (name, manifest, contents) in packages {
        let manifest = format!("FullName: {name}\nType: Library\nVersion: 1.2.0\n{manifest}");
        let read = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
        let (manifest, _) = read.into_result().expect("the manifest is valid");
        let read = Package::assemble(manifest, &options, |path| {
            let mut found = contents.iter();
            let found = found.find(|(known, _)| *known == path.as_str())?;
            Some(found.1.as_bytes().to_vec())
        });
        let (package, _) = read.into_result().expect("the package is valid");
        let release = package.release();
        for (path, text) in *contents {
            let key = ((*name).to_owned(), (*path).to_owned());
            files.0.insert(key, (*text).to_owned());
        }
        let requires = releases.clone();
        let package = Some(Arc::new(package));
        bound
            .releases
            .insert(release.clone(), BoundPackage { package, requires });
        releases.push(release);
    }
    (bound, releases, files)
}

const BASE: &str = "Methods:\n  echo:\n    Arguments:\n    - first: {Contract: $.string()}\n    - second: {Contract: $.string(), Default: other}\n    - third: {Contract: $.int(), Default: $.count}\n\
                    \x20 object: {}\n  slow: {}\n  ended: {}\n  many: {}\n  long: {}\n  nothing: {}\n  awk: {}\n\
                    Properties:\n  port: {Contract: $.int(), Default: 80}\n";

/// A class, and one in another package that extends it and has a function of its own.
fn classes() -> (BoundPackages, Vec<Release>, Files) {
    bind(&[
        (
            "a.Base",
            "Classes: {a.Base: Base.yaml}\n",
            &[
                ("Classes/Base.yaml", BASE),
                (
                    "Resources/a.Base/echo",
                    "printf '[\"%s\", \"%s\", \"%s\"]' \"$first\" \"$second\" \"${third-unset}\"",
                ),
                ("Resources/a.Base/object", "cat"),
                ("Resources/a.Base/slow", "exec sleep 60"),
                ("Resources/a.Base/ended", "kill -9 $$"),
                ("Resources/a.Base/many", "echo 1; echo 2"),
                (
                    "Resources/a.Base/long",
                    "echo 1; head -c 16777216 /dev/zero | tr '\\0' ' '; echo 2",
                ),
                ("Resources/a.Base/nothing", ":"),
                (
                    "Resources/a.Base/awk",
                    "#!/usr/bin/awk -f\nBEGIN { print 1 }\n",
                ),
            ],
        ),
        (
            "a.Web",
            "Classes: {a.Web: Web.yaml}\n",
            &[
                (
                    "Classes/Web.yaml",
                    "Extends: a.Base\nMethods: {name: {}}\nProperties: {port: {Contract: $.int(), Default: 8080}}\n",
                ),
                ("Resources/a.Web/name", "echo \"\\\"$PKGRES_CLASS\\\"\""),
                // That of the class that defines the method counts.
                ("Resources/a.Web/object", "echo wrong"),
            ],
        ),
    ])
}

fn class(name: &str) -> ClassName {
    ClassName::parse(name).expect("a name")
}

fn shown(findings: &[Diagnostic]) -> String {
    let messages = findings.iter().map(|finding| finding.message.clone());
    messages.collect::<Vec<_>>().join("; ")
}

/// Calls a function of `a.Web` on this machine.
fn call(function: &str, values: &[(&str, &str)]) -> Result<Value, String> {
    let (packages, releases, files) = classes();
    let class = class("a.Web");
    let called = CalledFunction {
        packages: &packages,
        release: &releases[1],
        class: &class,
        function,
    };
    let values = values.iter();
    let values: Vec<(String, String)> = values
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let call = FunctionCall::new(called, None, &values).map_err(|findings| shown(&findings))?;
    let call = call.timeout(Duration::from_secs(if function == "slow" { 1 } else { 60 }));
    let machine = Machine::local().expect("it is this machine");
    let how = (Strictness::Fail, false);
    let answer = call.run(&machine, &Facts::default(), &files, how);
    answer
        .map(|answer| answer.value)
        .map_err(|error| error.to_string())
}

#[test]
fn arguments_are_data_whatever_they_look_like() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pwned = folder.path().join("pwned");
    let touch = format!("touch {}", pwned.display());
    for value in [
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("; {touch} #"),
        format!("'; {touch}; '"),
        format!("x && {touch}"),
    ] {
        let answer = call("echo", &[("first", &value)]).expect("it only prints");
        // What is left out has its default, unless that is an expression.
        assert_eq!(answer, json!([value, "other", "unset"]));
    }
    assert!(!Path::new(&pwned).exists());
    let answer = call("echo", &[("first", ""), ("third", "-7"), ("second", "x")]);
    assert_eq!(answer, Ok(json!(["", "x", "-7"])));
}

#[test]
fn a_function_is_the_script_of_the_class_that_defines_it() {
    // An inherited function sees the properties of the class that it is called on.
    assert_eq!(call("object", &[]), Ok(json!({"port": 8080})));
    assert_eq!(call("name", &[]), Ok(json!("a.Web")));
    assert_eq!(call("nothing", &[]), Ok(Value::Null));
}

#[test]
fn failures_say_what_is_wrong() {
    for (function, values, expected) in [
        ("slow", &[][..], "`slow` was killed: it did not end in 1 s"),
        ("ended", &[], "`ended` was ended by a signal"),
        (
            "many",
            &[],
            "the output of `many` is not JSON: trailing characters",
        ),
        ("long", &[], "`long` wrote more than 16 MiB"),
        (
            "awk",
            &[],
            "nothing can run the script `Resources/a.Base/awk`",
        ),
        ("echo", &[], "`echo` needs a value for `first`"),
        ("none", &[], "`a.Web` has no function `none`"),
        ("echo", &[("third", "x")], "`third` must be an integer"),
        ("echo", &[("PATH", "/tmp")], "`echo` has no argument `PATH`"),
        (
            "echo",
            &[("first", "a\0b")],
            "the value of `first` has a null byte",
        ),
    ] {
        let error = call(function, values).expect_err(function);
        assert!(error.contains(expected), "{function}: {error}");
    }
}

#[test]
fn a_function_gets_its_object_with_the_defaults_of_its_class() {
    let (packages, _, files) = classes();
    let text = b"- '?': {id: one, type: a.Web}\n  title: x\n  \
                 db: {'?': {id: two, type: a.Base}, port: 5432}\n  same: two\n- '?': {id: three, type: a.Base}\n";
    let model = ObjectModel::read("model.yaml", text, &Limits::default());
    let (model, _) = model.into_result().expect("the model is valid");
    let (web, base) = (class("a.Web"), class("a.Base"));
    assert_eq!(callable_objects(&packages, &model, &base).len(), 3);
    let found = callable_objects(&packages, &model, &web);
    let [(object, release)] = found.as_slice() else {
        panic!("one is of the class: {found:?}");
    };
    let called = CalledFunction {
        packages: &packages,
        release,
        class: &web,
        function: "object",
    };
    let call = FunctionCall::new(called, Some((&model, *object)), &[]);
    let call = call.expect("the values of the model are right");
    let machine = Machine::local().expect("it is this machine");
    let how = (Strictness::Warn, false);
    let answer = call.run(&machine, &Facts::default(), &files, how);
    let header = |id: &str, class: &str| json!({"id": id, "type": class, "package": class, "version": "1.2.0"});
    assert_eq!(
        answer.expect("it prints what it reads").value,
        json!({
            "?": header("one", "a.Web"),
            "title": "x",
            "port": 8080,
            "db": {"?": header("two", "a.Base"), "port": 5432},
            "same": "two",
        })
    );
}

#[test]
fn a_function_that_must_not_write_cannot() {
    let (packages, releases, mut files) = classes();
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("written");
    let script = format!("echo x >{} && echo 1", path.display());
    let key = ("a.Web".to_owned(), "Resources/a.Web/name".to_owned());
    files.0.insert(key, script);
    let class = class("a.Web");
    let called = CalledFunction {
        packages: &packages,
        release: &releases[1],
        class: &class,
        function: "name",
    };
    let call = FunctionCall::new(called, None, &[]).expect("there is no argument");
    let machine = Machine::local().expect("it is this machine");
    if !pkgres_engine::Probe::enforces_read_only(&machine) {
        pkgres_tests::skip::without_service("file systems cannot be made read-only here");
        return;
    }
    let facts = Facts::default();
    let answer = call.run(&machine, &facts, &files, (Strictness::Warn, true));
    let failure = answer.expect_err("it writes");
    let is_exit = matches!(
        failure,
        CallError::Failed(CallFailure::Target(TargetError::Command { .. }))
    );
    assert!(is_exit && !path.exists(), "{failure}");
    let answer = call.run(&machine, &facts, &files, (Strictness::Warn, false));
    assert_eq!(answer.expect("it may write").value, json!(1));
    assert!(path.exists());
}

const DISK: &str = "Properties:
  limit: {Contract: $.int().notNull(), Default: 90}
  list: {Contract: [$.int()], Default: []}
Methods:
  use:
    Arguments:
    - list: {Contract: [$.int()], Default: []}
    - few: {Contract: [$.string().notNull(), 1, 2], Default: []}
    - map: {Contract: {$.string(): $.int()}, Default: {}}
    - keys: {Contract: {a: $.int().notNull()}, Default: {}}
    - disk: {Contract: $.class(a.Disk), Default: null}
    - disks: {Contract: [$.class(a.Disk)], Default: []}
";

/// What is wrong with a call of `use` on an object of a model, or without one.
fn call_problem(model: Option<&str>, values: &[(&str, &str)]) -> Option<String> {
    let disk = (
        "a.Disk",
        "Classes: {a.Disk: Disk.yaml, a.Other: Other.yaml}\n",
        &[
            ("Classes/Disk.yaml", DISK),
            ("Classes/Other.yaml", "Name: a.Other\n"),
        ][..],
    );
    let (packages, releases, _) = bind(&[disk]);
    let class = class("a.Disk");
    let called = CalledFunction {
        packages: &packages,
        release: &releases[0],
        class: &class,
        function: "use",
    };
    let model = model.map(|text| {
        let model = ObjectModel::read("model.yaml", text.as_bytes(), &Limits::default());
        model.into_result().expect("the model can be read").0
    });
    let object = model.as_ref().map(|model| {
        let objects = callable_objects(&packages, model, &class);
        (model, objects.first().expect("one is a disk").0)
    });
    let values = values.iter();
    let values: Vec<(String, String)> = values
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let call = FunctionCall::new(called, object, &values);
    call.err().map(|findings| shown(&findings))
}

#[test]
fn every_value_in_an_argument_satisfies_its_contract() {
    for (name, value, expected) in [
        ("list", "[1, \"2\"]", None),
        ("list", "[1, \"x\"]", Some("`list[1]` must be an integer")),
        // The fraction is cut off.
        ("list", "[1.5]", None),
        ("few", "[\"a\"]", None),
        ("few", "[]", Some("`few` must have at least 1 item")),
        (
            "few",
            "[\"a\", \"b\", \"c\"]",
            Some("`few` must have at most 2 items"),
        ),
        ("few", "[null]", Some("`few[0]` must not be null")),
        ("map", "{\"a\": 1}", None),
        ("map", "{\"a\": \"x\"}", Some("`map.a` must be an integer")),
        ("keys", "{\"a\": 1}", None),
        ("keys", "{}", Some("`keys.a` must be there")),
        ("disk", "{\"limit\": 1}", None),
        (
            "disk",
            "{\"limit\": \"x\"}",
            Some("`disk.limit` must be an integer"),
        ),
        (
            "disk",
            "{\"?\": {\"type\": \"a.Other\"}}",
            Some("`disk` must be an object of class `a.Disk`"),
        ),
        (
            "disk",
            "one",
            Some(
                "`disk` must be the id of an object of the class `a.Disk` in the model, or a mapping in JSON",
            ),
        ),
        (
            "disks",
            "[1]",
            Some("`disks[0]` must be an object of class `a.Disk`"),
        ),
    ] {
        let problem = call_problem(None, &[(name, value)]);
        assert_eq!(problem.as_deref(), expected, "{name}={value}");
    }
}

#[test]
fn an_argument_can_be_an_object_of_the_model() {
    let model = "- '?': {id: one, type: a.Disk}\n- '?': {id: two, type: a.Other}\n";
    for (name, value, expected) in [
        ("disk", "one", None),
        ("disks", "[\"one\"]", None),
        (
            "disks",
            "[\"two\"]",
            Some("`disks[0]` must be an object of class `a.Disk`"),
        ),
    ] {
        let problem = call_problem(Some(model), &[(name, value)]);
        assert_eq!(problem.as_deref(), expected, "{name}={value}");
    }
    let problem = call_problem(Some(model), &[("disk", "two")]);
    assert!(problem.is_some_and(|it| it.contains("must be the id of an object")));
}

#[test]
fn an_object_whose_values_violate_contracts_is_not_called() {
    for (values, expected) in [
        ("limit: 5", None),
        (
            "limit: null",
            Some("`limit` of the object `one` must not be null"),
        ),
        (
            "list: [1, x]",
            Some("`list[1]` of the object `one` must be an integer"),
        ),
    ] {
        let model = format!("- '?': {{id: one, type: a.Disk}}\n  {values}\n");
        let problem = call_problem(Some(&model), &[]);
        match (problem, expected) {
            (None, None) => {}
            (problem, Some(expected)) => {
                assert!(
                    problem.as_ref().is_some_and(|it| it.contains(expected)),
                    "{problem:?}"
                );
            }
            (problem, None) => panic!("{problem:?}"),
        }
    }
}

/// Contracts of a value.
const CONTRACTS: &[&str] = &[
    "$",
    "$.notNull()",
    "$.string()",
    "$.string().notNull()",
    "$.int()",
    "$.int().notNull()",
    "$.string().int()",
    "$.int().string()",
    "$.bool()",
    "$.bool().notNull()",
    "$.int().check($ > 0)",
    "$.class(a.Disk)",
    "$.class(a.Disk).notNull()",
    "$.class(a.Disk, version_spec => '=9')",
    "$.class(a.Disk).owned()",
    "$.class(a.Disk).notOwned()",
    "$.string().class(a.Disk)",
    "$.template(a.Disk)",
    "$.template(a.Disk, excludeProperties => [size])",
    "$.template(a.Disk).owned()",
    "[$.int()]",
    "[$.int().notNull(), 1]",
    "[$.string(), 1, 2]",
    "[$.class(a.Disk)]",
    "{$.string(): $.int()}",
    "{$.int(): $.string()}",
    "{a: $.int().notNull(), b: $.bool()}",
    "5",
    "text",
    "true",
];

/// Values in JSON. `disk`, `inner` and `other` are objects of the model; `inner` is written in the called object.
const VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "5",
    "5.0",
    "1.5",
    "1e2",
    "-7",
    r#""""#,
    r#""text""#,
    r#""5""#,
    r#"" 5 ""#,
    r#""1_000""#,
    r#""1.5""#,
    r#""true""#,
    r#""disk""#,
    r#""inner""#,
    r#""other""#,
    "[]",
    "[1]",
    "[null]",
    r#"["x", 2, 3]"#,
    r#"["disk", "other"]"#,
    "{}",
    r#"{"a": 1}"#,
    r#"{"a": "x", "b": []}"#,
    r#"{"1": "x", "y": 2}"#,
    r#"{"size": 1}"#,
    r#"{"size": "x"}"#,
    r#"{"?": {"id": "new"}, "size": 1}"#,
    r#"{"?": {"id": "new", "type": "a.Disk"}, "size": "x"}"#,
    r#"{"?": {"id": "new", "type": "a.Disk"}}"#,
    r#"{"?": {"id": "new", "type": "a.Large"}, "size": null}"#,
    r#"{"?": {"id": "new", "type": "a.Other"}}"#,
];

/// What is wrong with a value, as the value of a property of the called object and as that of an argument.
fn problems_of(contract: &str, value: &str) -> [Vec<String>; 2] {
    // With the contract of the argument, the default of the property can be wrong.
    let in_model = problems_of_call(contract, contract, &format!(r#", "p": [{value}]"#), &[]);
    let argument = ("p".to_owned(), format!("[{value}]"));
    let in_argument = problems_of_call("$", contract, "", &[argument]);
    [
        in_model.into_iter().map(|it| without_object(&it)).collect(),
        in_argument,
    ]
}

/// What is wrong with a call of a function of the object `main`. The contracts are those of the items of its property `p`
/// and of the argument `p`; `property` is the value of the property, with a comma before it.
fn problems_of_call(
    of_property: &str,
    of_argument: &str,
    property: &str,
    arguments: &[(String, String)],
) -> Vec<String> {
    let class_file = format!(
        "Name: a.App\n\
         Properties:\n  p:\n    Contract:\n    - {of_property}\n    Default: []\n  disk: {{Contract: $}}\n\
         Methods:\n  use:\n    Arguments:\n    - p:\n        Contract:\n        - {of_argument}\n"
    );
    let package = (
        "a.App",
        "Classes: {a.App: App.yaml, a.Disk: Disk.yaml, a.Large: Large.yaml, a.Other: Other.yaml}\n",
        &[
            ("Classes/App.yaml", class_file.as_str()),
            (
                "Classes/Disk.yaml",
                "Name: a.Disk\nProperties: {size: {Contract: $.int().notNull()}}\n",
            ),
            ("Classes/Large.yaml", "Name: a.Large\nExtends: a.Disk\n"),
            ("Classes/Other.yaml", "Name: a.Other\n"),
        ][..],
    );
    let (packages, releases, _) = bind(&[package]);
    let class = class("a.App");
    let called = CalledFunction {
        packages: &packages,
        release: &releases[0],
        class: &class,
        function: "use",
    };
    let disk = |id: &str| format!(r#"{{"?": {{"id": "{id}", "type": "a.Disk"}}, "size": 1}}"#);
    let text = format!(
        r#"[{{"?": {{"id": "main", "type": "a.App"}}, "disk": {}{property}}}, {}, {{"?": {{"id": "other", "type": "a.Other"}}}}]"#,
        disk("inner"),
        disk("disk"),
    );
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = model.into_result().expect("the model can be read");
    let object = callable_objects(&packages, &model, &class)[0].0;
    let call = FunctionCall::new(called, Some((&model, object)), arguments);
    let findings = call.err().unwrap_or_default().into_iter();
    let errors = findings.filter(Diagnostic::is_error);
    errors.map(|finding| finding.message).collect()
}

/// A message about a property of the called object as one about an argument.
fn without_object(message: &str) -> String {
    let absent = message
        .strip_prefix("the object `main` has no ")
        .and_then(|rest| rest.split_once(", which "));
    if let Some((path, _)) = absent {
        return format!("{path} must be there");
    }
    match message.split_once(" of the object `main`") {
        Some((path, problem)) if path.starts_with("the contract") => format!("{path}{problem}"),
        Some((path, problem)) if problem.contains(" in the versions ") => {
            format!("{path}{problem}")
        }
        Some((path, problem)) => {
            let end = problem.rfind(", ").unwrap_or(problem.len());
            format!("{path}{}", &problem[..end])
        }
        None => message.to_owned(),
    }
}

#[test]
fn arguments_have_the_rules_of_values_in_models() {
    let mut wrong = 0;
    for contract in CONTRACTS {
        for value in VALUES {
            let [in_model, in_argument] = problems_of(contract, value);
            assert_eq!(in_argument, in_model, "{contract}: {value}");
            wrong += usize::from(!in_model.is_empty());
        }
    }
    let all = CONTRACTS.len() * VALUES.len();
    assert!(wrong > all / 4 && wrong < all * 3 / 4, "{wrong} of {all}");
}

#[test]
fn all_wrong_arguments_are_reported_at_once() {
    let model = "- '?': {id: one, type: a.Disk}\n  limit: null\n";
    let values = [("list", "[\"x\", 1, \"y\"]"), ("few", "[]"), ("none", "1")];
    let problem = call_problem(Some(model), &values).expect("it is wrong");
    for expected in [
        "`limit` of the object `one` must not be null",
        "`list[0]` must be an integer",
        "`list[2]` must be an integer",
        "`few` must have at least 1 item",
        "has no argument `none`",
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}
