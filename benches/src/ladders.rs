//! Long chains of packages in which what decides is found far from where the search begins.

use crate::universe::{Range, Release, Universe};

/// How far above its own version a release of a ladder reaches.
const WINDOW: u32 = 3;

/// A ladder of pairs of packages: version `v` of either requires both of the next pair in versions
/// from `v` to a little above, and the last pair requires one package that is there in one old
/// version only. The root requires the first pair.
pub fn diamonds(levels: usize, versions: u32) -> Universe {
    let last = 2 * levels;
    let mut packages: Vec<Vec<Release>> = Vec::with_capacity(last + 1);
    for level in 0..levels {
        let release = |version: u32| {
            let window = Range::between(version, version + WINDOW);
            let next = 2 * (level + 1);
            let dependencies = if next == last {
                vec![(last, window)]
            } else {
                vec![(next, window), (next + 1, window)]
            };
            Release::new(version, dependencies)
        };
        let releases: Vec<Release> = (1..=versions).map(release).collect();
        packages.push(releases.clone());
        packages.push(releases);
    }
    let pin = versions / 4 + 1;
    packages.push(vec![Release::new(pin, Vec::new())]);
    Universe {
        name: format!("diamonds:{levels}:{versions}"),
        packages,
        roots: vec![vec![(0, Range::FULL), (1, Range::FULL)]],
    }
}

/// A chain in which every version requires its like of the next package, which the end does not
/// have: only the oldest version of the first package, which requires nothing, is left.
pub fn singletons(length: usize, versions: u32) -> Universe {
    let mut packages = chain(length, versions);
    packages.push(Vec::new());
    Universe {
        name: format!("singletons:{length}:{versions}"),
        packages,
        roots: vec![vec![(0, Range::FULL)]],
    }
}

/// A chain in which every version requires its like of the next package, down to a package of which
/// the root requires the oldest version, and the end of the chain any other one.
pub fn disjoint(length: usize, versions: u32) -> Universe {
    let mut packages = chain(length, versions);
    let shared = length;
    packages.push(
        (0..versions)
            .map(|version| Release::new(version, Vec::new()))
            .collect(),
    );
    Universe {
        name: format!("disjoint:{length}:{versions}"),
        packages,
        roots: vec![vec![(0, Range::FULL), (shared, Range::only(0))]],
    }
}

/// Packages of which every version requires the same version of the next.
fn chain(length: usize, versions: u32) -> Vec<Vec<Release>> {
    let mut packages: Vec<Vec<Release>> = (1..=length)
        .map(|next| {
            let release = |version| Release::new(version, vec![(next, Range::only(version))]);
            (1..versions).map(release).collect()
        })
        .collect();
    packages[0].insert(0, Release::new(0, Vec::new()));
    packages
}
