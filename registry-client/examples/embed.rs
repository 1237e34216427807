//! Embeds the resolver: packages in memory, no files, no network.
//!
//! `cargo run -p pkgres-registry-client --example embed` prints the chosen versions, and then why
//! another set of packages has none.

use std::error::Error;
use std::fmt::Write as _;

use pkgres_manifest::{IndexRecord, Limits, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, drive};
use pkgres_resolver::{Request, Resolver};

const WEB: &str = r#"{"name":"org.acme.Web","version":"1.0.0",
    "require":[["org.acme.Auth","1"],["org.acme.Db","1"]]}"#;

const FITTING: &[&str] = &[
    r#"{"name":"org.acme.Auth","version":"1.1.0","require":[["org.acme.Db",">=1.2"]]}"#,
    r#"{"name":"org.acme.Db","version":"1.4.0"}"#,
    r#"{"name":"org.acme.Db","version":"2.0.0"}"#,
];

const CLASHING: &[&str] = &[
    r#"{"name":"org.acme.Auth","version":"1.1.0","require":[["org.acme.Db","2"]]}"#,
    r#"{"name":"org.acme.Db","version":"1.4.0"}"#,
    r#"{"name":"org.acme.Db","version":"2.0.0"}"#,
];

/// Solves for a root; says which versions were chosen, or why there are none.
pub fn resolve(root: &str, releases: &[&str]) -> Result<String, Box<dyn Error>> {
    let limits = Limits::default();
    let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
    for release in releases {
        registry.add_record(IndexRecord::parse_line(release, &limits)?);
    }
    let mut request = Request::new(IndexRecord::parse_line(root, &limits)?);
    // A host that has a core library provides it, or adds it to the registry.
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

// What it prints is what an example is run for.
#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", resolve(WEB, FITTING)?);
    println!("{}", resolve(WEB, CLASHING)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_or_the_reasons() -> Result<(), Box<dyn Error>> {
        assert_eq!(
            resolve(WEB, FITTING)?,
            "org.acme.Auth 1.1.0\norg.acme.Db 1.4.0\n"
        );
        assert_eq!(
            resolve(WEB, CLASHING)?,
            "PK0012: no version of `org.acme.Db` satisfies everyone\n  \
             org.acme.Web 1.0.0 requires org.acme.Db 1\n  \
             org.acme.Auth 1.1.0 requires org.acme.Db 2\n  \
             org.acme.Web 1.0.0 requires org.acme.Auth 1\n"
        );
        Ok(())
    }
}
