//! Embeds the resolver: packages in memory, no files, no network.
//!
//! `cargo run -p pkgres-registry-client --example embed` prints the chosen versions, and then why another set of
//! packages has no solution.

use std::error::Error;
use std::fmt::Write as _;

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, drive};
use pkgres_resolver::{Request, Resolver};

/// A release: its package, its version, and its requirements as packages with specs.
type Release<'text> = (&'text str, [u64; 3], &'text [(&'text str, &'text str)]);

const WEB: Release<'static> = (
    "org.acme.Web",
    [1, 0, 0],
    &[("org.acme.Auth", "1"), ("org.acme.Db", "1")],
);

const SOLVABLE: &[Release<'static>] = &[
    ("org.acme.Auth", [1, 1, 0], &[("org.acme.Db", ">=1.2")]),
    ("org.acme.Db", [1, 4, 0], &[]),
    ("org.acme.Db", [2, 0, 0], &[]),
];

const CONFLICTING: &[Release<'static>] = &[
    ("org.acme.Auth", [1, 1, 0], &[("org.acme.Db", "2")]),
    ("org.acme.Db", [1, 4, 0], &[]),
    ("org.acme.Db", [2, 0, 0], &[]),
];

/// Makes the record of a release, as a program does with releases of its own.
fn record(
    (name, [major, minor, patch], requires): Release<'_>,
) -> Result<IndexRecord, Box<dyn Error>> {
    let version = Version::new(major, minor, patch);
    let mut record = IndexRecord::new(PackageName::parse(name)?, version);
    for (package, spec) in requires {
        record = record.with_requirement(PackageName::parse(package)?, Spec::parse(spec)?);
    }
    Ok(record)
}

/// Solves for a root; returns the chosen versions, or the reasons why there are none.
fn resolve(root: Release<'_>, releases: &[Release<'_>]) -> Result<String, Box<dyn Error>> {
    let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
    for release in releases {
        registry.add_record(record(*release)?);
    }
    let mut request = Request::new(record(root)?);
    // A host with a core library provides it, or adds it to the registry.
    request.core = None;
    request.options.single_version = true;

    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let mut resolver = Resolver::new(request);
    let mut text = String::new();
    match drive(&mut resolver, &registries, &ReadOptions::default())? {
        Answer::Solved(resolution) => {
            for package in resolution.packages() {
                writeln!(text, "{} {}", package.name, package.version)?;
            }
        }
        Answer::Conflict(conflict) => {
            writeln!(text, "{}: {}", conflict.code, conflict.summary)?;
            for reason in &conflict.reasons {
                writeln!(text, "  {}", reason.text)?;
            }
        }
        Answer::GaveUp { steps } => writeln!(text, "gave up after {steps} steps")?,
        Answer::Cancelled => writeln!(text, "cancelled")?,
    }
    Ok(text)
}

// An example is run for its output.
#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", resolve(WEB, SOLVABLE)?);
    println!("{}", resolve(WEB, CONFLICTING)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_or_the_reasons() -> Result<(), Box<dyn Error>> {
        assert_eq!(
            resolve(WEB, SOLVABLE)?,
            "org.acme.Auth 1.1.0\norg.acme.Db 1.4.0\n"
        );
        assert_eq!(
            resolve(WEB, CONFLICTING)?,
            "PK0012: no version of `org.acme.Db` satisfies all requirements\n  \
             org.acme.Web 1.0.0 requires org.acme.Db 1\n  \
             org.acme.Auth 1.1.0 requires org.acme.Db 2\n  \
             org.acme.Web 1.0.0 requires org.acme.Auth 1\n"
        );
        Ok(())
    }
}
