//! The rules of the architecture that no compiler checks.
//!
//! *Crates* depend on crates of lower layers only ([`crates`]), and libraries leave printing, the
//! environment and the clock to the program ([`surroundings`]).
//!
//! *Modules* of a crate use each other in one direction, at every depth. A module *uses* another one
//! if its code names an item that the other one defines; re-exports are followed, so that it does
//! not matter where the name comes from. The rule has two parts:
//!
//! - Siblings, each with all modules inside it, form no cycle: if anything in `engine/` uses
//!   anything in `encoding/`, nothing in `encoding/` uses anything in `engine/`.
//! - A module and the modules inside it are one part of the program. A child may use what the modules
//!   around it define, such as the type whose methods it implements; a parent may re-export and call
//!   what its children define. Neither counts, except that siblings may not go around the first part
//!   through their parent: who uses a *function* of the parent uses what that function uses.
//!
//! Methods are not names: which module implements a method is not known here. What tests use does not count.
//!
//! *Types* have one name and one meaning in a crate: no name is defined in two modules.

mod crates;
mod cycles;
mod errors;
mod names;
mod sources;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};

use crate::cycles::{in_cycles, shown};
use crate::sources::Crate;

/// The items of a list, one a line.
fn lines(items: impl IntoIterator<Item = String>) -> String {
    items
        .into_iter()
        .map(|item| format!("\n  {item}"))
        .collect()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    for (layer, names) in crates::LAYERS.iter().enumerate() {
        let lower: BTreeSet<&str> = crates::LAYERS[..layer]
            .iter()
            .copied()
            .flatten()
            .copied()
            .collect();
        for name in *names {
            let dependencies = crates::dependencies(name);
            let higher = dependencies
                .into_iter()
                .filter(|name| !lower.contains(name.as_str()));
            let higher = lines(higher);
            assert!(higher.is_empty(), "{name} depends on{higher}");
        }
    }
}

#[test]
fn every_crate_of_the_workspace_has_a_layer() {
    let manifest = crates::manifest(&crates::workspace());
    let members = manifest["workspace"]["members"].as_array();
    let members = members.expect("members are a list").iter();
    let members: BTreeSet<&str> = members.filter_map(toml::Value::as_str).collect();
    assert_eq!(members, crates::all().collect());
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let cycles = crates::all().flat_map(|name| {
        let read = Crate::read(&crates::sources(name));
        let cycles = in_cycles(&read).into_iter();
        cycles.map(move |((from, to), path)| {
            format!("{name}: {from} uses {to} by {}", path.join("::"))
        })
    });
    let cycles = lines(cycles);
    assert!(cycles.is_empty(), "modules in cycles:{cycles}");
}

/// The names that several types of a crate share, each with the modules that define it.
fn shared_type_names(name: &str) -> BTreeMap<String, Vec<String>> {
    let read = Crate::read(&crates::sources(name));
    let mut defining: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, module) in read.modules.iter().enumerate() {
        for defined in &module.types {
            let modules = defining.entry(defined.clone()).or_default();
            modules.push(shown(&read, id));
        }
    }
    defining.retain(|_, modules| modules.len() > 1);
    defining
}

#[test]
fn no_type_name_is_defined_twice_in_a_crate() {
    let twice = crates::all().flat_map(|name| {
        let shared = shared_type_names(name).into_iter();
        shared.map(move |(defined, modules)| {
            format!("{name}: {defined} in {}", modules.join(" and "))
        })
    });
    let twice = lines(twice);
    assert!(twice.is_empty(), "several types of one name:{twice}");
}

#[test]
fn errors_keep_their_causes() {
    let without = crates::libraries().flat_map(errors::without_cause);
    assert_eq!(lines(without), "");
}

#[test]
fn an_error_that_forgets_its_cause_is_found() {
    let text = r#"
        #[derive(Debug, thiserror::Error)]
        enum One {
            #[error("{0}")] Kept(#[from] std::io::Error),
            #[error("{0}")] Forgotten(usize, NameError),
            #[error("{source}")] Named { source: FileError },
            #[error("{cause}")] NamedOtherwise { cause: Box<FileError> },
            #[error(transparent)] Transparent(FileError),
        }
        #[derive(Debug, Error)]
        #[error("{reason}")]
        struct Two { reason: FileError }
        struct NoError { reason: FileError }
    "#;
    let found = errors::fields_without_cause(text);
    assert_eq!(found, ["One::Forgotten", "One::NamedOtherwise", "Two"]);
}

#[test]
fn libraries_do_not_read_their_surroundings() {
    let mut found = BTreeSet::new();
    for name in crates::libraries() {
        let read = Crate::read(&crates::sources(name));
        for (module, path) in surroundings::uses(&read) {
            found.insert((name, shown(&read, module), path));
        }
    }
    let exceptions = surroundings::ALLOWED.iter();
    let exceptions =
        exceptions.map(|(of, module, path)| (*of, (*module).to_owned(), (*path).to_owned()));
    assert_eq!(found, exceptions.collect());
}

#[test]
fn documents_of_others_are_read_strictly() {
    let mut found = BTreeSet::new();
    for name in ["manifest", "formats", "registry-client", "registry-server"] {
        let read = Crate::read(&crates::sources(name));
        for (module, path) in surroundings::lenient_readers(&read) {
            found.insert((name, shown(&read, module), path));
        }
    }
    found.retain(|(name, module, _)| !surroundings::LENIENT.contains(&(*name, module)));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn every_source_belongs_to_its_crate() {
    for name in crates::all() {
        let sources = crates::sources(name);
        let read = Crate::read(&sources);
        let files = crates::source_files(&sources);
        let forgotten = files.difference(&read.files);
        let forgotten = lines(forgotten.map(|file| file.display().to_string()));
        assert!(forgotten.is_empty(), "no module declares{forgotten}");
    }
}

#[test]
fn the_arrows_of_the_resolver_are_found() {
    let read = Crate::read(&crates::sources("resolver"));
    let arrows = cycles::arrows(&read);
    let has_arrow = |from: &str, to: &str| {
        let mut arrows = arrows.keys();
        arrows.any(|(user, used)| {
            shown(&read, *user).starts_with(from) && shown(&read, *used).starts_with(to)
        })
    };
    assert!(has_arrow("search", "problem"), "by a path");
    assert!(has_arrow("universe", "request"), "by a name of the root");
    assert!(!has_arrow("problem", "search"), "not the other way");
}

/// The arrows of a text that are part of a cycle.
fn cycles_of(text: &str) -> Vec<String> {
    let cycles = in_cycles(&Crate::parse(text));
    let arrows = cycles.into_keys();
    arrows.map(|(from, to)| format!("{from} → {to}")).collect()
}

#[test]
fn one_direction_is_no_cycle() {
    let text = "
        mod top { use crate::middle::Middle; use crate::ground::Ground; }
        mod middle { use super::ground; pub struct Middle(ground::Ground); }
        mod ground { pub struct Ground; }
    ";
    assert!(cycles_of(text).is_empty());
}

#[test]
fn a_cycle_of_siblings_is_found() {
    let text = "
        mod top { use crate::one::One; }
        mod one { pub struct One; fn one() -> crate::two::Two { todo!() } }
        mod two { use crate::{ground::{self, Ground}, one}; pub struct Two(one::One); }
        mod ground { pub struct Ground; }
    ";
    assert_eq!(cycles_of(text), ["one → two", "two → one"]);
}

#[test]
fn a_cycle_inside_a_room_is_found() {
    let text = "
        mod room {
            mod one { use super::two::Two; pub struct One; }
            mod two { pub struct Two; fn two() { vec![crate::room::one::One] } }
        }
    ";
    assert_eq!(
        cycles_of(text),
        ["room::one → room::two", "room::two → room::one"]
    );
}

#[test]
fn a_cycle_of_rooms_is_found_whichever_of_their_modules_close_it() {
    let text = "
        mod one { pub mod up { use crate::two::up::Up; } pub mod down { pub struct Down; } }
        mod two { pub mod up { pub struct Up; } pub mod down { use crate::one::down::Down; } }
    ";
    assert_eq!(
        cycles_of(text),
        ["one::up → two::up", "two::down → one::down"]
    );
}

#[test]
fn re_exports_hide_no_cycle() {
    let text = "
        pub use room::One;
        mod room {
            pub use self::one::*;
            mod one { use super::two::Two; pub struct One; }
            mod two { use crate::One; pub struct Two(One); }
        }
    ";
    assert_eq!(
        cycles_of(text),
        ["room::one → room::two", "room::two → room::one"]
    );
}

#[test]
fn a_re_export_is_no_use_of_the_room_that_has_it() {
    let text = "
        mod room { pub use crate::ground::Ground; pub struct Room; }
        mod ground { pub struct Ground; }
        mod user { use crate::room::Ground; pub struct User; }
        mod other { use crate::room::Room; use crate::user::User; }
    ";
    assert!(cycles_of(text).is_empty());
}

#[test]
fn a_child_and_its_parent_are_one_part() {
    let text = "
        mod room {
            mod child { use super::Room; pub struct Child; impl Room { fn child(&self) {} } }
            use child::Child;
            pub struct Room(Child);
        }
    ";
    assert!(cycles_of(text).is_empty());
}

#[test]
fn siblings_do_not_reach_each_other_through_functions_of_their_parent() {
    let text = "
        mod room {
            mod one { use super::help; pub struct One; }
            mod two { use super::one::One; pub fn two() {} }
            fn help() { further() }
            fn further() { two::two() }
        }
    ";
    assert_eq!(
        cycles_of(text),
        ["room::one → room::two", "room::two → room::one"]
    );
}

#[test]
fn uses_in_tests_do_not_count() {
    let text = "
        mod one { pub struct One; #[cfg(test)] mod tests { use crate::two::Two; } }
        mod two { use crate::one::One; pub struct Two; }
    ";
    assert!(cycles_of(text).is_empty());
}
