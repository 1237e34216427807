//! TLS to the database.

use std::path::Path;
use std::time::Duration;

use pkgres_registry_server::{DatabaseError, OpenError, RegistryBackend};
use pkgres_tests::services::{self, Postgres};

use crate::support::{Place, publish_plain};

/// The outcome of opening a registry, with a query in the address of the database. Each database has a folder of its own.
fn opened(folder: &Path, address: &str, query: &str) -> Result<RegistryBackend, OpenError> {
    let (_, name) = address.rsplit_once('/').expect("a database");
    let place = Place::services(&folder.join(name), format!("{address}?{query}"), None);
    place.try_open()
}

/// The address of a new database, with the host name of the certificate or another one.
fn address(postgres: &Postgres, host: &str) -> String {
    postgres.database().replace("127.0.0.1", host)
}

fn authority(path: &Path) -> String {
    format!("sslrootcert={}", path.display())
}

#[test]
fn certificates_are_verified_as_the_address_says() {
    let Some(postgres) = services::postgres_with_tls() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let right = authority(&postgres.authority());
    let wrong = authority(&postgres.another_authority());
    let named = address(&postgres, "localhost");
    let by_number = address(&postgres, "127.0.0.1");
    for (address, query) in [
        (&named, "sslmode=prefer".to_owned()),
        (&named, "sslmode=require".to_owned()),
        (&named, format!("sslmode=require&{right}")),
        (&named, format!("sslmode=verify-full&{right}")),
        (&by_number, format!("sslmode=verify-ca&{right}")),
        (&by_number, format!("sslmode=require&{right}")),
    ] {
        let found = opened(folder.path(), address, &query);
        assert!(found.is_ok(), "{query}: {:?}", found.err());
    }
    for (address, query) in [
        (&named, format!("sslmode=verify-full&{wrong}")),
        (&named, format!("sslmode=verify-ca&{wrong}")),
        (&named, format!("sslmode=require&{wrong}")),
        (&named, "sslmode=verify-full".to_owned()),
        (&named, "sslmode=verify-full&sslrootcert=system".to_owned()),
        // The certificate is for `localhost`.
        (&by_number, format!("sslmode=verify-full&{right}")),
    ] {
        let found = opened(folder.path(), address, &query).err();
        let is_untrusted = matches!(
            &found,
            Some(OpenError::Database(DatabaseError::Untrusted(_)))
        );
        assert!(is_untrusted, "{query}: {found:?}");
    }
    // The server accepts nothing without TLS, so the connections above had it.
    let plain = opened(folder.path(), &named, "sslmode=disable").err();
    let is_rejected = matches!(
        &plain,
        Some(OpenError::Database(DatabaseError::Unreachable(_)))
    );
    assert!(is_rejected, "{plain:?}");
}

#[test]
fn a_registry_works_over_tls() {
    let Some(postgres) = services::postgres_with_tls() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let query = authority(&postgres.authority());
    let database = format!(
        "{}?sslmode=verify-full&{query}",
        address(&postgres, "localhost")
    );
    let place = Place::services(folder.path(), database, None);
    let registry = place.open();
    publish_plain(&registry, "org.acme.Web", "1.0.0");
    // Notifications have a connection of their own.
    assert_eq!(registry.wait_for_change(Duration::from_secs(1)), Ok(()));
    assert_eq!(place.open().serial(), 1);
}

#[test]
fn a_connection_never_falls_back_from_tls() {
    let Some(postgres) = services::postgres() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named = address(&postgres, "localhost");
    for query in [
        "sslmode=require",
        "sslmode=verify-ca",
        "sslmode=verify-full",
    ] {
        let found = opened(folder.path(), &named, query).err();
        let is_reported = matches!(&found, Some(OpenError::Database(DatabaseError::NoTls)));
        assert!(is_reported, "{query}: {found:?}");
    }
    for query in ["sslmode=prefer", "sslmode=disable", "connect_timeout=5"] {
        let found = opened(folder.path(), &named, query);
        assert!(found.is_ok(), "{query}: {:?}", found.err());
    }
}

#[test]
fn a_file_without_authorities_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bad = folder.path().join("bad.pem");
    let text = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for content in ["", "nothing", text] {
        pkgres_files::write_file(&pkgres_files::RealFileSystem, &bad, content.as_bytes())
            .expect("it is written");
        let query = format!("sslmode=verify-full&{}", authority(&bad));
        let found = opened(folder.path(), "postgres://pkgres@127.0.0.1:1/none", &query).err();
        let is_reported = matches!(&found, Some(OpenError::Database(DatabaseError::Address(_))));
        assert!(is_reported, "{content}: {found:?}");
    }
    let missing = authority(&folder.path().join("missing.pem"));
    let found = opened(
        folder.path(),
        "postgres://h/d",
        &format!("sslmode=verify-ca&{missing}"),
    )
    .err();
    let is_reported = matches!(&found, Some(OpenError::Database(DatabaseError::Address(_))));
    assert!(is_reported, "{found:?}");
}
