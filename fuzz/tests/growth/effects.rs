//! Shapes of packages that use a library of which there is another version.

use pkgres_checks::update_effects;

use crate::Shape;
use crate::comparisons::{Many, members, version};
use crate::packages::{alone, assemble};

/// Finds what another version of the library changes for an application.
fn effects(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let (app, lib) = text.split_once("<<<\n").expect("two packages");
    let (mut packages, old) = version(lib, "OLD ", "NEW ");
    let (newer, new) = version(lib, "NEW ", "OLD ");
    let (own, root) = alone(assemble(app).expect("the package is valid"));
    packages.releases.extend(newer.releases);
    for (release, mut bound) in own.releases {
        bound.requires.push(old.clone());
        packages.releases.insert(release, bound);
    }
    let effects = update_effects(&root, &packages, &packages.with_replaced(&old, &new));
    assert!(!effects.is_empty());
    for effect in &effects {
        assert!(!effect.difference.message.is_empty() && !effect.places.is_empty());
    }
}

/// The beginnings of lists of members.
const METHODS: &str = "Methods:\n";
const PROPERTIES: &str = "Properties:\n";
const ARGUMENTS: &str = "Methods:\n  start:\n    Arguments:\n";
const INITIALIZER: &str = "Methods:\n  .init:\n    Arguments:\n";
const BODY: &str = "Methods:\n  run:\n    Body:\n";

/// Shapes of a class and the class that it extends: the parts of both.
const EFFECTS: &[(&str, &[Many], &[Many])] = &[
    (
        "removed methods that are called",
        &[(BODY, "    - $this.stop~#()\n")],
        &[(METHODS, "OLD   stop~#: {}\n"), ("  a: {}", "\n")],
    ),
    (
        "removed methods that are declared",
        &[(METHODS, "  stop~#: {}\n")],
        &[(METHODS, "OLD   stop~#: {}\n"), ("  a: {}", "\n")],
    ),
    (
        "calls of a removed method with many arguments",
        &[(BODY, "    - $this.stop(x~# => 1)\n")],
        &[(
            "Methods:\n  a: {}\nOLD   stop:\nOLD     Arguments:\n",
            "OLD     - a~#: {Contract: $}\n",
        )],
    ),
    (
        "removed properties that are used",
        &[(BODY, "    - $x: $this.p~#\n")],
        &[
            (PROPERTIES, "OLD   p~#: {Contract: $}\n"),
            ("  a: {Contract: $}", "\n"),
        ],
    ),
    (
        "removed properties that are declared",
        &[(PROPERTIES, "  p~#: {Contract: $}\n")],
        &[
            (PROPERTIES, "OLD   p~#: {Contract: $}\n"),
            ("  a: {Contract: $}", "\n"),
        ],
    ),
    (
        "new properties that need values",
        &[(BODY, "    - $x: $this.q~#\n")],
        &[
            (PROPERTIES, "  p~#: {Contract: $.string().notNull()}\n"),
            ("", "NEW   q~#: {Contract: $.string().notNull()}\n"),
        ],
    ),
    (
        "uses of a removed property",
        &[(BODY, "    - $x~: $this.p\n")],
        &[(
            "Properties:\nOLD   p: {Contract: $}\n",
            "  a~#: {Contract: $}\n",
        )],
    ),
    (
        "arguments with other contracts that are passed",
        &[(BODY, "    - $this.start(a~# => 1)\n")],
        &[(
            ARGUMENTS,
            "OLD     - a~#: {Contract: $, Default: 1}\nNEW     - a~#: {Contract: $.int(), Default: 1}\n",
        )],
    ),
    (
        "arguments with other contracts that are declared",
        &[(ARGUMENTS, "    - a~#: {Contract: $}\n")],
        &[(
            ARGUMENTS,
            "OLD     - a~#: {Contract: $}\nNEW     - a~#: {Contract: $.int()}\n",
        )],
    ),
    (
        "removed arguments that are passed",
        &[(BODY, "    - $this.start(a~# => 1)\n")],
        &[
            (ARGUMENTS, "OLD     - a~#: {Contract: $, Default: 1}\n"),
            ("    - a: {Contract: $, Default: 1}", "\n"),
        ],
    ),
    (
        "new arguments for values that went to others",
        &[(BODY, "    - $this.start(a~# => 1)\n")],
        &[
            (ARGUMENTS, "NEW     - a~#: {Contract: $, Default: 1}\n"),
            ("    - all: {Contract: $, Usage: KwArgs}", "\n"),
        ],
    ),
    (
        "calls by position of a method whose arguments moved",
        &[(BODY, "    - $this.start(#, #)\n")],
        &[(
            "Methods:\n  start:\n    Arguments:\nNEW     - first: {Contract: $, Default: 1}\n",
            "    - a~#: {Contract: $, Default: 1}\n",
        )],
    ),
    (
        "objects with values of removed properties",
        &[(BODY, "    - $x: new('a.Lib', p~# => 1)\n")],
        &[
            (PROPERTIES, "OLD   p~#: {Contract: $}\n"),
            ("  a: {Contract: $}", "\n"),
        ],
    ),
    (
        "objects of a class with many members",
        &[(BODY, "    - $x~: new('a.Lib')\n")],
        &[
            (
                "Properties:\nNEW   q: {Contract: $.string().notNull()}\n",
                "  p~#: {Contract: $}\n",
            ),
            (METHODS, "OLD   stop~#: {}\n"),
        ],
    ),
    (
        "an object with values of removed properties",
        &[
            (
                "Methods:\n  run:\n    Body:\n    - new('a.Lib'",
                ", p~# => 1",
            ),
            (")\n", "\n"),
        ],
        &[
            (PROPERTIES, "OLD   p~#: {Contract: $}\n"),
            ("  a: {Contract: $}", "\n"),
        ],
    ),
    (
        "objects of a class whose initializer has other arguments",
        &[(BODY, "    - $x: new('a.Lib', a~# => 1)\n")],
        &[
            (INITIALIZER, "OLD     - a~#: {Contract: $, Default: 1}\n"),
            ("    - a: {Contract: $, Default: 1}", "\n"),
        ],
    ),
    (
        "objects of a class with a new initializer",
        &[(BODY, "    - $x~: new('a.Lib')\n")],
        &[(
            "Methods:\n  a: {}\nNEW   .init:\nNEW     Arguments:\n",
            "NEW     - a~#: {Contract: $}\n",
        )],
    ),
];

/// An application of two classes, of which one extends the other, and a library.
fn packages(size: usize, app: &[Many], lib: &[Many]) -> Vec<u8> {
    let mut text = b"FullName: a.App\nType: Library\nVersion: 1.0.0\n\
                     Classes: {a.App: C.yaml, a.Base: C.yaml}\n===\n\
                     Name: a.Base\nExtends: a.Lib\n---\nName: a.App\nExtends: a.Base\n"
        .to_vec();
    text.extend(members(size / 2, app));
    text.extend_from_slice(
        b"<<<\nFullName: a.Lib\nType: Library\nOLD Version: 1.0.0\nNEW Version: 2.0.0\n\
          Classes: {a.Lib: C.yaml}\n===\nName: a.Lib\n",
    );
    text.extend(members(size / 2, lib));
    text
}

/// All shapes of effects.
pub(crate) fn shapes() -> Vec<Shape> {
    let shape = |(name, app, lib): &(&str, &'static [Many], &'static [Many])| {
        let (app, lib) = (*app, *lib);
        Shape {
            name: format!("effects: {name}"),
            make: Box::new(move |size| packages(size, app, lib)),
            read: effects,
            limit: 1 << 20,
        }
    };
    EFFECTS.iter().map(shape).collect()
}
