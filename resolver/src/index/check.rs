//! Whether columns that come from outside are those of an index.
//!
//! The search and the explanations rely on what compiling guarantees: numbers refer to things that
//! are there, sets have no bits beyond their releases, names are sorted, texts can be read. All of
//! that is looked at here, once; it costs much less than compiling.

use pkgres_manifest::{ClassName, PackageName, Spec, Version};

use super::column::{Lists, Plain, Texts};
use super::{CompiledIndex, HAS_DIGEST, NONE, PLAIN, PRERELEASE, YANKED, compile, to_u32, width};

/// What is wrong.
type Checked = Result<(), &'static str>;

fn that(holds: bool, otherwise: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Whether an index holds together.
pub(super) fn check(index: &CompiledIndex) -> Checked {
    let names = count(&index.names.0, "names")?;
    sorted(&index.names, PackageName::is_name, "names")?;
    let releases = index.release_flags.len();
    that(
        ascending(&index.first_release, names, releases),
        "the releases of packages",
    )?;
    that(index.package_flags.len() == names, "the flags of packages")?;
    check_versions(index, names, releases)?;
    check_digests(index, releases)?;
    check_specs(index)?;
    check_edges(index, names, releases)?;
    check_classes(index, releases)
}

/// How many runs there are, all of which can be looked at.
fn count<T: Plain>(lists: &Lists<T>, what: &'static str) -> Result<usize, &'static str> {
    let count = lists.starts.len().checked_sub(1).ok_or(what)?;
    that(ascending(&lists.starts, count, lists.items.len()), what)?;
    // Numbers of things are `u32`, and one of them has a meaning of its own.
    that(u32::try_from(count).is_ok_and(|count| count < NONE), what)?;
    Ok(count)
}

/// Whether `starts` cuts as many items as there are into `count` runs.
fn ascending(starts: &[u32], count: usize, items: usize) -> bool {
    starts.len() == count + 1
        && starts[0] == 0
        && starts[count] as usize == items
        && starts.is_sorted()
}

/// Whether texts are what they are to be, and strictly ascending.
fn sorted(texts: &Texts, is_valid: impl Fn(&str) -> bool, what: &'static str) -> Checked {
    let mut before: &[u8] = &[];
    for number in 0..texts.0.len() {
        let text = texts.0.of(number);
        let is_text = std::str::from_utf8(text).is_ok_and(&is_valid);
        that(is_text && before < text, what)?;
        before = text;
    }
    Ok(())
}

/// Versions are ascending in each package, and the flags say the same as they do.
fn check_versions(index: &CompiledIndex, names: usize, releases: usize) -> Checked {
    const VERSIONS: &str = "versions";
    that(count(&index.versions.0, VERSIONS)? == releases, VERSIONS)?;
    let (starts, texts) = (&*index.versions.0.starts, &*index.versions.0.items);
    let (first_release, flags) = (&*index.first_release, &*index.release_flags);
    for name in 0..names {
        let releases = first_release[name] as usize..first_release[name + 1] as usize;
        let mut before: Option<Version> = None;
        let mut is_plain = true;
        for release in releases {
            let text = &texts[starts[release] as usize..starts[release + 1] as usize];
            let text = std::str::from_utf8(text).map_err(|_| VERSIONS)?;
            let version = Version::parse(text).map_err(|_| VERSIONS)?;
            let is_prerelease = flags[release] & PRERELEASE != 0;
            that(version.is_prerelease() == is_prerelease, "prereleases")?;
            that(before.is_none_or(|before| before < version), VERSIONS)?;
            is_plain &= flags[release] & (YANKED | PRERELEASE) == 0;
            before = Some(version);
        }
        let says_plain = index.package_flags[name] & PLAIN != 0;
        that(says_plain == is_plain, "the flags of packages")?;
    }
    Ok(())
}

fn check_digests(index: &CompiledIndex, releases: usize) -> Checked {
    let is_complete = Some(index.digests.len()) == releases.checked_mul(compile::DIGEST_BYTES);
    let has_none = || {
        let mut flags = index.release_flags.iter();
        index.digests.is_empty() && flags.all(|flags| flags & HAS_DIGEST == 0)
    };
    that(is_complete || has_none(), "digests")
}

fn check_specs(index: &CompiledIndex) -> Checked {
    const SPECS: &str = "specs";
    let specs = count(&index.specs.0, SPECS)?;
    that(index.spec_flags.len() == specs, SPECS)?;
    for number in 0..index.specs.0.len() {
        let text = std::str::from_utf8(index.specs.0.of(number)).map_err(|_| SPECS)?;
        let spec = Spec::parse(text).map_err(|_| SPECS)?;
        that(
            spec.names_prerelease() == index.names_prerelease(number),
            SPECS,
        )?;
    }
    Ok(())
}

/// Requirements, and the sets that belong to them: they stand one after the other without gaps, those
/// of a package together, in the order in which its releases have them first.
fn check_edges(index: &CompiledIndex, names: usize, releases: usize) -> Checked {
    const EDGES: &str = "requirements";
    const SETS: &str = "the sets of requirements";
    that(count(&index.edges, EDGES)? == releases, EDGES)?;
    // Looking at a column that is part of a file is not free.
    let (first_release, words) = (&*index.first_release, &*index.words);
    let (starts, edges) = (&*index.edges.starts, &*index.edges.items);
    let spec_count = index.specs.0.len();
    let release_count = |name: usize| first_release[name + 1] - first_release[name];
    // For each package the release that was seen to require it last, counted from one.
    let mut requirers = vec![0; names];
    // Of one package: where sets stand, what they are about, and who was found to have them; and for
    // each word the set that begins there.
    let mut sets: Vec<(usize, usize)> = Vec::new();
    let mut found: Vec<u64> = Vec::new();
    let mut beginning: Vec<Option<usize>> = Vec::new();
    let mut next = 0;
    for bounds in first_release.windows(2) {
        let (first, count) = (bounds[0], bounds[1] - bounds[0]);
        let width_of_owners = width(count);
        let first_set = next;
        sets.clear();
        found.clear();
        beginning.clear();
        for release in first..first + count {
            let range = starts[release as usize] as usize..starts[release as usize + 1] as usize;
            let position = (release - first) as usize;
            for [target, spec, at] in &edges[range] {
                let (target, at) = (*target as usize, *at as usize);
                that(target < names && *spec < spec_count, EDGES)?;
                that(requirers[target] != release + 1, EDGES)?;
                requirers[target] = release + 1;
                let set = if at == next {
                    let allowed = match release_count(target) {
                        0 => 0,
                        count => width(count),
                    };
                    next += width_of_owners + allowed;
                    that(next <= words.len(), SETS)?;
                    beginning.push(Some(sets.len()));
                    beginning.resize(next - first_set, None);
                    sets.push((at, target));
                    found.resize(found.len() + width_of_owners, 0);
                    sets.len() - 1
                } else {
                    let place = at.checked_sub(first_set);
                    let known = place.and_then(|place| *beginning.get(place)?);
                    known.filter(|set| sets[*set].1 == target).ok_or(SETS)?
                };
                found[set * width_of_owners + position / 64] |= 1 << (position % 64);
            }
        }
        for ((at, target), found) in sets.iter().zip(found.chunks_exact(width_of_owners)) {
            let (owners, rest) = words[*at..].split_at(width_of_owners);
            that(owners == found, SETS)?;
            let count = release_count(*target);
            // No release stands there.
            let is_free = count == 0 || rest[width(count) - 1] >> (count % 64) == 0;
            that(is_free, SETS)?;
        }
    }
    that(next == words.len(), SETS)
}

fn check_classes(index: &CompiledIndex, releases: usize) -> Checked {
    const CLASSES: &str = "classes";
    count(&index.class_names.0, CLASSES)?;
    sorted(&index.class_names, ClassName::is_name, "names of classes")?;
    let names = index.class_names.0.len();
    let tables = count(&index.table_classes, CLASSES)?;
    that(count(&index.externals, CLASSES)? == tables, CLASSES)?;
    let (classes, parents) = (&*index.table_classes.items, &*index.parents.items);
    that(count(&index.parents, CLASSES)? == classes.len(), CLASSES)?;
    that(index.class_flags.len() == classes.len(), CLASSES)?;
    that(index.tables.len() == releases, CLASSES)?;
    let is_table = |table: &u32| *table as usize <= tables;
    that(index.tables.iter().all(is_table), CLASSES)?;
    let (class_starts, parent_starts) = (&*index.table_classes.starts, &*index.parents.starts);
    for table in 0..to_u32(tables) {
        let own = index.table_classes(table);
        let is_ascending = own.is_sorted_by(|one, two| one < two);
        that(
            is_ascending && own.last().is_none_or(|last| *last < names),
            CLASSES,
        )?;
        let externals = index.externals(table);
        let is_external = |class: &u32| *class < names && own.binary_search(class).is_err();
        that(externals.iter().all(is_external), "classes of others")?;
        let ends = [table, table + 1].map(|table| class_starts[table as usize] as usize);
        let range = parent_starts[ends[0]] as usize..parent_starts[ends[1]] as usize;
        let is_parent = |parent: &u32| {
            let count = if parent & 1 == 0 { own } else { externals }.len();
            ((parent >> 1) as usize) < count
        };
        that(parents[range.clone()].iter().all(is_parent), CLASSES)?;
        // Classes of others are numbered in the order in which they are first extended.
        let extended = parents[range].iter().filter(|parent| *parent & 1 == 1);
        let mut seen = 0;
        for number in extended.map(|parent| parent >> 1) {
            that(number <= seen, CLASSES)?;
            seen = seen.max(number + 1);
        }
        that(seen as usize == externals.len(), CLASSES)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits};

    use super::*;

    /// The index of a release whose class extends two classes of others.
    fn index() -> CompiledIndex {
        let line = r#"{"name":"A","version":"1.0.0","classes":{"A.C":{"extends":["B.C","B.D"]}}}"#;
        let record = IndexRecord::parse_line(line, &Limits::default());
        CompiledIndex::compile([&record.expect("the test writes lines")])
    }

    #[test]
    fn classes_of_others_are_those_that_classes_extend() {
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
