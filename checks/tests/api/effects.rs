//! What another version of a required package changes for the classes of a package.

use pkgres_checks::update_effects;

use crate::release::BoundRelease;

/// The package `acme.App`, bound to a version of `acme.Lib` whose classes are in one file.
fn app(class_file: &str, version: &str, lib: &str) -> BoundRelease {
    let mut manifest = format!("Type: Library\nFullName: acme.Lib\nVersion: {version}\nClasses:\n");
    for line in lib.lines() {
        if let Some(class) = line.strip_prefix("Name: ") {
            manifest.push_str(&format!("  {class}: Lib.yaml\n"));
        }
    }
    BoundRelease::new("1.0.0", &["acme.App"], class_file).bound_to(&manifest, lib)
}

/// The effects on an application, as `impact rule member(argument): class reliance line,line`.
fn effects(class_file: &str, old: &str, new: &str) -> Vec<String> {
    let (old, new) = (app(class_file, "1.0.0", old), app(class_file, "2.0.0", new));
    let found = update_effects(old.api().release, old.api().packages, new.api().packages);
    let line = |effect: pkgres_checks::UpdateEffect| {
        let difference = &effect.difference;
        let mut text = format!("{} {}", effect.impact, difference.rule);
        text.extend(difference.member.iter().map(|member| format!(" {member}")));
        text.extend(difference.argument.iter().map(|it| format!("({it})")));
        let places = effect.places.iter();
        let lines: Vec<String> = places.map(|it| it.position().line.to_string()).collect();
        text + &format!(
            ": {} {} {}",
            effect.class,
            effect.reliance.id(),
            lines.join(",")
        )
    };
    found.into_iter().map(line).collect()
}

/// An application that extends `acme.Lib`, with more lines from the third on.
fn extending(body: &str) -> String {
    format!("Name: acme.App\nExtends: acme.Lib\n{body}")
}

/// A class `acme.Lib` with members.
fn lib(members: &str) -> String {
    format!("Name: acme.Lib\n{members}")
}

const CALLS_STOP: &str = "Methods:\n  run:\n    Body:\n    - $this.stop()\n    - $this.stop()\n";
const NONE: [&str; 0] = [];

#[test]
fn a_method_that_is_gone_concerns_those_who_call_or_declare_it() {
    let (with, without) = (
        lib("Methods: {stop: {}, start: {}}\n"),
        lib("Methods: {start: {}}\n"),
    );
    let calls = extending(CALLS_STOP);
    assert_eq!(
        effects(&calls, &with, &without),
        ["major method-removed stop: acme.App calls 6,7"]
    );
    let declares = extending("Methods:\n  stop: {}\n");
    assert_eq!(
        effects(&declares, &with, &without),
        ["review method-removed stop: acme.App declares 4"]
    );
    // The other way round, the class overrides by accident what it did not know.
    assert_eq!(
        effects(&declares, &without, &with),
        ["review method-added stop: acme.App declares 4"]
    );
    assert_eq!(effects(&calls, &without, &with), NONE);
    let neither = extending("Methods:\n  run:\n    Body: $this.start()\n");
    assert_eq!(effects(&neither, &with, &without), NONE);
}

#[test]
fn a_declaration_in_between_hides_what_is_behind_it() {
    let file = format!(
        "Name: acme.App\nExtends: acme.Base\n{CALLS_STOP}---\nName: acme.Base\nExtends: acme.Lib\nMethods: {{stop: {{}}}}\n"
    );
    let (with, without) = (lib("Methods: {stop: {}}\n"), lib(""));
    assert_eq!(
        effects(&file, &with, &without),
        ["review method-removed stop: acme.Base declares 11"]
    );
}

#[test]
fn a_new_initializer_concerns_those_who_create_objects() {
    let new = lib("Methods: {.init: {Arguments: [port: {Contract: $.int()}]}}\n");
    let creates = |values: &str| {
        format!("Name: acme.App\nMethods:\n  run:\n    Body:\n    - $x: new(acme.Lib{values})\n")
    };
    assert_eq!(
        effects(&creates(""), &lib(""), &new),
        ["major required-argument-added .init(port): acme.App creates 5"]
    );
    let (all, taken) = (
        "Methods: {stop: {Arguments: [all: {Contract: $, Usage: KwArgs}]}}\n",
        "Methods: {stop: {Arguments: [now: {Contract: $, Default: 1}, all: {Contract: $, Usage: KwArgs}]}}\n",
    );
    let calls =
        |call: &str| extending(&format!("Methods:\n  run:\n    Body: $this.stop({call})\n"));
    assert_eq!(
        effects(&calls("now => 1"), &lib(all), &lib(taken)),
        ["review arguments-changed stop(now): acme.App calls 5"]
    );
    assert_eq!(effects(&calls("then => 1"), &lib(all), &lib(taken)), NONE);
}

#[test]
fn arguments_concern_calls_that_fail_with_them() {
    let method = |arguments: &str| {
        lib(&format!(
            "Methods: {{stop: {{Arguments: [{arguments}]}}}}\n"
        ))
    };
    let call = |call: &str| extending(&format!("Methods:\n  run:\n    Body:\n    - {call}\n"));
    let optional = method("force: {Contract: $.bool(), Default: false}");
    let required = method("force: {Contract: $.bool()}");
    let none = method("");
    for (written, expected) in [
        ("$this.stop()", vec![]),
        (
            "$this.stop(force => true)",
            vec!["major argument-removed stop(force): acme.App calls 6"],
        ),
        (
            "$this.stop(true)",
            vec!["major argument-removed stop(force): acme.App calls 6"],
        ),
    ] {
        assert_eq!(
            effects(&call(written), &optional, &none),
            expected,
            "{written}"
        );
    }
    assert_eq!(
        effects(&call("$this.stop()"), &optional, &required),
        ["major argument-became-required stop(force): acme.App calls 6"]
    );
    assert_eq!(
        effects(&call("$this.stop(true)"), &optional, &required),
        NONE
    );
    assert_eq!(
        effects(&call("$this.stop()"), &none, &required),
        ["major required-argument-added stop(force): acme.App calls 6"]
    );
    // A call that is wrong with the old version is no effect of the update.
    assert_eq!(effects(&call("$this.stop(1, 2)"), &optional, &none), NONE);
}

#[test]
fn arguments_by_position_that_mean_others_are_to_review() {
    let method = |arguments: &str| {
        lib(&format!(
            "Methods: {{stop: {{Arguments: [{arguments}]}}}}\n"
        ))
    };
    let one = "a: {Contract: $, Default: 1}";
    let other = "b: {Contract: $, Default: 1}";
    let (old, new) = (
        method(&format!("{one}, {other}")),
        method(&format!("{other}, {one}")),
    );
    let call = |call: &str| extending(&format!("Methods:\n  run:\n    Body:\n    - {call}\n"));
    assert_eq!(effects(&call("$this.stop(a => 1)"), &old, &new), NONE);
    let found = effects(&call("$this.stop(1)"), &old, &new);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("review argument"), "{found:?}");
}

#[test]
fn arguments_concern_declarations_that_new_calls_fail_with() {
    let method = |arguments: &str| format!("Methods: {{stop: {{Arguments: [{arguments}]}}}}\n");
    let optional = "force: {Contract: $.bool(), Default: false}";
    let (with, without) = (lib(&method(optional)), lib(&method("")));
    let plain = extending("Methods:\n  stop: {}\n");
    assert_eq!(
        effects(&plain, &without, &with),
        ["review optional-argument-added stop(force): acme.App declares 4"]
    );
    assert_eq!(effects(&plain, &with, &without), NONE);
    let own = extending(&method(optional));
    assert_eq!(effects(&own, &without, &with), NONE);
}

#[test]
fn usages_and_contracts() {
    let (old, new) = (
        lib(
            "Methods: {stop: {Arguments: [a: {Contract: $.int()}]}}\nProperties: {port: {Contract: $.int()}}\n",
        ),
        lib(
            "Methods: {stop: {Usage: Static, Arguments: [a: {Contract: $.string()}]}}\nProperties: {port: {Contract: $.string(), Usage: Out}}\n",
        ),
    );
    let uses = extending("Methods:\n  run:\n    Body:\n    - $this.stop($this.port)\n");
    assert_eq!(
        effects(&uses, &old, &new),
        [
            "review method-usage-changed stop: acme.App calls 6",
            "review contract-changed stop(a): acme.App calls 6",
            "review property-usage-changed port: acme.App uses 6",
            "review contract-changed port: acme.App uses 6",
        ]
    );
    let declares = extending(
        "Methods:\n  stop:\n    Usage: Static\n    Arguments:\n    - a: {Contract: $.string()}\nProperties:\n  port: {Contract: $.int()}\n",
    );
    // What is declared as in the new version already is no difference.
    assert_eq!(
        effects(&declares, &old, &new),
        [
            "review property-usage-changed port: acme.App declares 9",
            "review contract-changed port: acme.App declares 9",
        ]
    );
}

#[test]
fn properties_that_objects_need() {
    let (old, new) = (
        lib(""),
        lib("Properties: {port: {Contract: $.int().notNull()}}\n"),
    );
    assert_eq!(
        effects(&extending(""), &old, &new),
        ["major required-property-added port: acme.App inherits 1"]
    );
    let own = extending("Properties:\n  port: {Contract: $.int(), Default: 80}\n");
    assert_eq!(
        effects(&own, &old, &new),
        ["review required-property-added port: acme.App declares 4"]
    );
    let creates = |values: &str| {
        format!("Name: acme.App\nMethods:\n  run:\n    Body:\n    - new('acme.Lib'{values})\n")
    };
    assert_eq!(
        effects(&creates(""), &old, &new),
        ["major required-property-added port: acme.App creates 5"]
    );
    assert_eq!(effects(&creates(", port => 1"), &new, &new), NONE);
    assert_eq!(
        effects(&creates(", port => 1"), &new, &old),
        ["major property-removed port: acme.App creates 5"]
    );
}

#[test]
fn arguments_of_initializers() {
    let (old, new) = (
        lib("Methods: {initialize: {Arguments: [a: {Contract: $}]}}\n"),
        lib("Methods: {.init: {Arguments: [a: {Contract: $}, b: {Contract: $}]}}\n"),
    );
    let creates = "Name: acme.App\nMethods:\n  run:\n    Body:\n    - new('acme.Lib', a => 1)\n";
    assert_eq!(
        effects(creates, &old, &new),
        ["major required-argument-added initialize(b): acme.App creates 5"]
    );
}

#[test]
fn classes_that_are_gone_or_of_another_kind() {
    let both = "Name: acme.Lib\n---\nName: acme.Other\n";
    let uses = "Name: acme.App\nExtends: acme.Other\nMethods:\n  run:\n    Body: new('acme.Lib')\n";
    assert_eq!(
        effects(uses, both, "Name: acme.Lib\n"),
        ["major class-removed: acme.App extends 2"]
    );
    assert_eq!(
        effects(uses, both, "Name: acme.Other\n"),
        ["major class-removed: acme.App names 5"]
    );
    assert_eq!(
        effects(
            uses,
            both,
            "Name: acme.Lib\n---\nName: acme.Other\nUsage: Meta\n"
        ),
        ["major class-usage-changed: acme.App extends 2"]
    );
}

#[test]
fn a_member_of_a_lost_ancestor_is_no_longer_inherited() {
    let file = "Name: acme.Lib\nExtends: acme.Base\n---\nName: acme.Base\nMethods: {stop: {}}\n";
    let apart = "Name: acme.Lib\n---\nName: acme.Base\nMethods: {stop: {}}\n";
    let class = extending(CALLS_STOP);
    let (old, new) = (app(&class, "1.0.0", file), app(&class, "2.0.0", apart));
    let found = update_effects(old.api().release, old.api().packages, new.api().packages);
    let messages: Vec<&str> = found
        .iter()
        .map(|it| it.difference.message.as_str())
        .collect();
    assert_eq!(
        messages,
        ["`acme.App` no longer inherits the method `stop` of `acme.Base`"]
    );
    assert!(found[0].difference.new.is_none());
}
