//! A resolution as a tree of who requires what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pkgres_manifest::{PackageName, ReleaseSource, Version};
use pkgres_resolver::{BoundRequirement, Resolution, ResolvedPackage};

/// The tree below each root. What was shown before is marked `(*)` and not shown again. The core
/// library, which everything requires, is shown below the roots only, unless there are several
/// releases of it.
pub(crate) fn tree(resolution: &Resolution, core: Option<&PackageName>) -> String {
    let packages: BTreeMap<(&PackageName, &Version), &ResolvedPackage> = resolution
        .packages()
        .iter()
        .map(|package| ((&package.name, &package.version), package))
        .collect();
    let several_cores = resolution
        .side_by_side()
        .iter()
        .any(|entry| Some(&entry.name) == core);
    let mut printer = Printer {
        packages,
        hidden: core.filter(|_| !several_cores),
        shown: BTreeSet::new(),
        text: String::new(),
    };
    for root in resolution.roots() {
        printer.line(&format!("{} {}", root.name, root.version));
        printer.below(&root.requires);
    }
    printer.text
}

struct Printer<'a> {
    packages: BTreeMap<(&'a PackageName, &'a Version), &'a ResolvedPackage>,
    hidden: Option<&'a PackageName>,
    shown: BTreeSet<(&'a PackageName, &'a Version)>,
    text: String,
}

/// The requirements of a release of which some were printed.
struct Open<'a> {
    requirements: Vec<&'a BoundRequirement>,
    next: usize,
}

impl<'a> Printer<'a> {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("writing to a string does not fail");
    }

    /// Prints what is required, depth first, without recursion.
    fn below(&mut self, requirements: &'a [BoundRequirement]) {
        let mut stack = vec![Open {
            requirements: requirements.iter().collect(),
            next: 0,
        }];
        while let Some(open) = stack.last_mut() {
            let Some(bound) = open.requirements.get(open.next).copied() else {
                stack.pop();
                continue;
            };
            open.next += 1;
            let mut line = String::new();
            for (level, open) in stack.iter().enumerate() {
                let is_last = open.next == open.requirements.len();
                line.push_str(match (level + 1 == stack.len(), is_last) {
                    (true, true) => "\u{2514}\u{2500}\u{2500} ",
                    (true, false) => "\u{251c}\u{2500}\u{2500} ",
                    (false, true) => "    ",
                    (false, false) => "\u{2502}   ",
                });
            }
            write!(line, "{} {}", bound.package, bound.version).expect("writing does not fail");
            let key = (&bound.package, &bound.version);
            let package = self.packages.get(&key).copied();
            let first_time = self.shown.insert(key);
            let below: Vec<&BoundRequirement> = package
                .map(|package| package.requires.iter().collect::<Vec<_>>())
                .unwrap_or_default()
                .into_iter()
                .filter(|required| Some(&required.package) != self.hidden)
                .collect();
            match package {
                None => line.push_str(" (root)"),
                Some(package) => {
                    if package.source == ReleaseSource::Host {
                        line.push_str(" (host)");
                    }
                    if package.yanked {
                        line.push_str(" (withdrawn)");
                    }
                }
            }
            if !first_time && !below.is_empty() {
                line.push_str(" (*)");
            }
            self.line(&line);
            if first_time {
                stack.push(Open {
                    requirements: below,
                    next: 0,
                });
            }
        }
    }
}
