//! Validation of an index whose columns come from a file.
//!
//! The search and the explanations rely on what compiling guarantees: numbers refer to things that
//! exist, sets have no bits beyond their releases, names are sorted, texts can be parsed. All of
//! this is checked here, once. It costs much less than compiling.

use pkgres_manifest::{ClassName, PackageName, Spec};

use super::column::{ColumnItem, Lists, Texts};
use super::{
    CompiledIndex, DEFAULT_ORDER, HAS_DIGEST, NONE, PRERELEASE, compile, is_large, to_u32, width,
};

/// Ok, or what is wrong.
type Checked = Result<(), &'static str>;

fn ensure(holds: bool, otherwise: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(otherwise) }
}

pub(super) fn check(index: &CompiledIndex) -> Checked {
    let names = count(&index.names.0, "names")?;
    sorted(&index.names, PackageName::is_native, "names")?;
    let releases = index.release_flags.len();
    ensure(
        ascending(&index.first_release, names, releases),
        "the releases of packages",
    )?;
    ensure(index.package_flags.len() == names, "the flags of packages")?;
    check_versions(index, names, releases)?;
    check_digests(index, releases)?;
    check_specs(index)?;
    check_requirements(index, names, releases)?;
    check_classes(index, releases)
}

/// The number of runs, whose ranges are valid.
fn count<T: ColumnItem>(lists: &Lists<T>, what: &'static str) -> Result<usize, &'static str> {
    let count = lists.starts.len().checked_sub(1).ok_or(what)?;
    ensure(ascending(&lists.starts, count, lists.items.len()), what)?;
    // Numbers are `u32`, and [`NONE`] is reserved.
    ensure(u32::try_from(count).is_ok_and(|count| count < NONE), what)?;
    Ok(count)
}

/// Whether `starts` divides all items into `count` runs.
fn ascending(starts: &[u32], count: usize, items: usize) -> bool {
    starts.len() == count + 1
        && starts[0] == 0
        && starts[count] as usize == items
        && starts.is_sorted()
}

/// Checks that texts are valid and strictly ascending.
fn sorted(texts: &Texts, is_valid: impl Fn(&str) -> bool, what: &'static str) -> Checked {
    let mut before: &[u8] = &[];
    for number in 0..texts.0.len() {
        let text = texts.0.run(number);
        let is_text = std::str::from_utf8(text).is_ok_and(&is_valid);
        ensure(is_text && before < text, what)?;
        before = text;
    }
    Ok(())
}

/// Checks that the versions of each package are ascending, and that the flags agree with them.
fn check_versions(index: &CompiledIndex, names: usize, releases: usize) -> Checked {
    const VERSIONS: &str = "versions";
    let versions = &index.versions;
    count(&versions.texts.0, VERSIONS)?;
    ensure(versions.len() == releases, VERSIONS)?;
    ensure(versions.can_be_read(), VERSIONS)?;
    let claims_prerelease = |flags: &u8| flags & PRERELEASE != 0;
    let are_prereleases = versions.are_prereleases();
    let said = index.release_flags.iter().map(claims_prerelease);
    ensure(said.eq(are_prereleases), "prereleases")?;
    let (first_release, flags) = (&*index.first_release, &*index.release_flags);
    for name in 0..names {
        let releases = first_release[name]..first_release[name + 1];
        ensure(versions.are_ascending(releases.clone()), VERSIONS)?;
        let own = &flags[releases.start as usize..releases.end as usize];
        let has_default_order = own.iter().all(|flags| compile::has_default_order(*flags));
        let claims_default_order = index.package_flags[name] & DEFAULT_ORDER != 0;
        ensure(
            claims_default_order == has_default_order,
            "the flags of packages",
        )?;
    }
    Ok(())
}

fn check_digests(index: &CompiledIndex, releases: usize) -> Checked {
    let is_complete = Some(index.digests.len()) == releases.checked_mul(compile::DIGEST_BYTES);
    let has_none = || {
        let mut flags = index.release_flags.iter();
        index.digests.is_empty() && flags.all(|flags| flags & HAS_DIGEST == 0)
    };
    ensure(is_complete || has_none(), "digests")
}

fn check_specs(index: &CompiledIndex) -> Checked {
    const SPECS: &str = "specs";
    let specs = count(&index.specs.0, SPECS)?;
    ensure(index.spec_flags.len() == specs, SPECS)?;
    for number in 0..index.specs.0.len() {
        let text = std::str::from_utf8(index.specs.0.run(number)).map_err(|_| SPECS)?;
        let spec = Spec::from_stored(text).map_err(|_| SPECS)?;
        ensure(
            spec.names_prerelease() == index.names_prerelease(number),
            SPECS,
        )?;
    }
    Ok(())
}

/// Checks the requirements and their sets. Sets have no gaps between them. Those of a package are
/// adjacent, in the order in which its releases use them first.
fn check_requirements(index: &CompiledIndex, names: usize, releases: usize) -> Checked {
    const REQUIREMENTS: &str = "requirements";
    const SETS: &str = "the sets of requirements";
    ensure(
        count(&index.requirements, REQUIREMENTS)? == releases,
        REQUIREMENTS,
    )?;
    // Each access to a mapped column has a cost.
    let first_release = &*index.first_release;
    let (starts, requirements) = (&*index.requirements.starts, &*index.requirements.items);
    let spec_count = index.specs.0.len();
    // For each package the last release that was found to require it, counted from one.
    let mut requirers: Vec<u32> = vec![0; names];
    let mut sets = SetsOfPackage::new(&index.words, names);
    for bounds in first_release.windows(2) {
        sets.begin(bounds[1] - bounds[0]);
        let mut without_sets = 0;
        for (position, release) in (bounds[0]..bounds[1]).enumerate() {
            let numbered = release as usize;
            for requirement in
                &requirements[starts[numbered] as usize..starts[numbered + 1] as usize]
            {
                let [target, spec, at] = *requirement;
                ensure((target as usize) < names && spec < spec_count, REQUIREMENTS)?;
                let requirer = &mut requirers[target as usize];
                ensure(*requirer != release + 1, REQUIREMENTS)?;
                *requirer = release + 1;
                if at == NONE && is_large(sets.owners_width) {
                    without_sets += 1;
                    continue;
                }
                let bounds = &first_release[target as usize..target as usize + 2];
                let is_consistent = sets.add(at as usize, target, bounds[1] - bounds[0]);
                ensure(is_consistent && sets.has_owner(at as usize, position), SETS)?;
            }
        }
        // Each requirement owns its set, no two of a release have the same one, and there are no
        // other owners.
        let required = starts[bounds[1] as usize] - starts[bounds[0] as usize];
        ensure(sets.owner_count == u64::from(required - without_sets), SETS)?;
    }
    ensure(sets.next == sets.words.len(), SETS)
}

/// The sets of the requirements of one package, as far as they were visited.
struct SetsOfPackage<'index> {
    words: &'index [u64],
    /// The index of the first one.
    first: usize,
    /// The index of the first one that was not visited.
    next: usize,
    /// How many words the owners of each have.
    owners_width: usize,
    /// The number of owners of all together.
    owner_count: u64,
    /// For each word at which a set begins, the required package, counted from one.
    about: Vec<u32>,
    /// For each package without releases, where the last set for it begins, counted from one.
    absent: Vec<usize>,
}

impl<'index> SetsOfPackage<'index> {
    fn new(words: &'index [u64], names: usize) -> Self {
        Self {
            words,
            first: 0,
            next: 0,
            owners_width: 0,
            owner_count: 0,
            about: Vec::new(),
            absent: vec![0; names],
        }
    }

    /// Continues with a package that has so many releases.
    fn begin(&mut self, releases: u32) {
        self.first = self.next;
        self.owners_width = width(releases);
        self.owner_count = 0;
        self.about.clear();
    }

    /// Adds the set of a requirement on a package of so many releases; returns whether its index is
    /// valid.
    fn add(&mut self, at: usize, target: u32, releases: u32) -> bool {
        if at != self.next {
            let place = at.checked_sub(self.first);
            let about = place.and_then(|place| self.about.get(place));
            return about == Some(&(target + 1));
        }
        let allowed_width = match releases {
            0 => {
                // All requirements on it share one set.
                let last = std::mem::replace(&mut self.absent[target as usize], at + 1);
                if last > self.first {
                    return false;
                }
                0
            }
            releases if is_large(width(releases)) => 0,
            releases => width(releases),
        };
        self.next = at + self.owners_width + allowed_width;
        let Some(words) = self.words.get(at..self.next) else {
            return false;
        };
        let (owners, allowed) = words.split_at(self.owners_width);
        let owner_counts = owners.iter().map(|word| u64::from(word.count_ones()));
        self.owner_count += owner_counts.sum::<u64>();
        self.about.push(target + 1);
        self.about.extend(std::iter::repeat_n(0, words.len() - 1));
        // No bits are set beyond the last release.
        allowed
            .last()
            .is_none_or(|last| last >> (releases % 64) == 0)
    }

    /// Whether the release at a position is an owner of a set that was added.
    fn has_owner(&self, at: usize, position: usize) -> bool {
        self.words[at + position / 64] >> (position % 64) & 1 == 1
    }
}

fn check_classes(index: &CompiledIndex, releases: usize) -> Checked {
    const CLASSES: &str = "classes";
    count(&index.class_names.0, CLASSES)?;
    sorted(&index.class_names, ClassName::is_native, "names of classes")?;
    let names = index.class_names.0.len();
    let tables = count(&index.table_classes, CLASSES)?;
    ensure(count(&index.externals, CLASSES)? == tables, CLASSES)?;
    let (classes, parents) = (&*index.table_classes.items, &*index.parents.items);
    ensure(count(&index.parents, CLASSES)? == classes.len(), CLASSES)?;
    ensure(index.class_flags.len() == classes.len(), CLASSES)?;
    ensure(index.tables.len() == releases, CLASSES)?;
    let is_table = |table: &u32| *table as usize <= tables;
    ensure(index.tables.iter().all(is_table), CLASSES)?;
    let (class_starts, parent_starts) = (&*index.table_classes.starts, &*index.parents.starts);
    for table in 0..to_u32(tables) {
        let own = index.table_classes(table);
        let is_ascending = own.is_sorted_by(|one, two| one < two);
        ensure(
            is_ascending && own.last().is_none_or(|last| *last < names),
            CLASSES,
        )?;
        let externals = index.externals(table);
        let is_external = |class: &u32| *class < names && own.binary_search(class).is_err();
        ensure(externals.iter().all(is_external), "classes of others")?;
        let ends = [table, table + 1].map(|table| class_starts[table as usize] as usize);
        let range = parent_starts[ends[0]] as usize..parent_starts[ends[1]] as usize;
        let is_parent = |parent: &u32| {
            let count = if parent & 1 == 0 { own } else { externals }.len();
            ((parent >> 1) as usize) < count
        };
        ensure(parents[range.clone()].iter().all(is_parent), CLASSES)?;
        // External classes are numbered in the order in which they are first extended.
        let extended = parents[range].iter().filter(|parent| *parent & 1 == 1);
        let mut extended_count = 0;
        for number in extended.map(|parent| parent >> 1) {
            ensure(number <= extended_count, CLASSES)?;
            extended_count = extended_count.max(number + 1);
        }
        ensure(extended_count as usize == externals.len(), CLASSES)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits};

    use super::*;

    /// The index of a release whose class extends two external classes.
    fn index() -> CompiledIndex {
        let line = r#"{"name":"A","version":"1.0.0","classes":{"A.C":{"extends":["B.C","B.D"]}}}"#;
        let record = IndexRecord::parse_line(line, &Limits::default());
        CompiledIndex::compile([&record.expect("the test writes lines")])
    }

    /// The index of a package with two releases. Both have a requirement that allows the same, and
    /// the second has another one; on packages with two releases and with one.
    fn requiring() -> CompiledIndex {
        let lines = [
            r#"{"name":"A","version":"1.0.0","require":[["B","*"]]}"#,
            r#"{"name":"A","version":"2.0.0","require":[["B","*"],["C","*"]]}"#,
            r#"{"name":"B","version":"1.0.0"}"#,
            r#"{"name":"B","version":"2.0.0"}"#,
            r#"{"name":"C","version":"1.0.0"}"#,
        ];
        let read = |line| IndexRecord::parse_line(line, &Limits::default());
        let records = lines.map(|line| read(line).expect("the test writes lines"));
        CompiledIndex::compile(&records)
    }

    #[test]
    fn requirements_and_their_sets_belong_together() {
        let good = requiring();
        let (requirements, words) = (good.requirements.items.to_vec(), good.words.to_vec());
        assert_eq!(requirements, [[1, 0, 0], [1, 0, 0], [2, 0, 2]]);
        assert_eq!(words, [0b11, 0b11, 0b10, 0b1]);
        let checked = |requirements: &[[u32; 3]], words: &[u64]| {
            let mut index = requiring();
            index.requirements.items = requirements.to_vec().into();
            index.words = words.to_vec().into();
            check(&index)
        };
        assert_eq!(checked(&requirements, &words), Ok(()));
        for (what, requirements) in [
            ("a missing package", [[1, 0, 0], [1, 0, 0], [3, 0, 2]]),
            ("a missing spec", [[1, 0, 0], [1, 0, 0], [2, 1, 2]]),
            ("the same package twice", [[1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        ] {
            assert_eq!(
                checked(&requirements, &words),
                Err("requirements"),
                "{what}"
            );
        }
        let sets = "the sets of requirements";
        for (what, requirements) in [
            ("of another package", [[1, 0, 0], [1, 0, 0], [2, 0, 0]]),
            ("that begins within one", [[1, 0, 0], [1, 0, 1], [2, 0, 2]]),
            ("after a gap", [[1, 0, 0], [1, 0, 0], [2, 0, 3]]),
        ] {
            assert_eq!(checked(&requirements, &words), Err(sets), "a set {what}");
        }
        for (what, words) in [
            ("too few words", &[0b11, 0b11, 0b10][..]),
            ("too many words", &[0b11, 0b11, 0b10, 0b1, 0]),
            ("an owner is missing", &[0b01, 0b11, 0b10, 0b1]),
            ("who owns one does not require it", &[0b11, 0b11, 0b11, 0b1]),
            ("another release owns one", &[0b11, 0b11, 0b01, 0b1]),
            ("an owner does not exist", &[0b111, 0b11, 0b10, 0b1]),
            ("what is allowed does not exist", &[0b11, 0b11, 0b10, 0b11]),
        ] {
            assert_eq!(checked(&requirements, words), Err(sets), "{what}");
        }
    }

    #[test]
    fn requirements_on_an_absent_package_share_one_set() {
        let lines = [
            r#"{"name":"A","version":"1.0.0","require":[["X","1"]]}"#,
            r#"{"name":"A","version":"2.0.0","require":[["X","2"]]}"#,
            r#"{"name":"B","version":"1.0.0","require":[["X","3"]]}"#,
        ];
        let read = |line| IndexRecord::parse_line(line, &Limits::default());
        let records = lines.map(|line| read(line).expect("the test writes lines"));
        let mut index = CompiledIndex::compile(&records);
        let requirements = index.requirements.items.to_vec();
        assert_eq!(requirements, [[2, 0, 0], [2, 1, 0], [2, 2, 1]]);
        assert_eq!(*index.words, [0b11, 0b1]);
        assert_eq!(check(&index), Ok(()));
        index.requirements.items = vec![requirements[0], [2, 1, 1], [2, 2, 2]].into();
        index.words = vec![0b1, 0b10, 0b1].into();
        assert_eq!(check(&index), Err("the sets of requirements"));
    }

    #[test]
    fn external_classes_are_those_that_classes_extend() {
        assert_eq!(check(&index()), Ok(()));

        let mut without_classes = index();
        without_classes.table_classes.starts = vec![0, 0].into();
        without_classes.table_classes.items = Vec::new().into();
        without_classes.parents.starts = vec![0].into();
        without_classes.parents.items = Vec::new().into();
        without_classes.class_flags = Vec::new().into();
        assert_eq!(check(&without_classes), Err("classes"));

        let mut out_of_order = index();
        out_of_order.parents.items = vec![3, 1].into();
        assert_eq!(check(&out_of_order), Err("classes"));
    }
}
