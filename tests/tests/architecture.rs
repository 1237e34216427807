//! The rooms of a crate, its top-level modules, import one another in one direction.
//!
//! Crates cannot depend on each other in a circle, modules can: nothing but this test keeps them
//! from it. Sources are read as text. What a line of a comment names is not imported, and what
//! tests import does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates, by folder.
const CRATES: [&str; 8] = [
    "manifest",
    "resolver",
    "checks",
    "files",
    "registry-client",
    "registry-server",
    "cli",
    "benches",
];

/// Which rooms each room imports from.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// A source without comments and unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("sources can be read");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines();
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The identifier at the beginning of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// What a source names directly below the root of its crate.
fn names_below_root(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => {
                names.insert(identifier(rest));
            }
            Some(group) => {
                let group = group.split('}').next().unwrap_or_default();
                names.extend(group.split(',').map(|name| identifier(name.trim())));
            }
        }
    }
    names
}

/// The rooms of a crate, and those from which the root of the crate has names.
fn rooms(root: &str) -> (BTreeSet<&str>, BTreeMap<&str, &str>) {
    let is_declaration = |line: &str| line.ends_with(';');
    let without_visibility = |line| {
        let line: &str = line;
        let public = line
            .strip_prefix("pub ")
            .or(line.strip_prefix("pub(crate) "));
        public.unwrap_or(line)
    };
    let rooms = root.lines().filter(|line| is_declaration(line));
    let rooms = rooms.filter_map(|line| without_visibility(line).strip_prefix("mod "));
    let rooms = rooms.map(identifier).collect();
    let mut reexported = BTreeMap::new();
    for item in root.split("pub use ").skip(1) {
        let item = item.split(';').next().unwrap_or_default();
        let names = item.split(['{', '}', ',', ':', ' ', '\n']);
        reexported.extend(names.map(|name| (name, identifier(item))));
    }
    (rooms, reexported)
}

/// Adds what the sources in a folder import to what their room does; every file or folder at the
/// top is a room.
fn add_imports(folder: &Path, room: Option<&str>, add: &mut impl FnMut(&str, &str)) {
    for entry in fs::read_dir(folder).expect("folders of sources can be read") {
        let path = entry.expect("folders of sources can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let room = room.or(name).expect("names of sources are text");
        if path.is_dir() {
            add_imports(&path, Some(room), add);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let code = code(&path);
            for name in names_below_root(&code) {
                add(room, name);
            }
        }
    }
}

fn imports(sources: &Path) -> Imports {
    let root = ["lib.rs", "main.rs"].map(|name| sources.join(name));
    let root = root.iter().find(|path| path.exists());
    let root = code(root.expect("a crate has a root"));
    let (rooms, reexported) = rooms(&root);
    let mut imports: Imports = rooms
        .iter()
        .map(|room| ((*room).to_owned(), BTreeSet::new()))
        .collect();
    add_imports(sources, None, &mut |room, name| {
        let from = if rooms.contains(name) {
            Some(&name)
        } else {
            reexported.get(name)
        };
        if let (Some(imported), Some(from)) = (imports.get_mut(room), from)
            && room != *from
        {
            imported.insert((*from).to_owned());
        }
    });
    imports
}

/// Takes away what imports nothing that is left, until that is nothing. What is left then is in a
/// circle, or imports what is.
fn in_circles(mut imports: Imports) -> Imports {
    loop {
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        for imported in imports.values_mut() {
            imported.retain(|room| left.contains(room));
        }
        imports.retain(|_, imported| !imported.is_empty());
        if imports.len() == left.len() {
            return imports;
        }
    }
}

#[test]
fn rooms_import_one_another_in_one_direction() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in CRATES {
        let imports = imports(&workspace.join(name).join("src"));
        assert!(!imports.is_empty(), "{name} has rooms");
        let circles = in_circles(imports);
        assert!(
            circles.is_empty(),
            "rooms of {name} in circles: {circles:?}"
        );
    }
}

#[test]
fn the_arrows_of_the_resolver_are_found() {
    let resolver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../resolver/src");
    let imports = imports(&resolver);
    assert!(imports["engine"].contains("encoding"), "by a path");
    assert!(
        imports["universe"].contains("request"),
        "by a name of the root"
    );
    assert!(!imports["encoding"].contains("engine"), "not the other way");
}

#[test]
fn circles_are_found() {
    let drawn = |arrows: &[(&str, &[&str])]| -> Imports {
        let rooms = arrows.iter();
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        rooms
            .map(|(room, imported)| ((*room).to_owned(), owned(imported)))
            .collect()
    };
    let way = drawn(&[
        ("top", &["middle", "ground"]),
        ("middle", &["ground"]),
        ("ground", &[]),
    ]);
    assert!(in_circles(way).is_empty());
    let circle = drawn(&[
        ("top", &["one"]),
        ("one", &["two"]),
        ("two", &["one", "ground"]),
        ("ground", &[]),
    ]);
    assert_eq!(in_circles(circle).len(), 3);
}
