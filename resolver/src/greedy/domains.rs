//! Domains of packages: the releases that the requirements seen so far allow.
//!
//! Domains are read for each requirement, in an order that the processor cannot predict. So the
//! domain of a package takes 16 bytes, and packages with few releases need no other memory.

use crate::index::{NONE, to_u32};
use crate::set::bits;
use crate::universe::{PackageId, ReleaseId};

#[derive(Debug, Clone, Copy)]
struct PackageDomain {
    /// The allowed releases; if they have several words, the index of these.
    values: u64,
    /// The selected release; [`NONE`] while there is none.
    chosen: u32,
    is_wide: bool,
    prerelease_named: bool,
}

impl PackageDomain {
    /// The domain without any requirement.
    const UNRESTRICTED: Self = Self {
        values: u64::MAX,
        chosen: NONE,
        is_wide: false,
        prerelease_named: false,
    };

    /// The index of the words, if there are several.
    #[inline]
    fn words(self) -> Option<usize> {
        let place = || usize::try_from(self.values).expect("it is the place of a word");
        self.is_wide.then(place)
    }
}

#[derive(Debug, Clone, Copy)]
enum ChangedWord {
    Package(PackageId),
    Word(u32),
}

/// The domains of all packages, with an undo log.
#[derive(Debug, Default)]
pub(super) struct Domains {
    /// By package.
    all: Vec<PackageDomain>,
    /// The words of domains with several words.
    words: Vec<u64>,
    /// The earlier words, for changes since the checkpoint.
    undo_log: Vec<(ChangedWord, u64)>,
}

impl Domains {
    /// Makes room for so many packages.
    pub(super) fn grow(&mut self, packages: usize) {
        if packages > self.all.len() {
            self.all.resize(packages, PackageDomain::UNRESTRICTED);
        }
    }

    /// Restricts a domain, if the selected release stays in it or, without one, any release does.
    /// Otherwise the domain is restricted only if that is `forced`. Returns whether the restriction
    /// fits.
    #[inline]
    pub(super) fn restrict(&mut self, package: PackageId, to: &[u64], forced: bool) -> bool {
        let [to] = to else {
            return self.restrict_wide(package, to, forced);
        };
        let package_domain = &mut self.all[package.position()];
        let remaining = package_domain.values & to;
        let fits = match package_domain.chosen {
            NONE => remaining != 0,
            chosen => to >> chosen & 1 == 1,
        };
        if remaining != package_domain.values && (fits || forced) {
            self.undo_log
                .push((ChangedWord::Package(package), package_domain.values));
            package_domain.values = remaining;
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

    /// The index of the words of a domain with several.
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

    /// The domain of a package that is required; its sets have so many words.
    #[inline]
    pub(super) fn of(&self, package: PackageId, width: usize) -> &[u64] {
        let package_domain = &self.all[package.position()];
        match package_domain.words() {
            Some(from) => &self.words[from..from + width],
            None => std::slice::from_ref(&package_domain.values),
        }
    }

    /// Removes a release, without a record in the undo log.
    pub(super) fn remove(&mut self, release: ReleaseId) {
        let package_domain = &mut self.all[release.package.position()];
        match package_domain.words() {
            Some(from) => bits::remove(&mut self.words[from..], release.index),
            None => package_domain.values &= !(1 << release.index),
        }
    }

    /// Selects a release.
    #[inline]
    pub(super) fn choose(&mut self, release: ReleaseId) {
        self.all[release.package.position()].chosen = release.index;
    }

    /// The selected release.
    #[inline]
    pub(super) fn chosen(&self, package: PackageId) -> Option<u32> {
        let chosen = self.all[package.position()].chosen;
        (chosen != NONE).then_some(chosen)
    }

    /// Records that a requirement names a prerelease of a package.
    pub(super) fn name_prerelease(&mut self, package: PackageId) {
        self.all[package.position()].prerelease_named = true;
    }

    #[inline]
    pub(super) fn is_prerelease_named(&self, package: PackageId) -> bool {
        self.all[package.position()].prerelease_named
    }

    /// Sets the checkpoint that [`rollback`](Self::rollback) restores.
    #[inline]
    pub(super) fn checkpoint(&mut self) {
        self.undo_log.clear();
    }

    /// Undoes the changes since the checkpoint.
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
        Universe::default().catalog.package_id(&name)
    }

    fn release(index: u32) -> ReleaseId {
        let package = package();
        ReleaseId { package, index }
    }

    /// Runs a check with sets of one word and of two.
    fn both(check: impl Fn(&mut Domains, &dyn Fn(&[u32]) -> Vec<u64>, u32)) {
        for width in [1, 2] {
            let set = |numbers: &[u32]| {
                let mut words = vec![0; width];
                for number in numbers {
                    bits::insert(&mut words, *number);
                }
                words
            };
            let mut domains = Domains::default();
            domains.grow(1);
            let high = if width == 1 { 7 } else { 70 };
            check(&mut domains, &set, high);
        }
    }

    #[test]
    fn changes_are_rolled_back() {
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
    fn a_restriction_that_empties_a_domain_is_applied_only_if_forced() {
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
    fn a_selected_release_has_to_be_allowed() {
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
    fn a_removed_release_is_not_restored() {
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
