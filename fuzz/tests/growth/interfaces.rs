//! Shapes of interfaces: compared with another version, and with the classes that implement them.

use pkgres_checks::interface_differences;
use pkgres_manifest::{Interface, ReadOptions, read_interface_file};

use crate::Shape;
use crate::comparisons::{Many, members};
use crate::packages::package;

/// Compares an interface with another version of it, whose functions and arguments `stop` are `halt`.
fn compare(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let read = |text: &str| -> Interface {
        let read = read_interface_file("I.yaml", text.as_bytes(), None, &ReadOptions::default());
        read.into_result().expect("the interface is valid").0
    };
    let differences = interface_differences(&read(text), &read(&text.replace("stop", "halt")));
    assert!(!differences.is_empty());
    for difference in differences {
        assert!(!difference.message.is_empty());
    }
}

/// Shapes of an interface that is compared.
const COMPARED: &[(&str, &[Many])] = &[
    (
        "functions that are renamed",
        &[("Name: a.I\nFunctions:\n", "  stop~#: {}\n")],
    ),
    (
        "functions beside a renamed one",
        &[("Name: a.I\nFunctions:\n  stop: {}\n", "  f~#: {}\n")],
    ),
    (
        "arguments that are renamed",
        &[(
            "Name: a.I\nFunctions:\n  f:\n    Arguments:\n",
            "    - stop~#: {}\n",
        )],
    ),
    (
        "values of a fact",
        &[
            (
                "Name: a.I\nFunctions:\n  f:\n    Supported:\n      os: [stop",
                ", a~#",
            ),
            ("]\n", "\n"),
        ],
    ),
    (
        "functions with successors",
        &[(
            "Name: a.I\nFunctions:\n  stop: {}\n",
            "  f~~#: {Deprecated: {since: 1.0.0, successor: stop}}\n",
        )],
    ),
    (
        "functions with undefined successors",
        &[(
            "Name: a.I\nFunctions:\n  stop: {}\n",
            "  f~#: {Deprecated: {since: 1.0.0, successor: F~#}}\n",
        )],
    ),
];

/// Shapes of a class and its interface: the parts of both.
const IMPLEMENTED: &[(&str, &[Many], &[Many])] = &[
    (
        "functions that are missing",
        &[("Methods:\n", "  m~#: {}\n")],
        &[("Functions:\n", "  f~#: {}\n")],
    ),
    (
        "functions that are there",
        &[("Methods:\n", "  f~#: {}\n")],
        &[("Functions:\n", "  f~#: {}\n")],
    ),
    (
        "arguments that are there",
        &[(
            "Methods:\n  f:\n    Arguments:\n",
            "    - a~#: {Contract: $}\n",
        )],
        &[("Functions:\n  f:\n    Arguments:\n", "    - a~#: {}\n")],
    ),
    (
        "arguments that are missing",
        &[(
            "Methods:\n  f:\n    Arguments:\n    - a: {Contract: $}\n",
            "\n",
        )],
        &[("Functions:\n  f:\n    Arguments:\n", "    - a~#: {}\n")],
    ),
    (
        "arguments for some of which there are others",
        &[(
            "Methods:\n  f:\n    Arguments:\n",
            "    - a~#: {Contract: $, Default: 1}\n",
        )],
        &[("Functions:\n  f:\n    Arguments:\n", "    - a#: {}\n")],
    ),
];

/// A package of a class, and the interface that it implements.
fn implemented(size: usize, class: &[Many], interface: &[Many]) -> Vec<u8> {
    let mut text = b"FullName: a.B\nType: Library\nVersion: 1.0.0\nClasses: {a.C: C.yaml}\n\
                     Interfaces: {a.I: I.yaml}\nImplements: {a.C: a.I}\n===\nName: a.C\n"
        .to_vec();
    text.extend(members(size / 2, class));
    text.extend_from_slice(b"===\n");
    text.extend(members(size / 2, interface));
    text
}

/// Classes that implement an interface, each with a child that overrides its function.
fn children(size: usize) -> Vec<u8> {
    let mut manifest =
        "FullName: a.B\nType: Library\nInterfaces: {a.I: I.yaml}\nClasses:\n".to_owned();
    let (mut implements, mut classes) = ("Implements:\n".to_owned(), String::new());
    // A class file has at most 50,000 nodes.
    let long = "c".repeat(80);
    let mut number = 0;
    while manifest.len() + implements.len() + classes.len() < size {
        let (parent, child) = (format!("a.P{long}{number}"), format!("a.C{long}{number}"));
        manifest.push_str(&format!("  {parent}: C.yaml\n  {child}: C.yaml\n"));
        implements.push_str(&format!("  {parent}: a.I\n"));
        classes.push_str(&format!(
            "---\nName: {parent}\nMethods: {{f: {{}}}}\n---\nName: {child}\nExtends: {parent}\n\
             Methods: {{f: {{}}}}\n"
        ));
        number += 1;
    }
    format!("{manifest}{implements}===\n{classes}===\nFunctions: {{f: {{}}}}\n").into_bytes()
}

/// All shapes of interfaces.
pub(crate) fn shapes() -> Vec<Shape> {
    let shape = |name: String, read: fn(&[u8]), make: Box<dyn Fn(usize) -> Vec<u8>>| Shape {
        name,
        make,
        read,
        limit: 1 << 20,
    };
    let mut shapes = vec![shape(
        "interface: classes whose children override a function".to_owned(),
        package,
        Box::new(children),
    )];
    for (name, parts) in COMPARED {
        let make = move |size| members(size, parts);
        shapes.push(shape(format!("interface: {name}"), compare, Box::new(make)));
    }
    for (name, class, interface) in IMPLEMENTED {
        let make = move |size| implemented(size, class, interface);
        shapes.push(shape(format!("interface: {name}"), package, Box::new(make)));
    }
    shapes
}
