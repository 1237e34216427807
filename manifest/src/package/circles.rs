//! Classes of a package that extend each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::class_file::ClassDefinition;
use crate::diagnostic::Location;
use crate::name::ClassName;

/// Classes of which each extends the next, and the last one the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassCircle<'classes> {
    /// The classes; only one if it extends itself.
    pub classes: Vec<&'classes ClassName>,
    /// Where it stands that the last one extends the first.
    pub location: &'classes Location,
}

/// A class on the way from a class to its ancestors.
struct Step<'classes> {
    name: &'classes ClassName,
    /// Which class that it extends comes next.
    next: usize,
    /// How many steps there are up to the last one that is part of a circle.
    in_circles: usize,
}

/// The circles among classes: none shares a class with another one, and where two would, only one
/// of them is found. It takes time in proportion to what the classes extend.
pub fn class_circles(classes: &BTreeMap<ClassName, ClassDefinition>) -> Vec<ClassCircle<'_>> {
    let mut circles = Vec::new();
    let mut done: HashSet<&ClassName> = HashSet::new();
    // The classes on the way, and where.
    let mut open: HashMap<&ClassName, usize> = HashMap::new();
    for start in classes.keys() {
        let mut way: Vec<Step<'_>> = Vec::new();
        let mut ahead = (!done.contains(start)).then_some(start);
        loop {
            if let Some(name) = ahead.take() {
                open.insert(name, way.len());
                let in_circles = way.last().map_or(0, |step| step.in_circles);
                way.push(Step {
                    name,
                    next: 0,
                    in_circles,
                });
            }
            let Some(step) = way.last_mut() else {
                break;
            };
            let Some(parent) = classes[step.name].extends.get(step.next) else {
                done.insert(step.name);
                open.remove(step.name);
                way.pop();
                continue;
            };
            step.next += 1;
            if let Some(begin) = open.get(&parent.value).copied() {
                if step.in_circles <= begin {
                    circles.push(ClassCircle {
                        classes: way[begin..].iter().map(|step| step.name).collect(),
                        location: &parent.location,
                    });
                    for (at, step) in way.iter_mut().enumerate().skip(begin) {
                        step.in_circles = at + 1;
                    }
                }
            } else if !done.contains(&parent.value) {
                ahead = classes.get_key_value(&parent.value).map(|(name, _)| name);
            }
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::read_class_file;
    use crate::read_options::ReadOptions;

    /// The circles of classes `A`, `B` and so on, each written as what it extends.
    fn circles(extended: &[&str]) -> Vec<String> {
        let names = 'A'..;
        let documents = names.zip(extended).map(|(name, extended)| {
            let extended: Vec<String> = extended.chars().map(|one| one.to_string()).collect();
            format!("Name: {name}\nExtends: [{}]\n", extended.join(", "))
        });
        let text = documents.collect::<Vec<String>>().join("---\n");
        let read = read_class_file("classes.yaml", text.as_bytes(), &ReadOptions::default());
        let (classes, _) = read.into_result().expect("the test writes classes");
        let classes = classes
            .into_iter()
            .map(|class| (class.name.value.clone(), class))
            .collect();
        let told =
            |circle: &ClassCircle<'_>| circle.classes.iter().map(|name| name.as_str()).collect();
        class_circles(&classes).iter().map(told).collect()
    }

    #[test]
    fn each_class_is_part_of_one_circle_at_most() {
        for (extended, expected) in [
            (&["", "A", "AB"][..], &[][..]),
            (&["B", "A"], &["AB"]),
            (&["BC", "", "D", "C"], &["CD"]),
            (&["B", "C", "A", "AF", "D", "E"], &["ABC", "DFE"]),
            (&["B", "CA", "DB", "AC"], &["ABCD"]),
            (&["B", "A", "DB", "C"], &["AB", "CD"]),
            (&["B", "C", "D", "BE", "A"], &["BCD"]),
        ] {
            assert_eq!(circles(extended), expected, "{extended:?}");
        }
    }
}
