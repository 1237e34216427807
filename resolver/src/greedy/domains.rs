//! What the requirements that were seen leave of each package.
//!
//! This is looked at for each requirement, in no order that a processor could foresee. So a package
//! has one small place, and with few releases it needs no other.

use crate::index::{NONE, to_u32};
use crate::set::bits;
use crate::universe::{PackageId, ReleaseId};

/// What is left of a package.
#[derive(Debug, Clone, Copy)]
struct PackageDomain {
    /// The releases that are left; if they take several words, where these stand.
    values: u64,
    /// The release that was decided on; [`NONE`] as long as there is none.
    chosen: u32,
    is_wide: bool,
    prerelease_named: bool,
}

impl PackageDomain {
    /// Everything, as long as nobody requires anything of it.
    const UNRESTRICTED: Self = Self {
        values: u64::MAX,
        chosen: NONE,
        is_wide: false,
        prerelease_named: false,
    };

    /// Where the words of the releases stand that are left, if these are several.
    #[inline]
    fn words(self) -> Option<usize> {
        let place = || usize::try_from(self.values).expect("it is the place of a word");
        self.is_wide.then(place)
    }
}

/// Where a word stands that was changed.
#[derive(Debug, Clone, Copy)]
enum ChangedWord {
    Package(PackageId),
    Word(u32),
}

/// What is left of all packages.
#[derive(Debug)]
pub(super) struct Domains {
    /// By package.
    all: Vec<PackageDomain>,
    /// What is left of packages whose releases take several words.
    words: Vec<u64>,
    /// What there was undo_log the changes that can be taken back.
    undo_log: Vec<(ChangedWord, u64)>,
}

impl Domains {
    /// Nothing was required yet; there is room for so many packages.
    pub(super) fn with_capacity(packages: usize) -> Self {
        Self {
            all: Vec::with_capacity(packages),
            words: Vec::new(),
            undo_log: Vec::with_capacity(packages),
        }
    }

    /// Makes places for so many packages.
    pub(super) fn grow(&mut self, packages: usize) {
        if packages > self.all.len() {
            self.all.resize(packages, PackageDomain::UNRESTRICTED);
        }
    }

    /// Leaves a package only some releases, if that can be: one that was decided on has to be among
    /// them, or else any that is left. What is `forced` is done all the same. Says whether it can be.
    #[inline]
    pub(super) fn restrict(&mut self, package: PackageId, to: &[u64], forced: bool) -> bool {
        let [to] = to else {
            return self.restrict_wide(package, to, forced);
        };
        let package_domain = &mut self.all[package.position()];
        let left = package_domain.values & to;
        let fits = match package_domain.chosen {
            NONE => left != 0,
            chosen => to >> chosen & 1 == 1,
        };
        if left != package_domain.values && (fits || forced) {
            self.undo_log
                .push((ChangedWord::Package(package), package_domain.values));
            package_domain.values = left;
        }
        fits
    }

    fn restrict_wide(&mut self, package: PackageId, to: &[u64], forced: bool) -> bool {
        let from = self.widen(package, to.len());
        let words = &mut self.words[from..from + to.len()];
        let fits = match self.all[package.position()].chosen {
            NONE => !bits::is_disjoint(words, to),
            chosen => bits::contains(to, chosen),
        };
        if fits || forced {
            for ((at, word), to) in (to_u32(from)..).zip(words).zip(to) {
                if *word & !to != 0 {
                    self.undo_log.push((ChangedWord::Word(at), *word));
                    *word &= to;
                }
            }
        }
        fits
    }

    /// Where the words of a package stand that has several.
    fn widen(&mut self, package: PackageId, width: usize) -> usize {
        let package_domain = &mut self.all[package.position()];
        package_domain.words().unwrap_or_else(|| {
            let from = self.words.len();
            package_domain.is_wide = true;
            package_domain.values = u64::from(to_u32(from));
            self.words.resize(from + width, u64::MAX);
            from
        })
    }

    /// The releases of a package that are left, if somebody requires it; the sets of its releases
    /// have so many words.
    #[inline]
    pub(super) fn of(&self, package: PackageId, width: usize) -> &[u64] {
        let package_domain = &self.all[package.position()];
        match package_domain.words() {
            Some(from) => &self.words[from..from + width],
            None => std::slice::from_ref(&package_domain.values),
        }
    }

    /// Takes a release away for good.
    pub(super) fn remove(&mut self, release: ReleaseId) {
        let package_domain = &mut self.all[release.package.position()];
        match package_domain.words() {
            Some(from) => bits::remove(&mut self.words[from..], release.index),
            None => package_domain.values &= !(1 << release.index),
        }
    }

    /// Decides on a release.
    #[inline]
    pub(super) fn choose(&mut self, release: ReleaseId) {
        self.all[release.package.position()].chosen = release.index;
    }

    /// The release that was decided on.
    #[inline]
    pub(super) fn chosen(&self, package: PackageId) -> Option<u32> {
        let chosen = self.all[package.position()].chosen;
        (chosen != NONE).then_some(chosen)
    }

    /// Says that a requirement names a prerelease of a package.
    pub(super) fn name_prerelease(&mut self, package: PackageId) {
        self.all[package.position()].prerelease_named = true;
    }

    /// Whether a requirement names a prerelease of a package.
    #[inline]
    pub(super) fn is_prerelease_named(&self, package: PackageId) -> bool {
        self.all[package.position()].prerelease_named
    }

    /// From now on changes can be taken back.
    #[inline]
    pub(super) fn checkpoint(&mut self) {
        self.undo_log.clear();
    }

    /// Takes back the changes since the beginning.
    pub(super) fn rollback(&mut self) {
        for (place, word) in self.undo_log.drain(..).rev() {
            match place {
                ChangedWord::Package(package) => self.all[package.position()].values = word,
                ChangedWord::Word(at) => self.words[at as usize] = word,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::universe::Universe;

    /// The only package.
    fn package() -> PackageId {
        let name = pkgres_manifest::PackageName::parse("org.acme.Web").expect("a name");
        Universe::default().package_id(&name)
    }

    fn release(index: u32) -> ReleaseId {
        let package = package();
        ReleaseId { package, index }
    }

    /// The same with sets of one word and of two.
    fn both(check: impl Fn(&mut Domains, &dyn Fn(&[u32]) -> Vec<u64>, u32)) {
        for width in [1, 2] {
            let set = |numbers: &[u32]| {
                let mut words = vec![0; width];
                for number in numbers {
                    bits::insert(&mut words, *number);
                }
                words
            };
            let mut domains = Domains::with_capacity(1);
            domains.grow(1);
            let high = if width == 1 { 7 } else { 70 };
            check(&mut domains, &set, high);
        }
    }

    #[test]
    fn changes_are_taken_back() {
        both(|domains, set, high| {
            let width = set(&[]).len();
            assert!(domains.restrict(package(), &set(&[1, 2, high]), false));
            domains.checkpoint();
            assert!(domains.restrict(package(), &set(&[2, 3, high]), false));
            assert!(domains.restrict(package(), &set(&[high]), false));
            assert_eq!(domains.of(package(), width), set(&[high]));
            domains.rollback();
            assert_eq!(domains.of(package(), width), set(&[1, 2, high]));
        });
    }

    #[test]
    fn what_leaves_nothing_is_only_done_if_forced() {
        both(|domains, set, high| {
            let width = set(&[]).len();
            assert!(domains.restrict(package(), &set(&[1, high]), false));
            assert!(!domains.restrict(package(), &set(&[2]), false));
            assert_eq!(domains.of(package(), width), set(&[1, high]));
            assert!(!domains.restrict(package(), &set(&[2]), true));
            assert_eq!(domains.of(package(), width), set(&[]));
        });
    }

    #[test]
    fn what_was_decided_on_has_to_be_allowed() {
        both(|domains, set, high| {
            assert!(domains.restrict(package(), &set(&[1, high]), false));
            assert_eq!(domains.chosen(package()), None);
            domains.choose(release(high));
            assert_eq!(domains.chosen(package()), Some(high));
            assert!(domains.restrict(package(), &set(&[0, high]), false));
            assert!(!domains.restrict(package(), &set(&[0, 1]), false));
        });
    }

    #[test]
    fn what_is_removed_stays_away() {
        both(|domains, set, high| {
            let width = set(&[]).len();
            assert!(domains.restrict(package(), &set(&[1, high]), false));
            domains.checkpoint();
            domains.remove(release(high));
            domains.rollback();
            assert_eq!(domains.of(package(), width), set(&[1]));
        });
    }
}
