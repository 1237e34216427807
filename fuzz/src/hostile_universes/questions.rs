//! The releases and roots of hostile universes.

use std::collections::BTreeSet;

use pkgres_manifest::IndexRecord;
use pkgres_tests::build::{Build as _, release};
use pkgres_tests::random::Random;

/// The root, which requires whatever version of some packages.
fn root(required: impl IntoIterator<Item = String>) -> IndexRecord {
    required
        .into_iter()
        .fold(release("h.Root", "1"), |root, name| {
            root.requires(&name, "*")
        })
}

/// A version of a package.
fn of(name: &str, version: usize) -> IndexRecord {
    release(name, &format!("{version}.0.0"))
}

pub(super) fn pigeons_in_holes(
    pigeons: usize,
    holes: usize,
    tail: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |pigeon: usize| format!("h.P{pigeon}");
    let mut records = Vec::new();
    for pigeon in 0..pigeons {
        for hole in 1..=holes {
            let mut record = of(&name(pigeon), hole);
            for other in (0..pigeons).filter(|other| *other != pigeon) {
                record = record.requires(&name(other), &format!("!={hole}.0.0"));
            }
            if tail > 0 {
                record = record.requires(&format!("h.T{pigeon}x0"), &hole.to_string());
            }
            records.push(record);
        }
        for place in 0..tail {
            for hole in 1..=holes {
                let mut record = of(&format!("h.T{pigeon}x{place}"), hole);
                if place + 1 < tail {
                    let next = format!("h.T{pigeon}x{}", place + 1);
                    record = record.requires(&next, &hole.to_string());
                }
                records.push(record);
            }
        }
    }
    (root((0..pigeons).map(name)), records)
}

pub(super) fn chain(length: usize, is_broken: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let ends_at = if is_broken { length } else { length - 1 };
    let records = (0..length).map(|number| {
        let record = of(&name(number), 1);
        if number < ends_at {
            record.requires(&name(number + 1), "1")
        } else {
            record
        }
    });
    (root([name(0)]), records.collect())
}

pub(super) fn cycle(length: usize, is_twisted: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let mut records = Vec::new();
    for number in 0..length {
        for version in [1, 2] {
            let is_last = number + 1 == length;
            let wanted = if is_last && is_twisted {
                3 - version
            } else {
                version
            };
            let next = name((number + 1) % length);
            records.push(of(&name(number), version).requires(&next, &wanted.to_string()));
        }
    }
    (root([name(0)]), records)
}

/// Releases of packages, each with the requirements that a function chooses by chance, and a root that requires all. The
/// function is given the number of the package.
fn by_chance(
    packages: usize,
    versions: usize,
    mut requiring: impl FnMut(&mut Random, usize, IndexRecord) -> IndexRecord,
) -> (IndexRecord, Vec<IndexRecord>) {
    let mut random = Random::new(1);
    let mut records = Vec::new();
    for package in 0..packages {
        for version in 1..=versions {
            let record = of(&numbered(package), version);
            records.push(requiring(&mut random, package, record));
        }
    }
    (root((0..packages).map(numbered)), records)
}

fn numbered(package: usize) -> String {
    format!("h.P{package}")
}

pub(super) fn all_require_all(
    packages: usize,
    versions: usize,
    excluded: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    by_chance(packages, versions, |random, package, record| {
        let others = (0..packages).filter(|other| *other != package);
        others.fold(record, |record, other| {
            // Each pair is met twice.
            let left_out = (1..=versions).filter(|_| random.below(200) < excluded);
            let left_out: Vec<String> =
                left_out.map(|version| format!("!={version}.0.0")).collect();
            let spec = if left_out.is_empty() {
                "*".to_owned()
            } else {
                left_out.join(",")
            };
            record.requires(&numbered(other), &spec)
        })
    })
}

pub(super) fn some_require_some(
    packages: usize,
    versions: usize,
    required: usize,
    allowed: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    by_chance(packages, versions, |random, package, record| {
        let mut others = BTreeSet::new();
        while others.len() < required {
            let other = random.below(packages);
            if other != package {
                others.insert(other);
            }
        }
        others.into_iter().fold(record, |record, other| {
            let from = 1 + random.below(versions - allowed + 1);
            record.requires(&numbered(other), &format!(">={from},<{}", from + allowed))
        })
    })
}

pub(super) fn diamonds(levels: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |level: usize, side: &str| format!("h.{side}{level}");
    let mut records = vec![of("h.End", 1), of("h.End", 2)];
    for level in 0..levels {
        for version in 1..=versions {
            for side in ["L", "R"] {
                let record = of(&name(level, side), version);
                records.push(if level + 1 == levels {
                    record.requires("h.End", "1")
                } else {
                    let spec = format!(">={version},<{}", version + 3);
                    let [left, right] = ["L", "R"].map(|side| name(level + 1, side));
                    record.requires(&left, &spec).requires(&right, &spec)
                });
            }
        }
    }
    let ends = ["L", "R"].map(|side| name(0, side));
    (root(ends), records)
}

pub(super) fn inherited_twice(
    classes: usize,
    versions: usize,
    is_broken: bool,
) -> (IndexRecord, Vec<IndexRecord>) {
    let mut records = Vec::new();
    for number in 0..classes {
        let name = |part: &str| format!("h.{part}{number}");
        let class = |part: &str| format!("h.{part}{number}.C");
        let holder = of(&name("A"), 1)
            .requires(&name("L"), "*")
            .requires(&name("R"), "*");
        let (left, right) = (class("L"), class("R"));
        records.push(holder.defines(&class("A"), &[&left, &right]));
        for version in 1..=versions {
            // The newest version on one side goes with the oldest on the other.
            let meets = !is_broken || number + 1 < classes;
            let mirrored = if meets {
                versions + 1 - version
            } else {
                versions + version
            };
            for (part, wanted) in [("L", version), ("R", mirrored)] {
                let record = of(&name(part), version).requires(&name("D"), &wanted.to_string());
                records.push(record.defines(&class(part), &[&class("D")]));
            }
        }
        for version in 1..=2 * versions {
            records.push(of(&name("D"), version).defines(&class("D"), &[]));
        }
    }
    (
        root((0..classes).map(|number| format!("h.A{number}"))),
        records,
    )
}

pub(super) fn many_versions(packages: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let mut records = Vec::new();
    for package in 0..packages {
        for version in 1..=versions {
            let next = name(package + 1);
            records.push(of(&name(package), version).requires(&next, &version.to_string()));
        }
    }
    (root([name(0)]), records)
}

pub(super) fn random_clauses(variables: usize, clauses: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let variable = |number: usize| format!("h.V{number}");
    let clause = |number: usize| format!("h.C{number}");
    let mut random = Random::new(u64::try_from(variables).expect("few variables"));
    let mut records = Vec::new();
    for number in 0..variables {
        records.extend([1, 2].map(|version| of(&variable(number), version)));
    }
    let clauses = variables * clauses / 100;
    for number in 0..clauses {
        for literal in 1..=3 {
            let (of_variable, value) = (random.below(variables), random.between(1, 2));
            let record = of(&clause(number), literal);
            records.push(record.requires(&variable(of_variable), &value.to_string()));
        }
    }
    (root((0..clauses).map(clause)), records)
}

pub(super) fn sums_in_a_graph(vertices: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let vertex = |number: usize| format!("h.V{number}");
    let edge = |number: usize| format!("h.E{number}");
    // Three ends at each vertex, which are joined in pairs by chance.
    let mut ends: Vec<usize> = (0..3 * vertices).map(|end| end / 3).collect();
    Random::new(u64::try_from(vertices).expect("few vertices")).shuffle(&mut ends);
    let mut edges_at: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    let mut records = Vec::new();
    for (number, pair) in ends.chunks_exact(2).enumerate() {
        // An edge from a vertex to itself counts twice, so not at all.
        if pair[0] != pair[1] {
            for end in pair {
                edges_at[*end].push(number);
            }
        }
        records.extend([1, 2].map(|value| of(&edge(number), value)));
    }
    for (number, edges) in edges_at.iter().enumerate() {
        // Each edge is in two sums, so all sums together are even.
        let wanted = usize::from(number == 0);
        let ways =
            (0..1_usize << edges.len()).filter(|way| way.count_ones() as usize % 2 == wanted);
        for (version, way) in (1..).zip(ways) {
            let mut record = of(&vertex(number), version);
            for (place, of_edge) in edges.iter().enumerate() {
                let value = 1 + (way >> place & 1);
                // Two edges may join the same vertices.
                record = record.requires(&edge(*of_edge), &value.to_string());
            }
            records.push(record);
        }
    }
    (root((0..vertices).map(vertex)), records)
}

pub(super) fn order_without_least(elements: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let pair = |left: usize, right: usize| format!("h.P{left}x{right}");
    // The first version of a pair says that its first element is the smaller one.
    let is_smaller = |record: IndexRecord, left: usize, right: usize| {
        let version = if left < right { "1" } else { "2" };
        record.requires(&pair(left.min(right), left.max(right)), version)
    };
    let (mut required, mut records) = (Vec::new(), Vec::new());
    for left in 0..elements {
        for right in left + 1..elements {
            records.extend([1, 2].map(|version| of(&pair(left, right), version)));
        }
        let name = format!("h.E{left}");
        let others = (0..elements).filter(|other| *other != left);
        records.extend(
            (1..)
                .zip(others)
                .map(|(version, other)| is_smaller(of(&name, version), other, left)),
        );
        required.push(name);
        for middle in left + 1..elements {
            for right in (left + 1..elements).filter(|right| *right != middle) {
                let name = format!("h.T{left}x{middle}x{right}");
                let around = [(left, middle), (middle, right), (right, left)];
                records.extend((1..).zip(around).map(|(version, (smaller, larger))| {
                    is_smaller(of(&name, version), larger, smaller)
                }));
                required.push(name);
            }
        }
    }
    (root(required), records)
}

pub(super) fn clique_in_colors(
    vertices: usize,
    members: usize,
    colors: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    let member = |number: usize| format!("h.M{number}");
    let color = |vertex: usize| format!("h.C{vertex}");
    let edge = |left: usize, right: usize| format!("h.E{}x{}", left.min(right), left.max(right));
    let pairs = |of: usize| (1..=of).flat_map(move |left| (1..=of).map(move |right| (left, right)));
    let different = |of: usize| pairs(of).filter(|(left, right)| left != right);
    let (mut required, mut records) = (Vec::new(), Vec::new());
    for number in 1..=members {
        records.extend((1..=vertices).map(|vertex| of(&member(number), vertex)));
    }
    for vertex in 1..=vertices {
        records.extend((1..=colors).map(|number| of(&color(vertex), number)));
    }
    for (first, second) in pairs(members).filter(|(first, second)| first < second) {
        let name = format!("h.K{first}x{second}");
        for (version, (left, right)) in (1..).zip(different(vertices)) {
            let record = of(&name, version).requires(&edge(left, right), "*");
            let record = record.requires(&member(first), &left.to_string());
            records.push(record.requires(&member(second), &right.to_string()));
        }
        required.push(name);
    }
    for (left, right) in pairs(vertices).filter(|(left, right)| left < right) {
        for (version, (one, other)) in (1..).zip(different(colors)) {
            let record = of(&edge(left, right), version);
            let record = record.requires(&color(left), &one.to_string());
            records.push(record.requires(&color(right), &other.to_string()));
        }
    }
    (root(required), records)
}

pub(super) fn class_cycle(length: usize, is_closed: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let class = |number: usize| format!("h.P{number}.C");
    let mut records = Vec::new();
    for number in 0..length {
        let next = (number + 1) % length;
        for version in [1, 2] {
            let ends = !is_closed && number == length / 2 && version == 1;
            let inherited = class(next);
            let extends: &[&str] = if ends { &[] } else { &[&inherited] };
            let record = of(&name(number), version).requires(&name(next), "*");
            records.push(record.defines(&class(number), extends));
        }
    }
    (root([name(0)]), records)
}

pub(super) fn class_ladder(levels: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |level: usize, side: &str| format!("h.{side}{level}");
    let mut records = Vec::new();
    for level in 0..levels {
        for (number, side) in (1..).zip(["L", "R"]) {
            for version in 1..=versions {
                let record = of(&name(level, side), version);
                let (record, parents) = if level + 1 == levels {
                    let wanted = format!("{number}");
                    (record.requires("h.Z", &wanted), vec!["h.Z.C".to_owned()])
                } else {
                    let next = ["L", "R"].map(|side| name(level + 1, side));
                    let record =
                        (next.iter()).fold(record, |record, next| record.requires(next, "*"));
                    (record, next.map(|next| format!("{next}.C")).to_vec())
                };
                let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
                records.push(record.defines(&format!("{}.C", name(level, side)), &parents));
            }
        }
    }
    records.extend([1, 2].map(|version| of("h.Z", version).defines("h.Z.C", &[])));
    (root(["L", "R"].map(|side| name(0, side))), records)
}

pub(super) fn sets_of_pieces(pieces: usize, is_met: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let last = 2 * pieces;
    let mut records = Vec::new();
    for (name, first) in [("h.A", 1), ("h.B", 2)] {
        let excluded = (first..=last).step_by(2);
        let spec: Vec<String> = excluded.map(|version| format!("!={version}.0.0")).collect();
        let releases = (1..=5).map(|version| of(name, version).requires("h.C", &spec.join(",")));
        records.extend(releases);
    }
    records.extend((1..=last + usize::from(is_met)).map(|version| of("h.C", version)));
    (root(["h.A", "h.B"].map(String::from)), records)
}
