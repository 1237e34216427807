//! Effective members: those of ancestors count.

use crate::release::{BoundRelease, compare, shown};

const NONE: [&str; 0] = [];

/// The classes `acme.App`, `acme.Base` and `acme.Top` of one file; `acme.Top` is not listed.
fn release(file: &str) -> BoundRelease {
    BoundRelease::new("1.0.0", &["acme.App", "acme.Base"], file)
}

#[test]
fn members_that_move_to_an_ancestor() {
    let low = release(
        "Name: acme.App\nExtends: acme.Base\nMethods: {stop: {}}\nProperties: {p: {Contract: $}}\n\
         ---\nName: acme.Base\n",
    );
    let high = release(
        "Name: acme.App\nExtends: acme.Base\n\
         ---\nName: acme.Base\nMethods: {stop: {}}\nProperties: {p: {Contract: $}}\n",
    );
    assert_eq!(
        shown(&compare(&low, &high)),
        ["property-added acme.Base p", "method-added acme.Base stop"]
            .map(str::to_owned)
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
    assert_eq!(
        shown(&compare(&high, &low)),
        [
            "method-removed acme.Base stop",
            "property-removed acme.Base p"
        ]
    );
}

#[test]
fn a_difference_is_reported_once_with_its_inheritors() {
    let with = |members: &str| {
        release(&format!(
            "Name: acme.App\nExtends: acme.Base\n---\nName: acme.Base\n{members}"
        ))
    };
    assert_eq!(
        shown(&compare(&with("Methods: {stop: {}}\n"), &with(""))),
        ["method-removed acme.Base stop, acme.App"]
    );
    let required = with("Properties: {p: {Contract: $.notNull()}}\n");
    assert_eq!(
        shown(&compare(&with(""), &required)),
        ["required-property-added acme.Base p, acme.App"]
    );
}

#[test]
fn members_of_a_class_that_others_do_not_see() {
    let with = |members: &str| {
        release(&format!(
            "Name: acme.App\nExtends: acme.Top\n---\nName: acme.Base\n---\nName: acme.Top\n{members}"
        ))
    };
    let found = shown(&compare(&with("Methods: {stop: {}}\n"), &with("")));
    assert_eq!(found, ["method-removed acme.Top stop, acme.App"]);
}

#[test]
fn a_parent_that_is_lost() {
    let file = |parent: &str| {
        release(&format!(
            "Name: acme.App\n{parent}---\nName: acme.Base\nMethods: {{stop: {{}}}}\n"
        ))
    };
    let (with, without) = (file("Extends: acme.Base\n"), file(""));
    let comparison = compare(&with, &without);
    assert_eq!(
        shown(&comparison),
        [
            "method-removed acme.App stop",
            "ancestor-lost acme.App",
            "extends-changed acme.App"
        ]
    );
    let messages = comparison.differences.iter().map(|it| it.message.as_str());
    assert_eq!(
        messages.collect::<Vec<_>>(),
        [
            "`acme.App` no longer inherits the method `stop` of `acme.Base`",
            "`acme.App` no longer inherits from `acme.Base`",
            "`acme.App` extends nothing instead of `acme.Base`",
        ]
    );
    let found = shown(&compare(&without, &with));
    assert_eq!(
        found,
        [
            "extends-changed acme.App",
            "method-added acme.Base stop, acme.App"
        ]
    );
}

#[test]
fn a_class_without_a_parent_extends_the_root_class() {
    let file = |parent: &str| {
        let text = format!("Name: acme.App\n{parent}---\nName: acme.Base\n");
        BoundRelease::new("1.0.0", &["acme.App", "acme.Base"], &text)
            .with_root_class("io.murano.Object")
    };
    let same = [
        "",
        "Extends: []\n",
        "Extends: io.murano.Object\n",
        "Extends: [io.murano.Object]\n",
    ];
    for (old, new) in same.iter().flat_map(|old| same.map(|new| (*old, new))) {
        assert_eq!(
            shown(&compare(&file(old), &file(new))),
            [""; 0],
            "{old}{new}"
        );
    }
    let comparison = compare(&file(""), &file("Extends: acme.Base\n"));
    let messages = comparison.differences.iter().map(|it| it.message.as_str());
    assert_eq!(
        messages.collect::<Vec<_>>(),
        ["`acme.App` extends `acme.Base` instead of `io.murano.Object`"]
    );
    // The order of parents decides which method a class inherits.
    let both = file("Extends: [io.murano.Object, acme.Base]\n");
    let found = shown(&compare(&both, &file("Extends: acme.Base\n")));
    assert_eq!(found, ["extends-changed acme.App"]);
}

#[test]
fn a_grandparent_that_is_lost() {
    let file = |parent: &str| {
        BoundRelease::new(
            "1.0.0",
            &["acme.App", "acme.Base", "acme.Top"],
            &format!(
                "Name: acme.App\nExtends: acme.Base\n---\nName: acme.Base\n{parent}---\nName: acme.Top\n\
                 Properties: {{p: {{Contract: $}}}}\n"
            ),
        )
    };
    let (with, without) = (file("Extends: acme.Top\n"), file(""));
    // `acme.Base` is the one that lost it.
    assert_eq!(
        shown(&compare(&with, &without)),
        [
            "property-removed acme.Base p, acme.App",
            "ancestor-lost acme.Base, acme.App",
            "extends-changed acme.Base"
        ]
    );
}

#[test]
fn ancestors_that_nobody_else_can_name() {
    let file = |classes: &[&str], parent: &str| {
        let text = format!("Name: acme.App\n{parent}---\nName: acme.Top\n");
        BoundRelease::new("1.0.0", classes, &text)
    };
    let private = ["acme.App"];
    assert_eq!(
        shown(&compare(
            &file(&private, "Extends: acme.Top\n"),
            &file(&private, "")
        )),
        ["extends-changed acme.App"]
    );
    let listed = file(&["acme.App", "acme.Top"], "Extends: acme.Top\n");
    assert_eq!(
        shown(&compare(&listed, &file(&private, ""))),
        ["class-removed acme.Top", "extends-changed acme.App"]
    );
    // An ancestor that is unknown may have the other one.
    let unknown = file(&["acme.App", "acme.Top"], "Extends: other.Class\n");
    let comparison = compare(&listed, &unknown);
    assert_eq!(
        shown(&comparison),
        ["ancestor-lost acme.App", "extends-changed acme.App"]
    );
    assert_eq!(
        comparison.differences[0].message,
        "`acme.App` may no longer inherit from `acme.Top`"
    );
}

#[test]
fn an_override_that_is_removed() {
    let file = |own: &str| {
        release(&format!(
            "Name: acme.App\nExtends: acme.Base\n{own}---\nName: acme.Base\n\
             Methods: {{stop: {{Arguments: [force: {{Contract: $}}]}}}}\n"
        ))
    };
    let own = file("Methods: {stop: {Arguments: [force: {Contract: $, Default: 1}]}}\n");
    assert_eq!(
        shown(&compare(&own, &file(""))),
        ["argument-became-required acme.App stop(force)"]
    );
}

#[test]
fn parents_in_other_packages() {
    let base = |version: &str, body: &str| {
        let manifest = format!(
            "Type: Library\nFullName: acme.Lib\nVersion: {version}\nClasses: {{acme.lib.Server: Server.yaml}}\n"
        );
        let class = format!("Name: acme.lib.Server\n{body}");
        BoundRelease::new(
            "1.0.0",
            &["acme.App"],
            "Name: acme.App\nExtends: acme.lib.Server\n",
        )
        .bound_to(&manifest, &class)
    };
    let old = base("1.0.0", "Methods: {stop: {}}\n");
    let new = base("2.0.0", "");
    // The package itself is unchanged, and its version alone would say that nothing happened.
    assert_eq!(
        shown(&compare(&old, &new)),
        ["method-removed acme.App stop"]
    );
    assert_eq!(
        shown(&compare(&old, &base("1.1.0", "Methods: {stop: {}}\n"))),
        NONE
    );
}

#[test]
fn ancestors_that_are_not_available() {
    let file = |methods: &str| {
        let text = format!("Name: acme.App\nExtends: acme.lib.Server\n{methods}");
        BoundRelease::new("1.0.0", &["acme.App"], &text)
    };
    let comparison = compare(&file("Methods: {stop: {}}\n"), &file(""));
    assert_eq!(shown(&comparison), ["member-perhaps-removed acme.App stop"]);
    let unknown: Vec<&str> = comparison
        .unknown_ancestors
        .iter()
        .map(pkgres_manifest::ClassName::as_str)
        .collect();
    assert_eq!(unknown, ["acme.lib.Server"]);
}
