//! An index file that is generated from a seed: many packages, of which a root needs few.
//!
//! Packages come in families that require nothing outside of the family, so that a root reaches
//! a part of the index that is known beforehand and small.

use std::io::{self, Write};

use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, IndexedClass, PackageName, Requirement, Shared, Spec,
    Version, sha256,
};

use crate::random::Random;

/// How many packages a family has.
const FAMILY: usize = 20;

/// How many packages of its family a release requires at most.
const DEPENDENCIES: usize = 4;

/// The shape of a generated index.
#[derive(Debug, Clone, Copy)]
pub struct IndexShape {
    /// How many packages there are.
    pub packages: usize,
    /// How many versions each of them has.
    pub versions: u32,
}

impl IndexShape {
    /// How many families there are.
    pub fn families(&self) -> usize {
        self.packages / FAMILY
    }

    /// Writes the index of this shape and seed. Little of it is in memory at any time.
    pub fn write(&self, seed: u64, output: &mut impl Write) -> io::Result<()> {
        let mut random = Random::new(seed);
        for package in 0..self.packages {
            for version in 0..self.versions {
                let record = self.record(&mut random, package, version);
                writeln!(output, "{}", record.to_line())?;
            }
        }
        Ok(())
    }

    /// The manifest of a root that requires the first packages of some families, which are spread
    /// over the whole index.
    pub fn root_manifest(&self, families: usize) -> String {
        let mut text =
            "Format: 1.4\nFullName: org.example.Root\nVersion: 1.0.0\nType: Application\n"
                .to_owned();
        for family in 0..families {
            if family == 0 {
                text.push_str("Require:\n");
            }
            let first = self.families() * family / families * FAMILY;
            text.push_str(&format!("  {}: 2\n", name(first)));
        }
        text
    }

    fn record(&self, random: &mut Random, package: usize, version: u32) -> IndexRecord {
        // Half of the versions are 1.x, the newer half 2.x.
        let (major, minor) = if version < self.versions / 2 {
            (1, version)
        } else {
            (2, version - self.versions / 2)
        };
        let written = format!("{major}.{minor}.0");
        let mut record = IndexRecord::new(
            name(package),
            Version::parse(&written).expect("three numbers are a version"),
        );
        record.format = Some("MuranoPL/1.4".into());
        // Packages require later ones of their family: there are no cycles, and the newest of
        // everything always fits.
        let later = FAMILY - 1 - package % FAMILY;
        let count = random.index(DEPENDENCIES.min(later) + 1);
        let mut targets: Vec<usize> = (0..count)
            .map(|_| package + 1 + random.index(later))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        record.requirements = targets
            .iter()
            .map(|target| Requirement {
                package: name(*target),
                spec: spec(random),
                location: None,
            })
            .collect();
        let main = class(package, "Main");
        record.classes = Some(Shared::from(vec![
            IndexedClass {
                name: main.clone(),
                internal: false,
                extends: targets
                    .first()
                    .map(|target| class(*target, "Main"))
                    .into_iter()
                    .collect(),
                implements: Vec::new(),
                uses: Vec::new(),
            },
            IndexedClass {
                name: class(package, "Settings"),
                internal: false,
                extends: Vec::new(),
                implements: Vec::new(),
                uses: vec![main],
            },
        ]));
        let digest = sha256(format!("{package} {written}").as_bytes());
        record.digest = Some(ArtifactDigest::Archive(digest));
        record.size = Some(4096 + u64::from(random.below(65_536)));
        record.published = Some("2026-01-01T00:00:00Z".to_owned());
        record
    }
}

fn name(package: usize) -> PackageName {
    let text = format!("org.example.family{}.Package{package}", package / FAMILY);
    PackageName::parse(&text).expect("dotted words are a name")
}

fn class(package: usize, class: &str) -> ClassName {
    ClassName::parse(&format!("{}.{class}", name(package))).expect("dotted words are a name")
}

fn spec(random: &mut Random) -> Spec {
    let text = match random.below(3) {
        0 => "2".to_owned(),
        1 => format!(">=1.{}", random.below(5)),
        _ => format!(">=1.{},<3", random.below(5)),
    };
    Spec::parse(&text).expect("bounds are a spec")
}
