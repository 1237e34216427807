//! Shapes of packages whose classes use members, or are compared with those of another version.

use pkgres_checks::{ApiOf, BoundPackages, check_member_uses, compare_apis};
use pkgres_manifest::Release;

use crate::Shape;
use crate::documents::{many, numbered};
use crate::packages::{alone, assemble, print};

/// Reports uses of members that do not exist.
fn uses(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let (packages, release) = version(text, "OLD ", "NEW ");
    print(&check_member_uses(&packages, &release));
}

/// A version of a package: lines after `OLD ` and `NEW ` are in one of them.
pub(crate) fn version(text: &str, own: &str, other: &str) -> (BoundPackages, Release) {
    let lines = text.lines().filter(|line| !line.starts_with(other));
    let lines = lines.map(|line| line.strip_prefix(own).unwrap_or(line));
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n");
    alone(assemble(&text).expect("the package is valid"))
}

/// Compares two versions of a package. Members `stop` are `halt` in the new one.
fn compare(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let old = version(text, "OLD ", "NEW ");
    let new = version(&text.replace("stop", "halt"), "NEW ", "OLD ");
    let [old, new] = [&old, &new].map(|(packages, release)| ApiOf { packages, release });
    let comparison = compare_apis(old, new);
    assert!(!comparison.differences.is_empty());
    for difference in &comparison.differences {
        assert!(!difference.message.is_empty());
    }
}

/// A part of a shape: its beginning, and what is repeated. `#` is the number, and `~` makes names long, because a
/// class file has at most 50,000 nodes.
pub(crate) type Many = (&'static str, &'static str);

/// A package of one class, whose members are in some parts of equal size.
fn class(size: usize, parts: &[Many]) -> Vec<u8> {
    let mut text =
        b"FullName: a.B\nType: Library\nOLD Version: 1.0.0\nNEW Version: 1.1.0\nClasses: {a.C: C.yaml}\n===\n".to_vec();
    text.extend(members(size, parts));
    text
}

pub(crate) fn members(size: usize, parts: &[Many]) -> Vec<u8> {
    let long = "x".repeat(80);
    let part = |(begin, member): &Many| {
        let member = |number| numbered(&member.replace('~', &long), number);
        many(size / parts.len(), begin, member, "")
    };
    parts.iter().flat_map(part).collect()
}

/// The beginnings of lists of members.
const ARGUMENTS: &str = "Name: a.C\nMethods:\n  start:\n    Arguments:\n";
const BODY: &str = "  run:\n    Body:\n";

/// Shapes of a class that uses its members.
const USES: &[(&str, &[Many])] = &[
    (
        "calls of a method with many arguments",
        &[
            (ARGUMENTS, "    - a~#: {Contract: $, Default: 1}\n"),
            (BODY, "    - $x~: $.start(a~# => 1)\n"),
        ],
    ),
    (
        "calls of a method with many arguments by position",
        &[
            (ARGUMENTS, "    - a~#: {Contract: $, Default: 1}\n"),
            (BODY, "    - $x~: $.start(#, #)\n"),
        ],
    ),
    (
        "calls without the arguments that a method needs",
        &[
            (ARGUMENTS, "    - a~#: {Contract: $}\n"),
            (BODY, "    - $x~: $.start()\n"),
        ],
    ),
    (
        "calls of undefined methods",
        &[
            ("Name: a.C\nMethods:\n", "  stop~#: {}\n"),
            (BODY, "    - $.stpo~#()\n"),
        ],
    ),
    (
        "undefined properties",
        &[
            ("Name: a.C\nProperties:\n", "  p~#: {Contract: $}\n"),
            ("Methods:\n  run:\n    Body:\n", "    - $x~: $.q~#\n"),
        ],
    ),
    (
        "objects of a class with many properties",
        &[
            (
                "Name: a.C\nProperties:\n",
                "  p~#: {Contract: $.string().notNull(), Default: x}\n",
            ),
            (
                "Methods:\n  run:\n    Body:\n",
                "    - $x~: new('a.C', p~# => 1)\n",
            ),
        ],
    ),
    (
        "objects without the properties that they need",
        &[
            (
                "Name: a.C\nProperties:\n",
                "  p~#: {Contract: $.string().notNull()}\n",
            ),
            ("Methods:\n  run:\n    Body:\n", "    - $x~: new('a.C')\n"),
        ],
    ),
    (
        "an object with many properties",
        &[
            (
                "Name: a.C\nProperties:\n",
                "  p~#: {Contract: $.string().notNull()}\n",
            ),
            ("Methods:\n  run:\n    Body:\n    - new('a.C'", ", p~# => 1"),
            (")\n", "\n"),
        ],
    ),
    (
        "objects of a class with an initializer",
        &[
            (
                "Name: a.C\nMethods:\n  .init:\n    Arguments:\n",
                "    - a~#: {Contract: $, Default: 1}\n",
            ),
            (BODY, "    - $x~: new('a.C', a~# => 1)\n"),
        ],
    ),
    (
        "templates that exclude undefined properties",
        &[
            ("Name: a.C\nProperties:\n", "  p~#: {Contract: $}\n"),
            ("  t:\n    Contract: $.template(a.C, [p", ", p~q#"),
            ("])\n", "\n"),
        ],
    ),
];

/// Shapes of a class that is compared.
const COMPARED: &[(&str, &[Many])] = &[
    (
        "arguments that are renamed",
        &[(ARGUMENTS, "    - stop~#: {Contract: $}\n")],
    ),
    (
        "arguments with defaults that are renamed",
        &[(ARGUMENTS, "    - stop~~#: {Contract: $, Default: 1}\n")],
    ),
    (
        "arguments that are added",
        &[(ARGUMENTS, "NEW     - stop~#: {Contract: $}\n")],
    ),
    (
        "arguments that are removed",
        &[(ARGUMENTS, "OLD     - stop~#: {Contract: $}\n")],
    ),
    (
        "arguments with other contracts",
        &[(
            ARGUMENTS,
            "OLD     - a~#: {Contract: $}\nNEW     - a~#: {Contract: $.int()}\n",
        )],
    ),
    (
        "arguments that no longer have a default",
        &[(
            ARGUMENTS,
            "OLD     - a~#: {Contract: $, Default: 1}\nNEW     - a~#: {Contract: $}\n",
        )],
    ),
    (
        "arguments behind a new one",
        &[(
            "Name: a.C\nMethods:\n  start:\n    Arguments:\nNEW     - first: {Contract: $}\n",
            "    - a~#: {Contract: $}\n",
        )],
    ),
    (
        "methods with arguments",
        &[(
            "Name: a.C\nMethods:\n",
            "  m~~~~~#: {Arguments: [{stop: {Contract: $}}, {b: {Contract: $, Default: 1}}]}\n",
        )],
    ),
    (
        "methods that are renamed",
        &[("Name: a.C\nMethods:\n", "  stop~#: {}\n")],
    ),
    (
        "methods that are removed",
        &[("Name: a.C\nMethods:\n  a: {}\n", "OLD   stop~#: {}\n")],
    ),
    (
        "methods with another scope",
        &[(
            "Name: a.C\nMethods:\n",
            "  m~#:\nNEW     Scope: Public\n    Body: []\n",
        )],
    ),
    (
        "properties that are renamed",
        &[("Name: a.C\nProperties:\n", "  stop~#: {Contract: $}\n")],
    ),
    (
        "properties that are removed",
        &[(
            "Name: a.C\nProperties:\n  a: {Contract: $}\n",
            "OLD   stop~#: {Contract: $}\n",
        )],
    ),
    (
        "properties with other contracts",
        &[(
            "Name: a.C\nProperties:\n",
            "  a~#:\nOLD     Contract: $\nNEW     Contract: $.int().notNull()\n",
        )],
    ),
    (
        "an initializer with arguments",
        &[(
            "Name: a.C\nMethods:\n  a: {}\nNEW   .init:\nNEW     Arguments:\n",
            "NEW     - a~#: {Contract: $}\n",
        )],
    ),
    (
        "properties that need values, beside new ones",
        &[
            (
                "Name: a.C\nProperties:\n",
                "  p~#: {Contract: $.string().notNull()}\n",
            ),
            ("", "NEW   q~#: {Contract: $.string().notNull()}\n"),
        ],
    ),
    (
        "parents that are renamed",
        &[("Name: a.C\nExtends:\n", "- a.stop~#\n")],
    ),
];

/// The most classes that extend one another in a chain, for shapes of many chains.
const CHAIN: usize = 20;

/// A package of many classes, in one file. They are made from their names, from that of the next class, and from their
/// places in a chain, in which nothing follows the last class.
fn classes(size: usize, class: impl Fn(&str, Option<&str>, usize) -> String) -> Vec<u8> {
    // A manifest and a file have at most 50,000 nodes.
    let long = "c".repeat(90);
    let name = |number: usize| format!("a.{long}{number}");
    let mut manifest =
        "FullName: a.B\nType: Library\nOLD Version: 1.0.0\nNEW Version: 1.1.0\nClasses:\n"
            .to_owned();
    let mut text = String::new();
    let mut number = 0;
    while manifest.len() + text.len() < size {
        let (own, next, place) = (name(number), name(number + 1), number % CHAIN);
        let next = (place + 1 < CHAIN).then_some(&*next);
        manifest.push_str(&format!("  {own}: C.yaml\n"));
        text.push_str(&format!("---\nName: {own}\n"));
        text.push_str(&class(&own, next, place));
        number += 1;
    }
    // The last chain may be cut off anywhere.
    let end = name(number);
    format!("{manifest}  {end}: C.yaml\n===\n{text}---\nName: {end}\n").into_bytes()
}

fn extends(next: Option<&str>) -> String {
    next.map_or_else(String::new, |next| format!("Extends: {next}\n"))
}

/// Chains of classes, of which each declares a method.
fn chains(size: usize) -> Vec<u8> {
    classes(size, |_, next, place| {
        let parent = extends(next);
        format!("{parent}Methods: {{stop{place}: {{Body: [$.stop()]}}}}\n")
    })
}

/// Chains of classes that are cut in the middle.
fn cut_chains(size: usize) -> Vec<u8> {
    classes(size, |_, next, place| {
        let cut = if place == CHAIN / 2 { "OLD " } else { "" };
        let parent = extends(next);
        let parent = if parent.is_empty() {
            parent
        } else {
            format!("{cut}{parent}")
        };
        format!("{parent}Methods: {{m{place}: {{}}}}\n")
    })
}

/// A shape of many classes: its name, its reader, and what makes it.
type OfClasses = (&'static str, fn(&[u8]), fn(usize) -> Vec<u8>);

/// All shapes of uses and comparisons.
pub(crate) fn shapes() -> Vec<Shape> {
    let shape = |name: String, read: fn(&[u8]), make: Box<dyn Fn(usize) -> Vec<u8>>| Shape {
        name,
        make,
        read,
        limit: 1 << 20,
    };
    let of_many_classes: [OfClasses; 4] = [
        ("uses: chains of classes", uses, chains),
        ("comparison: chains of classes", compare, chains),
        (
            "comparison: chains of classes that are cut",
            compare,
            cut_chains,
        ),
        ("comparison: classes", compare, |size| {
            classes(size, |_, _, _| "Methods: {stop: {}}\n".to_owned())
        }),
    ];
    let mut shapes: Vec<Shape> = of_many_classes
        .into_iter()
        .map(|(name, read, make)| shape(name.to_owned(), read, Box::new(make)))
        .collect();
    for (name, parts) in USES {
        let make = move |size| class(size, parts);
        shapes.push(shape(format!("uses: {name}"), uses, Box::new(make)));
    }
    for (name, parts) in COMPARED {
        let make = move |size| class(size, parts);
        shapes.push(shape(
            format!("comparison: {name}"),
            compare,
            Box::new(make),
        ));
    }
    shapes
}
