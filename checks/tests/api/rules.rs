//! Each rule on one class.

use pkgres_checks::{ApiRule, Bump};

use crate::release::{BoundRelease, compare, shown};

/// The class `acme.App` with more keys.
fn class(body: &str) -> BoundRelease {
    let text = format!("Name: acme.App\n{body}");
    BoundRelease::new("1.0.0", &["acme.App"], &text)
}

/// The differences from the first to the second body, and back.
fn both_ways(old: &str, new: &str) -> [Vec<String>; 2] {
    let (old, new) = (class(old), class(new));
    [shown(&compare(&old, &new)), shown(&compare(&new, &old))]
}

/// The body of a class with a method.
fn method(arguments: &str) -> String {
    format!("Methods:\n  deploy:\n    Arguments: [{arguments}]\n")
}

/// The body of a class with a property.
fn property(declaration: &str) -> String {
    format!("Properties:\n  port: {{{declaration}}}\n")
}

const NONE: [&str; 0] = [];

#[test]
fn nothing_that_dependants_notice() {
    let body =
        "Methods: {deploy: {Body: [$x: 1]}}\nProperties: {p: {Contract: $.int(), Default: 1}}\n";
    let other = "Methods: {deploy: {Body: [$x: 2]}}\nProperties: {p: {Contract: !yaql ' $.int( )', Default: 2}}\n";
    assert_eq!(both_ways(body, other), [NONE, NONE]);
    let comparison = compare(&class(body), &class(other));
    assert_eq!(comparison.needed_bump(), Bump::None);
}

#[test]
fn classes() {
    let file = "Name: acme.App\n---\nName: acme.Db\n";
    let both = BoundRelease::new("1.0.0", &["acme.App", "acme.Db"], file);
    let one = BoundRelease::new("1.0.0", &["acme.App"], "Name: acme.App\n");
    assert_eq!(shown(&compare(&both, &one)), ["class-removed acme.Db"]);
    assert_eq!(shown(&compare(&one, &both)), ["class-added acme.Db"]);
    // Other packages do not see a class that is not listed.
    let hidden = BoundRelease::new("1.0.0", &["acme.App"], file);
    assert_eq!(shown(&compare(&both, &hidden)), ["class-removed acme.Db"]);
    assert_eq!(shown(&compare(&hidden, &one)), NONE);
}

#[test]
fn attachments_of_meta_classes() {
    let meta = |more: &str| format!("Usage: Meta\n{more}");
    let (changed, more) = (
        "meta-attachment-changed acme.App",
        "meta-applies-more acme.App",
    );
    assert_eq!(
        both_ways(&meta(""), &meta("Cardinality: Many\n")),
        [[changed], [changed]]
    );
    assert_eq!(
        both_ways(&meta("Inherited: false\n"), &meta("Inherited: true\n")),
        [[changed], [changed]]
    );
    assert_eq!(
        both_ways(&meta(""), &meta("Applies: [Type, Method]\n")),
        [[changed], [more]]
    );
    assert_eq!(
        both_ways(&meta("Applies: Type\n"), &meta("Applies: [Method]\n")),
        [[changed, more], [changed, more]]
    );
    assert_eq!(
        both_ways(
            &meta("Cardinality: One\nApplies: All\nInherited: no\n"),
            &meta("Applies: [Package, Type, Method, Property, Argument]\n")
        ),
        [NONE, NONE]
    );
    // Classes of objects are attached to nothing.
    assert_eq!(both_ways("", "Cardinality: Many\n"), [NONE, NONE]);
}

#[test]
fn templates_with_other_excluded_properties() {
    let template = |excluded: &str| {
        property(&format!(
            "Contract: !yaql '$.template(acme.App, excludeProperties => [{excluded}])'"
        ))
    };
    let changed = ["contract-changed acme.App port"];
    assert_eq!(
        both_ways(&template("name"), &template("")),
        [changed, changed]
    );
    assert_eq!(
        both_ways(&template("a, b"), &template("b, a")),
        [NONE, NONE]
    );
}

#[test]
fn usages_of_classes() {
    let changed = ["class-usage-changed acme.App"];
    assert_eq!(both_ways("", "Usage: Meta\n"), [changed, changed]);
    let (class, meta) = (class(""), class("Usage: Meta\n"));
    assert_eq!(compare(&class, &meta).needed_bump(), Bump::Major);
    assert_eq!(compare(&meta, &class).needed_bump(), Bump::Major);
}

#[test]
fn methods() {
    assert_eq!(
        both_ways(
            "Methods: {deploy: {}, stop: {}}\n",
            "Methods: {deploy: {}}\n"
        ),
        [
            ["method-removed acme.App stop"],
            ["method-added acme.App stop"]
        ]
    );
    let removed = ["method-removed acme.App initialize"];
    assert_eq!(
        both_ways("Methods: {initialize: {}}\n", ""),
        [removed, ["method-added acme.App initialize"]]
    );
}

#[test]
fn two_spellings_of_one_method() {
    let old = "Methods: {initialize: {}, destroy: {}}\n";
    let new = "Methods: {.init: {}, .destroy: {}}\n";
    assert_eq!(both_ways(old, new), [NONE, NONE]);
    let argument = "Methods: {.init: {Arguments: [a: {Contract: $}]}}\n";
    assert_eq!(
        both_ways("Methods: {initialize: {}}\n", argument),
        [
            ["required-argument-added acme.App initialize(a)"],
            ["argument-removed acme.App .init(a)"]
        ]
    );
}

#[test]
fn a_new_initializer_that_needs_values() {
    let initializer = |more: &str| {
        format!("Methods: {{.init: {{Arguments: [port: {{Contract: $.int(){more}}}]}}}}\n")
    };
    let needed = [
        "required-argument-added acme.App .init(port)",
        "method-added acme.App .init",
    ];
    assert_eq!(both_ways("", &initializer(""))[0], needed);
    let comparison = compare(&class(""), &class(&initializer("")));
    let witness = comparison.differences[0].witness(&"acme".parse().expect("it is a name"));
    let files = witness.expect("it is a major difference").files;
    assert!(files[1].1.contains("new(''acme.App'')"), "{files:?}");
    let added = ["method-added acme.App .init"];
    assert_eq!(both_ways("", &initializer(", Default: 1"))[0], added);
    // What creates objects has a value for the property, which the argument gets.
    let property = property("Contract: $.int().notNull()");
    let both = initializer("") + &property;
    assert_eq!(both_ways(&property, &both)[0], added);
}

#[test]
fn private_members() {
    assert_eq!(
        both_ways(
            "Methods: {_stop: {}}\nProperties: {_p: {Contract: $}}\n",
            ""
        ),
        [NONE, NONE]
    );
    // Objects cannot be created without it all the same.
    let required = "Properties: {_p: {Contract: $.notNull()}}\n";
    assert_eq!(
        both_ways("", required)[0],
        ["required-property-added acme.App _p"]
    );
}

#[test]
fn arguments_that_are_removed_and_added() {
    let (one, two) = (
        "a: {Contract: $}",
        "a: {Contract: $}, b: {Contract: $.int()}",
    );
    assert_eq!(
        both_ways(&method(two), &method(one)),
        [
            ["argument-removed acme.App deploy(b)"],
            ["required-argument-added acme.App deploy(b)"]
        ]
    );
    let with_default = "a: {Contract: $}, b: {Contract: $.int(), Default: 1}";
    assert_eq!(
        both_ways(&method(with_default), &method(one)),
        [
            ["argument-removed acme.App deploy(b)"],
            ["optional-argument-added acme.App deploy(b)"]
        ]
    );
    let comparison = compare(&class(&method(one)), &class(&method(with_default)));
    assert_eq!(comparison.needed_bump(), Bump::Patch);
}

/// Not every call of a method with very many arguments is tried, and one that breaks is enough.
#[test]
fn a_required_argument_of_many_breaks_calls() {
    let arguments = |count: usize| -> String {
        let arguments = (0..count).map(|at| format!("a{at}: {{Contract: $}}"));
        arguments.collect::<Vec<_>>().join(", ")
    };
    let (old, new) = (
        class(&method(&arguments(120))),
        class(&method(&arguments(122))),
    );
    assert_eq!(compare(&old, &new).needed_bump(), Bump::Major);
    let rules: Vec<String> =
        both_ways(&method(&arguments(120)), &method(&arguments(122)))[0].clone();
    assert_eq!(
        rules,
        [
            "required-argument-added acme.App deploy(a120)",
            "arguments-changed acme.App deploy(a121)"
        ]
    );
}

#[test]
fn arguments_with_another_name() {
    let renamed = |from: &str| vec![format!("argument-renamed acme.App deploy({from})")];
    let (a, b) = (
        method("a: {Contract: $.int()}"),
        method("b: {Contract: $.int()}"),
    );
    assert_eq!(both_ways(&a, &b), [renamed("a"), renamed("b")]);
    // With another contract it is another argument.
    let other = method("b: {Contract: $.string()}");
    let expected = |removed: &str, added: &str| {
        vec![
            format!("argument-removed acme.App deploy({removed})"),
            format!("required-argument-added acme.App deploy({added})"),
        ]
    };
    assert_eq!(
        both_ways(&a, &other),
        [expected("a", "b"), expected("b", "a")]
    );
}

#[test]
fn defaults_of_arguments() {
    assert_eq!(
        both_ways(
            &method("a: {Contract: $, Default: 1}"),
            &method("a: {Contract: $}")
        ),
        [
            ["argument-became-required acme.App deploy(a)"],
            ["default-added acme.App deploy(a)"]
        ]
    );
}

#[test]
fn positions_of_arguments() {
    let (ab, ba) = (
        "a: {Contract: $}, b: {Contract: $}",
        "b: {Contract: $}, a: {Contract: $}",
    );
    let moved = |which: &str| vec![format!("argument-moved acme.App deploy({which})")];
    assert_eq!(
        both_ways(&method(ab), &method(ba)),
        [moved("a"), moved("b")]
    );
    // A call by position lacks `b`.
    let inserted = "a: {Contract: $}, c: {Contract: $, Default: 1}, b: {Contract: $}";
    assert_eq!(
        both_ways(&method(ab), &method(inserted))[0],
        [
            "argument-moved acme.App deploy(b)",
            "optional-argument-added acme.App deploy(c)"
        ]
    );
    // Every call fits, but may mean something else.
    let (old, new) = (
        "a: {Contract: $}, b: {Contract: $, Default: 1}",
        "a: {Contract: $}, c: {Contract: $, Default: 1}, b: {Contract: $, Default: 1}",
    );
    assert_eq!(
        both_ways(&method(old), &method(new))[0],
        [
            "arguments-changed acme.App deploy(b)",
            "optional-argument-added acme.App deploy(c)"
        ]
    );
}

#[test]
fn arguments_for_all_others() {
    let all = "all: {Contract: $, Usage: VarArgs}";
    assert_eq!(
        both_ways(&method(all), &method("")),
        [
            ["argument-removed acme.App deploy(all)"],
            ["optional-argument-added acme.App deploy(all)"]
        ]
    );
    // It takes what the removed argument took by name, but not by position.
    let (old, new) = ("a: {Contract: $}", "all: {Contract: $, Usage: KwArgs}");
    assert_eq!(
        both_ways(&method(old), &method(new))[0],
        [
            "argument-removed acme.App deploy(a)",
            "optional-argument-added acme.App deploy(all)"
        ]
    );
    let new = "some: {Contract: $, Usage: VarArgs}, all: {Contract: $, Usage: KwArgs}";
    assert_eq!(
        both_ways(&method(old), &method(new))[0],
        [
            "arguments-changed acme.App deploy(a)",
            "optional-argument-added acme.App deploy(all)",
            "optional-argument-added acme.App deploy(some)",
        ]
    );
}

#[test]
fn arguments_that_take_what_went_to_one_for_all_others() {
    for all in ["VarArgs", "KwArgs"] {
        let all = format!("all: {{Contract: $, Usage: {all}}}");
        let old = method(&format!("a: {{Contract: $}}, {all}"));
        let new = method(&format!(
            "a: {{Contract: $}}, level: {{Contract: $, Default: x}}, {all}"
        ));
        let [forth, back] = both_ways(&old, &new);
        assert_eq!(forth, ["arguments-changed acme.App deploy(level)"]);
        assert_eq!(back, ["argument-removed acme.App deploy(level)"]);
        // Its name means nothing to callers.
        let renamed = old.replace("all:", "rest:");
        assert_eq!(both_ways(&old, &renamed), [NONE, NONE]);
        let other = renamed.replace("$, Usage", "$.int(), Usage");
        let changed = ["contract-changed acme.App deploy(all)"];
        assert_eq!(both_ways(&old, &other)[0], changed);
    }
}

#[test]
fn contracts() {
    let changed = "contract-changed acme.App";
    let of_argument = [format!("{changed} deploy(a)")];
    assert_eq!(
        both_ways(
            &method("a: {Contract: $.int()}"),
            &method("a: {Contract: $.string()}")
        ),
        [of_argument.clone(), of_argument]
    );
    let of_property = [format!("{changed} port")];
    let (old, new) = (
        property("Contract: $.int()"),
        property("Contract: $.int().notNull()"),
    );
    assert_eq!(both_ways(&old, &new), [of_property.clone(), of_property]);
    assert_eq!(
        compare(&class(&old), &class(&new)).needed_bump(),
        Bump::Patch
    );
}

#[test]
fn usages_of_methods() {
    let changed = ["method-usage-changed acme.App deploy"];
    let with = |key: &str| format!("Methods: {{deploy: {{{key}}}}}\n");
    assert_eq!(
        both_ways(&with(""), &with("Usage: Static")),
        [changed, changed]
    );
    assert_eq!(both_ways(&with("Usage: Runtime"), &with("")), [NONE, NONE]);
    assert_eq!(
        both_ways(&with("Scope: Public"), &with("")),
        [changed, changed]
    );
}

#[test]
fn properties() {
    let optional = property("Contract: $.int()");
    assert_eq!(
        both_ways(&optional, ""),
        [
            ["property-removed acme.App port"],
            ["property-added acme.App port"]
        ]
    );
    for declaration in [
        "Contract: $.int().notNull(), Default: 1",
        "Contract: $.int().notNull(), Usage: Out",
        "Contract: $.int().notNull(), Usage: Runtime",
        "Contract: [$.int()]",
        "Contract: {$.string(): $.int()}",
    ] {
        let added = &both_ways("", &property(declaration))[0];
        assert_eq!(*added, ["property-added acme.App port"], "{declaration}");
    }
}

#[test]
fn properties_that_need_values() {
    let with = |more: &str| property(&format!("Contract: $.int().notNull(){more}"));
    assert_eq!(
        both_ways("", &with("")),
        [
            ["required-property-added acme.App port"],
            ["property-removed acme.App port"]
        ]
    );
    assert_eq!(
        both_ways("", &with(", Usage: InOut"))[0],
        ["required-property-added acme.App port"]
    );
    assert_eq!(
        both_ways(&with(", Default: 1"), &with("")),
        [
            ["property-became-required acme.App port"],
            ["default-added acme.App port"]
        ]
    );
    assert_eq!(
        both_ways(&with(", Usage: Out"), &with(""))[0],
        [
            "property-became-required acme.App port",
            "property-usage-changed acme.App port"
        ]
    );
    let list = property("Contract: [$.int(), 1]");
    assert_eq!(
        both_ways("", &list)[0],
        ["required-property-added acme.App port"]
    );
    let undecidable = property("Contract: $.check($ > 1)");
    assert_eq!(
        both_ways("", &undecidable)[0],
        ["property-perhaps-required acme.App port"]
    );
}

#[test]
fn defaults_of_properties_that_need_no_value() {
    let changed = ["property-default-changed acme.App port"];
    for contract in ["$.int()", "$.check($ > 1)", "[$.int()]"] {
        let contract = format!("Contract: {contract}");
        let with = |default: &str| property(&format!("{contract}, Default: {default}"));
        let without = property(&contract);
        assert_eq!(
            both_ways(&with("[5]"), &without),
            [changed, changed],
            "{contract}"
        );
        assert_eq!(
            both_ways(&with("null"), &without),
            [NONE, NONE],
            "{contract}"
        );
    }
    let list = property("Contract: [$.int()], Default: []");
    assert_eq!(
        both_ways(&list, &property("Contract: [$.int()]")),
        [NONE, NONE]
    );
}

#[test]
fn every_rule_is_tested_here_or_with_inheritance() {
    let tests = [include_str!("rules.rs"), include_str!("inheritance.rs")].concat();
    for rule in ApiRule::ALL {
        assert!(tests.contains(&format!("\"{rule} ")), "{rule}");
        assert_eq!(ApiRule::with_id(rule.id()), Some(*rule));
    }
    let impacts = ApiRule::ALL.iter().map(|rule| rule.impact());
    assert!(impacts.is_sorted_by(|one, two| one >= two));
}
