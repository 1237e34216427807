//! Universes in terms of every solver: numbers for packages and versions.
//!
//! A [`Universe`] has classes, as pkgres does. The conditions of the classes can be written without them
//! wherever a package has one release in an answer: [`Plain`] is the same problem for solvers that
//! know nothing but packages and versions.

/// A range of versions, perhaps but for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lowest version.
    pub low: u32,
    /// The first version that is too high, if any is.
    pub high: Option<u32>,
    /// A version that will not do though it lies between the bounds.
    pub except: Option<u32>,
}

impl Range {
    /// All versions.
    pub const FULL: Self = Self::at_least(0);

    /// A version and all that are newer.
    pub const fn at_least(low: u32) -> Self {
        Self {
            low,
            high: None,
            except: None,
        }
    }

    /// From one version up to, and without, another one.
    pub const fn between(low: u32, high: u32) -> Self {
        Self {
            low,
            high: Some(high),
            except: None,
        }
    }

    /// One version.
    pub const fn only(version: u32) -> Self {
        Self::between(version, version + 1)
    }

    /// All versions but one.
    pub const fn other_than(version: u32) -> Self {
        Self {
            low: 0,
            high: None,
            except: Some(version),
        }
    }

    /// Whether a version matches.
    pub fn contains(&self, version: u32) -> bool {
        self.low <= version
            && self.high.is_none_or(|high| version < high)
            && self.except != Some(version)
    }
}

/// A requirement: a package, and its versions that match.
pub type Dependency = (usize, Range);

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The version: `n` means `n.0.0`.
    pub version: u32,
    /// Its requirements.
    pub dependencies: Vec<Dependency>,
    /// The classes that it defines, by number, as bits.
    pub classes: u32,
    /// The parents of its class of number 0: classes of packages that it requires.
    pub extends: Vec<(usize, u32)>,
}

impl Release {
    /// A release with a class that extends nothing, so that class rules count.
    pub fn new(version: u32, dependencies: Vec<Dependency>) -> Self {
        Self {
            version,
            dependencies,
            classes: 1,
            extends: Vec::new(),
        }
    }

    /// Whether it defines the class of this number.
    pub fn defines(&self, class: u32) -> bool {
        self.classes >> class & 1 == 1
    }
}

/// Packages, by number, with their releases, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universe {
    /// Its name in the table.
    pub name: String,
    /// The releases of each package.
    pub packages: Vec<Vec<Release>>,
    /// The problems: what a root requires. They are solved one after the other.
    pub roots: Vec<Vec<Dependency>>,
}

/// Versions from the first number up to, and without, the second.
pub type Interval = (u32, Option<u32>);

/// Versions as intervals that neither touch nor overlap, the lowest first.
pub type Versions = Vec<Interval>;

/// A release without classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainRelease {
    /// The version.
    pub version: u32,
    /// Its requirements.
    pub dependencies: Vec<(usize, Versions)>,
}

/// A universe without classes that has the same answers.
///
/// A package that extends a class requires the releases that define it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The releases of each package.
    pub packages: Vec<Vec<PlainRelease>>,
    /// The requirements of each root.
    pub roots: Vec<Vec<(usize, Versions)>>,
}

impl Plain {
    /// The same problem without classes.
    pub fn of(universe: &Universe) -> Self {
        let release = |release: &Release| PlainRelease {
            version: release.version,
            dependencies: dependencies(universe, &release.dependencies, &release.extends),
        };
        let releases = |releases: &Vec<Release>| releases.iter().map(release).collect();
        Self {
            packages: universe.packages.iter().map(releases).collect(),
            roots: (universe.roots.iter())
                .map(|root| dependencies(universe, root, &[]))
                .collect(),
        }
    }
}

fn dependencies(
    universe: &Universe,
    dependencies: &[Dependency],
    extends: &[(usize, u32)],
) -> Vec<(usize, Versions)> {
    let plain = |(package, range): &Dependency| {
        let extended = extends.iter().filter(|(owner, _)| owner == package);
        let classes = extended.fold(0, |classes, (_, class)| classes | 1_u32 << class);
        let versions = if classes == 0 {
            intervals(*range)
        } else {
            defining(&universe.packages[*package], *range, classes)
        };
        (*package, versions)
    };
    dependencies.iter().map(plain).collect()
}

fn intervals(range: Range) -> Versions {
    let Range { low, high, except } = range;
    let is_empty = |(low, high): &Interval| high.is_some_and(|high| high <= *low);
    let is_between = |version: &u32| low <= *version && high.is_none_or(|high| *version < high);
    let mut intervals = match except.filter(is_between) {
        None => vec![(low, high)],
        Some(version) => vec![(low, Some(version)), (version + 1, high)],
    };
    intervals.retain(|interval| !is_empty(interval));
    intervals
}

/// The versions of a package in a range that define all of these classes.
fn defining(releases: &[Release], range: Range, classes: u32) -> Versions {
    let mut intervals: Versions = Vec::new();
    let mut open = None;
    for release in releases {
        let fits = range.contains(release.version) && release.classes & classes == classes;
        match open {
            None if fits => open = Some(release.version),
            Some(low) if !fits => {
                intervals.push((low, Some(release.version)));
                open = None;
            }
            _ => {}
        }
    }
    intervals.extend(open.map(|low| (low, None)));
    intervals
}

/// Whether a version lies in one of the intervals.
pub fn is_in(versions: &[Interval], version: u32) -> bool {
    let holds = |(low, high): &Interval| *low <= version && high.is_none_or(|high| version < high);
    versions.iter().any(holds)
}
