//! What the requirements that were seen leave of each package.
//!
//! This is looked at for each requirement, in no order that a processor could foresee. So a package
//! has one small place, and with few releases it needs no other.

use prefetch_index::prefetch_index;

use crate::index::{NONE, to_u32};
use crate::room::Room as _;
use crate::universe::{PackageId, ReleaseId};
use crate::words;

/// What is left of a package.
#[derive(Debug, Clone, Copy)]
struct Constraint {
    /// The releases that are left; if they take several words, where these stand.
    left: u64,
    /// The release that was decided on; [`NONE`] as long as there is none.
    chosen: u32,
    is_wide: bool,
    prerelease_named: bool,
}

impl Constraint {
    /// What is left if nobody requires anything of it.
    const NONE: Self = Self {
        left: u64::MAX,
        chosen: NONE,
        is_wide: false,
        prerelease_named: false,
    };
}

/// Where a word stands that was changed.
#[derive(Debug, Clone, Copy)]
enum Place {
    Package(PackageId),
    Words(u32),
}

/// What is left of all packages.
#[derive(Debug, Default)]
pub(super) struct Constraints {
    /// By package.
    all: Vec<Constraint>,
    /// What is left of packages whose releases take several words.
    words: Vec<u64>,
    /// What there was before the changes that can be taken back.
    before: Vec<(Place, u64)>,
}

impl Constraints {
    /// Makes places for so many packages.
    pub(super) fn make_places(&mut self, packages: usize) {
        if let Some(more) = packages.checked_sub(self.all.len()) {
            self.all.make_room(more);
            self.all.resize(packages, Constraint::NONE);
        }
    }

    /// Leaves a package only some releases, if that can be: one that was decided on has to be among
    /// them, or else any that is left. What is `forced` is done all the same. Says whether it can be.
    #[inline]
    pub(super) fn restrict(&mut self, package: PackageId, to: &[u64], forced: bool) -> bool {
        let [to] = to else {
            return self.restrict_wide(package, to, forced);
        };
        let constraint = &mut self.all[package.position()];
        let left = constraint.left & to;
        let fits = match constraint.chosen {
            NONE => left != 0,
            chosen => to >> chosen & 1 == 1,
        };
        if left != constraint.left && (fits || forced) {
            self.before.make_room(1);
            self.before.push((Place::Package(package), constraint.left));
            constraint.left = left;
        }
        fits
    }

    fn restrict_wide(&mut self, package: PackageId, to: &[u64], forced: bool) -> bool {
        let from = self.widen(package, to.len());
        let words = &mut self.words[from..from + to.len()];
        let fits = match self.all[package.position()].chosen {
            NONE => !words::is_disjoint(words, to),
            chosen => words::contains(to, chosen),
        };
        if fits || forced {
            for ((at, word), to) in (to_u32(from)..).zip(words).zip(to) {
                if *word & !to != 0 {
                    self.before.make_room(1);
                    self.before.push((Place::Words(at), *word));
                    *word &= to;
                }
            }
        }
        fits
    }

    /// Where the words of a package stand that has several.
    fn widen(&mut self, package: PackageId, width: usize) -> usize {
        let constraint = &mut self.all[package.position()];
        if !constraint.is_wide {
            constraint.is_wide = true;
            constraint.left = u64::from(to_u32(self.words.len()));
            self.words.make_room(width);
            self.words.resize(self.words.len() + width, u64::MAX);
        }
        usize::try_from(constraint.left).expect("it is the place of a word")
    }

    /// The releases of a package that are left, if somebody requires it; the sets of its releases
    /// have so many words.
    #[inline]
    pub(super) fn left(&self, package: PackageId, width: usize) -> &[u64] {
        let constraint = &self.all[package.position()];
        if constraint.is_wide {
            let from = usize::try_from(constraint.left).expect("it is the place of a word");
            &self.words[from..from + width]
        } else {
            std::slice::from_ref(&constraint.left)
        }
    }

    /// Takes a release away for good.
    pub(super) fn remove(&mut self, release: ReleaseId) {
        let constraint = &mut self.all[release.package.position()];
        if constraint.is_wide {
            let from = usize::try_from(constraint.left).expect("it is the place of a word");
            words::remove(&mut self.words[from..], release.index);
        } else {
            constraint.left &= !(1 << release.index);
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

    /// Fetches what is left of a package from memory before it is looked at.
    #[inline]
    pub(super) fn fetch(&self, package: PackageId) {
        prefetch_index(&self.all, package.position());
    }

    /// From now on changes can be taken back.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.before.clear();
    }

    /// Takes back the changes since the beginning.
    pub(super) fn take_back(&mut self) {
        for (place, word) in self.before.drain(..).rev() {
            match place {
                Place::Package(package) => self.all[package.position()].left = word,
                Place::Words(at) => self.words[at as usize] = word,
            }
        }
    }
}
