//! Releases as texts: what the reader of a manifest would see.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use pkgres_manifest::{ObjectId, Package, PackageName, Requirement, Spec, Version};

use super::{ClassId, ClassTable, PackageId, ReleaseId, Universe};
use crate::set::PositionSet;

/// A package that a release requires.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) package: PackageId,
    pub(crate) requirement: Requirement,
    /// What is written, if an override stands in its place.
    pub(crate) overridden: Option<Spec>,
    /// The object of a model that it is for, and the class that the release must define.
    pub(crate) object: Option<(ObjectId, ClassId)>,
}

/// The classes of a release with their properties, which only object models need.
#[derive(Debug, Clone, Default)]
pub(crate) enum Body {
    #[default]
    NotAskedFor,
    /// Nobody has them.
    Unavailable,
    Known(Arc<Package>),
}

/// What a release requires and defines, in terms of the universe.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) edges: Box<[Edge]>,
    /// `None` if the classes are unknown.
    pub(crate) classes: Option<Arc<ClassTable>>,
}

/// A requirement of a release, in words.
pub(crate) struct Required {
    pub(crate) package: PackageId,
    pub(crate) spec: Spec,
    /// What is written, where an override stands in its place.
    pub(crate) overridden: Option<Spec>,
    /// Whether nobody wrote it: every package requires the core library.
    pub(crate) is_implied: bool,
}

impl Universe {
    /// Takes the classes of a release, with their properties; returns whether there is such a release.
    pub(crate) fn provide_classes(
        &mut self,
        name: &PackageName,
        version: &Version,
        classes: Option<Arc<Package>>,
    ) -> bool {
        let package = self.package_id(name);
        if !self.is_delivered(package) {
            return false;
        }
        let Some(index) = self.index_of(package, version) else {
            return false;
        };
        let body = match classes {
            Some(classes) => {
                self.meet_classes_of_contracts(&classes);
                Body::Known(classes)
            }
            None => Body::Unavailable,
        };
        self.bodies.insert(ReleaseId { package, index }, body);
        true
    }

    /// The classes of a release with their properties.
    pub(crate) fn body(&self, release: ReleaseId) -> &Body {
        self.bodies.get(&release).unwrap_or(&Body::NotAskedFor)
    }

    /// Works out what a release requires and defines, the first time it is asked.
    pub(crate) fn details(&mut self, release: ReleaseId) -> Arc<Details> {
        if let Some(details) = self.details.get(&release) {
            return Arc::clone(details);
        }
        let details = Arc::new(self.work_out(release));
        self.details.insert(release, Arc::clone(&details));
        details
    }

    /// The details of a release that [`details`](Self::details) was called for.
    pub(crate) fn known_details(&self, release: ReleaseId) -> &Arc<Details> {
        self.details
            .get(&release)
            .expect("the details of chosen releases have been worked out")
    }

    fn work_out(&mut self, release: ReleaseId) -> Details {
        let (loaded, number) = self.place(release);
        let index = Arc::clone(self.indexes[loaded as usize].index());
        let core = self.core.filter(|core| *core != release.package);
        let mut edges = Vec::new();
        if let Some(core) = core {
            let name = self.name(core).clone();
            let (spec, overridden) = self.as_overridden(core, Spec::unspecified());
            edges.push(Edge {
                package: core,
                object: None,
                requirement: Requirement {
                    package: name,
                    spec,
                    location: None,
                },
                overridden,
            });
        }
        for edge in index.requirement_range(number) {
            let package = self.package_in(loaded, index.requirement_target(edge));
            if package == release.package {
                continue;
            }
            let spec = self.spec(loaded, index.requirement_spec(edge));
            let (spec, overridden) = self.as_overridden(package, spec);
            let written = Edge {
                package,
                requirement: Requirement {
                    package: self.name(package).clone(),
                    spec,
                    location: index.location(edge).cloned(),
                },
                overridden,
                object: None,
            };
            if Some(package) == core {
                edges[0] = written;
            } else {
                edges.push(written);
            }
        }
        Details {
            edges: edges.into_boxed_slice(),
            classes: self.class_table(release),
        }
    }

    /// Whether a release requires the core library only because every package does, and does not say so
    /// itself.
    pub(crate) fn implies(&self, release: ReleaseId, target: PackageId) -> bool {
        let is_said = release.package == target || self.is_model(release.package);
        if self.core != Some(target) || is_said {
            return false;
        }
        let delivered = self.delivered(release.package);
        let loaded = &self.indexes[delivered.loaded as usize];
        let mut edges = loaded
            .index()
            .requirement_range(delivered.first + release.index);
        !edges.any(|edge| {
            let seen = loaded.seen.packages[loaded.index().requirement_target(edge) as usize];
            seen.package() == Some(target)
        })
    }

    /// What a requirement says, and what is written if that is something else.
    fn as_overridden(&self, package: PackageId, written: Spec) -> (Spec, Option<Spec>) {
        match self.overriding(package) {
            Some(spec) => (spec.clone(), Some(written)),
            None => (written, None),
        }
    }

    /// Goes through the requirements of a release of a selection, in the order of
    /// [`requirements`](Self::requirements). Specs that were read are kept in `specs`.
    pub(crate) fn each_requirement(
        &self,
        release: ReleaseId,
        specs: &mut FxHashMap<(u32, u32), Spec>,
        mut see: impl FnMut(Required),
    ) {
        if self.is_model(release.package) {
            for edge in &self.known_details(release).edges {
                see(Required {
                    package: edge.package,
                    spec: edge.requirement.spec.clone(),
                    overridden: None,
                    is_implied: false,
                });
            }
            return;
        }
        let delivered = self.delivered(release.package);
        let loaded = &self.indexes[delivered.loaded as usize];
        let index = loaded.index();
        let edges = index.requirement_range(delivered.first + release.index);
        let mut written = |edge: usize| {
            let number = index.requirement_spec(edge);
            let spec = specs.entry((delivered.loaded, number));
            spec.or_insert_with(|| loaded.spec(number)).clone()
        };
        let target = |edge: usize| {
            let seen = loaded.seen.packages[index.requirement_target(edge) as usize];
            seen.package().expect("what was chosen was seen")
        };
        let core = self.core.filter(|core| *core != release.package);
        if let Some(core) = core {
            let on_core = edges.clone().rfind(|edge| target(*edge) == core);
            let spec = on_core.map_or_else(Spec::unspecified, &mut written);
            let (spec, overridden) = self.as_overridden(core, spec);
            see(Required {
                package: core,
                spec,
                overridden,
                is_implied: on_core.is_none(),
            });
        }
        for edge in edges {
            let package = target(edge);
            if package != release.package && Some(package) != core {
                let (spec, overridden) = self.as_overridden(package, written(edge));
                see(Required {
                    package,
                    spec,
                    overridden,
                    is_implied: false,
                });
            }
        }
    }

    /// A spec of a loaded index.
    pub(super) fn spec(&mut self, loaded: u32, number: u32) -> Spec {
        let loaded = &mut self.indexes[loaded as usize];
        let spec = loaded.spec(number);
        loaded.specs.entry(number).or_insert_with(|| spec.clone());
        spec
    }

    /// The candidates that a requirement allows.
    pub(crate) fn allowed(&self, edge: &Edge) -> PositionSet {
        let candidates = self.candidates_of(edge.package);
        let matching = self.versions_in(edge.package, &edge.requirement.spec);
        let matching = matching.intersection(&candidates);
        match edge.object {
            Some((_, class)) => matching.intersection(&self.definers(edge.package, class)),
            None => matching,
        }
    }
}
