//! Calls by a host: errors with types, defaults, warnings, and checked values.

use pkgres_checks::{Answer, CallError, CallWarning, ClassStubs, Strictness};
use pkgres_manifest::Facts;
use serde_json::{Value, json};

use crate::packages::{Text, bind, conformance_of_last, facts};

/// The stubs of a class for a platform, and whether each call ran.
fn with_stubs(
    version: &str,
    platform: &str,
    strictness: Strictness,
    check: impl FnOnce(&dyn Fn(&str, Value) -> (Result<Answer, CallError<String>>, bool), &ClassStubs),
) {
    let interface = Text::new("org.example.iface", version).interfaces(&[(
        "org.example.iface.Service",
        "Functions:\n\
         \x20 start: {Returns: {type: object, required: [enabled], properties: {enabled: {type: boolean}}}}\n\
         \x20 stop: {}\n\
         \x20 freeze: {Supported: {os: BeOS}}\n\
         \x20 foo: {NotApplicable: {os: [Windows, NetBSD]}, Returns: {type: object, required: [names], properties: {names: {type: array}}}}\n\
         \x20 bar: {NotApplicable: {os: Windows}, Returns: {default: none}}\n\
         \x20 least: {NotApplicable: {os: Windows}, Returns: {type: integer, minimum: 3, multipleOf: 2}}\n\
         \x20 most: {NotApplicable: {os: Windows}, Returns: {type: number, maximum: -0.5}}\n\
         \x20 items: {NotApplicable: {os: Windows}, Returns: {type: array, minItems: 2, items: {$ref: '#/$defs/x'}, $defs: {x: {anyOf: [{type: string}, {type: integer}]}}}}\n\
         \x20 rest: {NotApplicable: {os: Windows}, Returns: {required: [a], additionalProperties: {type: integer}}}\n\
         \x20 loop: {NotApplicable: {os: Windows}, Returns: {type: object, required: [a, b, c], additionalProperties: {$ref: '#'}}}\n\
         \x20 huge: {NotApplicable: {os: Windows}, Returns: {type: array, minItems: 900, items: {required: [a, b, c, d, e, f, g, h]}}}\n\
         \x20 opaque: {NotApplicable: {os: Windows}, Returns: {type: string, pattern: '^a'}}\n\
         \x20 wrong: {NotApplicable: {os: Windows}, Returns: {type: string, default: 3}}\n\
         \x20 hold: {Deprecated: {since: 1.2, removed_in: 2.0, successor: start}}\n\
         \x20 clash: {NotApplicable: {os: Windows}}\n\
         \x20 other: {Arguments: [name: {}]}\n",
    )]);
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", version)
        .classes(&[(
            "org.example.Module",
            "Methods: {start: {}, hold: {}, clash: {}, extra: {}, other: {}}\n",
        )])
        .implements("org.example.Module", &["org.example.iface.Service"]);
    let (packages, releases) = bind(&[interface, module]);
    let classes = conformance_of_last(&packages, &releases);
    let platform: Facts = facts(platform);
    let stubs = ClassStubs::new(&classes[0], &platform, strictness);
    let call = |function: &str, value: Value| {
        let mut has_run = false;
        let result = stubs.call(function, || {
            has_run = true;
            if value == json!("fail") {
                Err("the function failed".to_owned())
            } else {
                Ok(value)
            }
        });
        (result, has_run)
    };
    check(&call, &stubs);
}

#[test]
fn missing_functions_are_errors_with_types() {
    with_stubs("1.2.0", "os=Debian", Strictness::Fail, |call, stubs| {
        let (result, has_run) = call("stop", json!(1));
        let error = result.expect_err("it is missing");
        assert!(matches!(error, CallError::NotImplemented { .. }) && !has_run);
        assert_eq!(
            error.to_string(),
            "`org.example.Module` does not implement `stop` of `org.example.iface.Service`"
        );
        let (result, has_run) = call("freeze", json!(1));
        let error = result.expect_err("it is not supported");
        assert!(matches!(error, CallError::NotSupported { .. }) && !has_run);
        assert_eq!(
            error.to_string(),
            "`org.example.iface.Service` does not support `freeze` on this platform (os=debian)"
        );
        let (result, _) = call("nothing", json!(1));
        assert!(matches!(result, Err(CallError::Unknown { .. })));
        assert!(stubs.capability("nothing").is_none());
        let (result, has_run) = call("start", json!("fail"));
        let error = result.expect_err("it fails");
        assert_eq!(error, CallError::Failed("the function failed".to_owned()));
        assert!(has_run);
    });
}

#[test]
fn what_makes_no_sense_returns_its_default() {
    with_stubs("1.2.0", "os=windows", Strictness::Fail, |call, _| {
        let defaults = [
            ("foo", json!({"names": []})),
            ("bar", json!("none")),
            ("least", json!(4)),
            ("most", json!(-0.5)),
            ("items", json!(["", ""])),
            ("rest", json!({"a": 0})),
        ];
        for (function, default) in defaults {
            let (result, has_run) = call(function, json!(1));
            let answer = result.expect("it does not apply");
            assert_eq!(answer.value, default);
            assert!(answer.is_default && answer.warnings.is_empty() && !has_run);
        }
        let (result, has_run) = call("clash", json!(1));
        assert!(matches!(result, Err(CallError::Conflict { .. })) && !has_run);
        // Without a valid default, only this function cannot be called.
        for (function, problem) in [
            ("loop", "no value can be derived"),
            ("huge", "no value can be derived"),
            ("opaque", "no value can be derived"),
            ("wrong", "does not allow its own `default`"),
        ] {
            let (result, has_run) = call(function, json!(1));
            let error = result.expect_err("it has no default");
            assert!(matches!(error, CallError::Interface(_)) && !has_run);
            assert!(error.to_string().contains(problem), "{error}");
        }
    });
}

#[test]
fn deprecated_functions_warn_until_they_are_removed() {
    with_stubs("1.2.0", "os=Debian", Strictness::Fail, |call, _| {
        let (result, has_run) = call("hold", json!(1));
        let answer = result.expect("it is still there");
        assert!(has_run && answer.value == json!(1));
        let warnings: Vec<String> = answer.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, ["`hold` is deprecated; call `start` instead"]);
        let (result, _) = call("extra", json!(2));
        let answer = result.expect("the class has it");
        assert!(matches!(
            answer.warnings.as_slice(),
            [CallWarning::Deprecated { .. }]
        ));
        let (result, _) = call("other", json!(2));
        let answer = result.expect("the class has it");
        assert!(matches!(
            answer.warnings.as_slice(),
            [CallWarning::Signature { .. }]
        ));
    });
    with_stubs("2.0.0", "os=Debian", Strictness::Warn, |call, _| {
        let (result, has_run) = call("hold", json!(1));
        let error = result.expect_err("it is removed");
        assert!(!has_run);
        assert_eq!(
            error.to_string(),
            "`org.example.iface.Service` removed `hold` in 2.0.0"
        );
    });
}

#[test]
fn returned_values_are_checked_against_the_least_that_is_promised() {
    with_stubs("1.2.0", "os=Debian", Strictness::Fail, |call, _| {
        // More than is promised is fine.
        let (result, _) = call("start", json!({"enabled": true, "since": 12}));
        assert!(result.expect("it is valid").warnings.is_empty());
        for (value, expected) in [
            (
                json!({"disabled": false}),
                r#"the value: "enabled" is a required property"#,
            ),
            (
                json!({"enabled": 1}),
                r#"/enabled: 1 is not of type "boolean""#,
            ),
            (json!([]), r#"the value: [] is not of type "object""#),
        ] {
            let (result, _) = call("start", value);
            let error = result.expect_err("it is wrong").to_string();
            let prefix =
                "`start` of `org.example.Module` returned what its interface does not allow: ";
            assert_eq!(error, format!("{prefix}{expected}"));
        }
        let (result, _) = call("clash", json!(["anything"]));
        assert!(result.is_ok(), "without a schema everything is valid");
    });
    with_stubs("1.2.0", "os=Debian", Strictness::Warn, |call, _| {
        let (result, _) = call("start", json!({"disabled": false}));
        let answer = result.expect("production goes on");
        assert_eq!(answer.value, json!({"disabled": false}));
        assert!(matches!(
            answer.warnings.as_slice(),
            [CallWarning::Returned { .. }]
        ));
    });
}
