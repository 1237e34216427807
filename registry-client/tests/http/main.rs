//! Registries on the network: requests, caches, trust and failures.

mod asynchronous;
mod downloads;
mod encrypted;
mod failures;
mod fake;
mod galaxy;
mod lies;
mod limits;
mod reading;
mod rereading;
mod state;

use std::path::Path;
use std::time::Duration;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Limits, RegistryName};
use pkgres_registry_client::http::HttpOptions;
use pkgres_registry_client::{Address, HttpRegistry, Registry, RegistryError};

use fake::{Fake, name};

/// The time of all tests.
const NOW: &str = "2026-06-01T00:00:00Z";

fn options(folder: &Path) -> HttpOptions {
    let mut options = HttpOptions::new(NOW.parse().expect("a time"));
    options.cache_folder = Some(folder.join("cache"));
    options.state_folder = Some(folder.join("state"));
    options.retry.attempts = 3;
    options.retry.first_delay = Duration::from_millis(1);
    options.retry.longest_delay = Duration::from_secs(2);
    options
}

fn connect(fake: &Fake, options: HttpOptions) -> HttpRegistry {
    let address = Address::parse(&fake.address).expect("an address");
    let registry = RegistryName::parse("acme").expect("a name");
    HttpRegistry::new(registry, address, &Limits::default(), options)
}

/// The versions of packages; nothing for those that are not there.
fn versions(
    registry: &dyn Registry,
    names: &[&str],
) -> Result<Vec<Option<Vec<String>>>, RegistryError> {
    let names: Vec<_> = names.iter().map(|text| name(text)).collect();
    let answers = registry.records(&names)?.into_iter();
    Ok(answers
        .map(|records| {
            let records = records?.into_iter();
            Some(records.map(|record| record.version.to_string()).collect())
        })
        .collect())
}

/// The finding of a package that cannot be read.
fn rejection(registry: &dyn Registry, package: &str) -> Diagnostic {
    versions(registry, &[package])
        .expect_err("it cannot be read")
        .to_diagnostic()
}

fn assert_says(finding: &Diagnostic, code: Code, parts: &[&str]) {
    assert_eq!(finding.code, code, "{finding}");
    for part in parts {
        assert!(finding.message.contains(part), "{part}: {finding}");
    }
}

#[expect(clippy::unnecessary_wraps)]
fn some(versions: &[&str]) -> Option<Vec<String>> {
    Some(versions.iter().map(|&version| version.to_owned()).collect())
}
