//! The rules of resolution that differ between ecosystems.

/// The rules of resolutions of an ecosystem, as far as they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
#[non_exhaustive]
pub struct Rules {
    /// Whether every package requires the core library implicitly.
    pub has_core_library: bool,
    /// Whether classes may extend each other in a cycle, as modules may import each other. The solver then checks that
    /// extended classes are defined, and nothing else about classes.
    pub class_cycles: bool,
    /// Whether classes inherit from what they extend, as types do. Modules that import each other do not. It decides what
    /// `pkgres semver` compares.
    pub inheritance: bool,
    /// Whether version bumps promise what changed, as Semantic Versioning has it.
    pub semantic_versions: bool,
    /// When a prerelease is a candidate.
    pub prereleases: Prereleases,
    /// Whether the native tool takes the newest release of all registries. pkgres takes the first registry that has the
    /// package, and says so where the other has a newer release.
    pub newest_of_registries: bool,
    /// Whether artifacts are loaded one after the other, each after those that it requires.
    pub load_order: bool,
    /// The package that the host provides, such as `ansible-core`. `--provide NAME=VERSION` says its version; without it,
    /// requirements on the package are left out.
    pub host: Option<&'static str>,
}

impl Rules {
    /// The rules of class packages.
    pub const CLASS_PACKAGES: Self = Self {
        has_core_library: true,
        class_cycles: false,
        inheritance: true,
        semantic_versions: true,
        prereleases: Prereleases::Ordered,
        newest_of_registries: false,
        load_order: false,
        host: None,
    };

    /// The rules of most other ecosystems: modules may import each other and inherit nothing, versions are semantic,
    /// prereleases are always candidates, the first registry that has a package is taken, and nothing is implicit.
    pub const OF_MODULES: Self = Self {
        has_core_library: false,
        class_cycles: true,
        inheritance: false,
        semantic_versions: true,
        prereleases: Prereleases::Ordered,
        newest_of_registries: false,
        load_order: false,
        host: None,
    };

    /// These rules for a native tool that takes the newest release of all registries.
    #[must_use]
    pub const fn with_newest_of_registries(self) -> Self {
        Self {
            newest_of_registries: true,
            ..self
        }
    }

    /// These rules for artifacts that are loaded one after the other.
    #[must_use]
    pub const fn with_load_order(self) -> Self {
        Self {
            load_order: true,
            ..self
        }
    }

    /// These rules for classes that inherit, as types do.
    #[must_use]
    pub const fn with_inheritance(self) -> Self {
        Self {
            inheritance: true,
            ..self
        }
    }

    /// These rules for versions that promise nothing, such as dates.
    #[must_use]
    pub const fn with_dated_versions(self) -> Self {
        Self {
            semantic_versions: false,
            ..self
        }
    }

    /// These rules with a package that the host provides.
    #[must_use]
    pub const fn with_host(self, host: &'static str) -> Self {
        Self {
            host: Some(host),
            ..self
        }
    }

    /// These rules with another one for prereleases.
    #[must_use]
    pub const fn with_prereleases(self, prereleases: Prereleases) -> Self {
        Self {
            prereleases,
            ..self
        }
    }
}

/// When a prerelease is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prereleases {
    /// Always, after all stable releases unless a requirement names a prerelease.
    Ordered,
    /// If a requirement names exactly it, or if the package has no stable release.
    IfNamed,
}
