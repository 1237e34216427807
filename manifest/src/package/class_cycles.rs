//! Cycles of classes of a package that extend each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::class_file::ClassDefinition;
use crate::diagnostic::Location;
use crate::name::ClassName;

/// A cycle of classes: each extends the next, and the last one the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassCycle<'classes> {
    /// The classes; a single one if it extends itself.
    pub classes: Vec<&'classes ClassName>,
    /// The place where the last one names the first.
    pub location: &'classes Location,
}

/// A class on the current path of the depth-first search.
struct Step<'classes> {
    name: &'classes ClassName,
    /// The position of its next parent to visit.
    next: usize,
    /// The number of steps of the path up to the last one that is part of a cycle.
    in_cycles: usize,
}

/// Returns disjoint cycles among classes: if cycles share a class, only one of them is returned.
///
/// This is a depth-first search, in time linear in the number of classes and parents. A parent on the current
/// path closes a cycle. It does not recurse, so that a long chain of classes cannot exhaust the stack.
pub fn class_cycles(classes: &BTreeMap<ClassName, ClassDefinition>) -> Vec<ClassCycle<'_>> {
    let mut cycles = Vec::new();
    let mut done: HashSet<&ClassName> = HashSet::new();
    // The positions of classes on the path.
    let mut open: HashMap<&ClassName, usize> = HashMap::new();
    for start in classes.keys() {
        let mut path: Vec<Step<'_>> = Vec::new();
        let mut entered = (!done.contains(start)).then_some(start);
        loop {
            if let Some(name) = entered.take() {
                open.insert(name, path.len());
                let in_cycles = path.last().map_or(0, |step| step.in_cycles);
                path.push(Step {
                    name,
                    next: 0,
                    in_cycles,
                });
            }
            let Some(step) = path.last_mut() else {
                break;
            };
            let Some(parent) = classes[step.name].extends.get(step.next) else {
                done.insert(step.name);
                open.remove(step.name);
                path.pop();
                continue;
            };
            step.next += 1;
            if let Some(begin) = open.get(&parent.value).copied() {
                if step.in_cycles <= begin {
                    cycles.push(ClassCycle {
                        classes: path[begin..].iter().map(|step| step.name).collect(),
                        location: &parent.location,
                    });
                    for (at, step) in path.iter_mut().enumerate().skip(begin) {
                        step.in_cycles = at + 1;
                    }
                }
            } else if !done.contains(&parent.value) {
                entered = classes.get_key_value(&parent.value).map(|(name, _)| name);
            }
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::read_class_file;
    use crate::read_options::ReadOptions;

    /// The cycles of classes `A`, `B` and so on, each with its parents.
    fn cycles(extended: &[&str]) -> Vec<String> {
        let names = 'A'..;
        let documents = names.zip(extended).map(|(name, extended)| {
            let extended: Vec<String> = extended.chars().map(|one| one.to_string()).collect();
            format!("Name: {name}\nExtends: [{}]\n", extended.join(", "))
        });
        let text = documents.collect::<Vec<String>>().join("---\n");
        let read = read_class_file(
            "classes.yaml",
            text.as_bytes(),
            &[],
            &ReadOptions::default(),
        );
        let (classes, _) = read.into_result().expect("the test writes classes");
        let classes = classes
            .into_iter()
            .map(|class| (class.name.value.clone(), class))
            .collect();
        let names =
            |cycle: &ClassCycle<'_>| cycle.classes.iter().map(|name| name.as_str()).collect();
        class_cycles(&classes).iter().map(names).collect()
    }

    #[test]
    fn each_class_is_part_of_one_cycle_at_most() {
        for (extended, expected) in [
            (&["", "A", "AB"][..], &[][..]),
            (&["B", "A"], &["AB"]),
            (&["BC", "", "D", "C"], &["CD"]),
            (&["B", "C", "A", "AF", "D", "E"], &["ABC", "DFE"]),
            (&["B", "CA", "DB", "AC"], &["ABCD"]),
            (&["B", "A", "DB", "C"], &["AB", "CD"]),
            (&["B", "C", "D", "BE", "A"], &["BCD"]),
        ] {
            assert_eq!(cycles(extended), expected, "{extended:?}");
        }
    }
}
