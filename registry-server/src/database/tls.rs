//! TLS to PostgreSQL: the modes of an address, and the trusted certificates.
//!
//! `sslmode` means what it means to libpq. The driver knows whether TLS is required; how much of the
//! certificate is verified is decided here.

use std::path::Path;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use pkgres_files::{Follow, read_file};
use postgres::Config;
use postgres::config::SslMode;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::Verifier as SystemVerifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{DatabaseError, PostgresError, Result};

/// The largest file of certificates, in bytes.
const CERTIFICATE_BYTES: u64 = 4 << 20;

/// The verification of the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CertificateCheck {
    /// Nothing: the connection is encrypted, but the server is not authenticated.
    None,
    /// That a trusted authority signed it.
    Authority,
    /// That, and that it is for the host of the address.
    Host,
}

/// The parameters of an address that concern TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TlsOptions {
    mode: SslMode,
    check: CertificateCheck,
    /// A file with the trusted authorities; without it, the authorities of the system.
    authorities: Option<String>,
}

/// Parses an address into the configuration of the connection and of TLS.
pub(super) fn parse_address(address: &str) -> Result<(Config, MakeRustlsConnect)> {
    let (rest, options) = split(address)?;
    let mut config: Config = rest
        .parse()
        .map_err(|error: postgres::Error| DatabaseError::address(PostgresError(error)))?;
    let provider = Arc::new(ring::default_provider());
    let verifier = match options {
        Some(options) => {
            config.ssl_mode(options.mode);
            verifier(&options, &provider)?
        }
        None => unverified(&provider),
    };
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(DatabaseError::failed)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok((config, MakeRustlsConnect::new(tls)))
}

/// Takes the parameters that the driver does not know out of an address, `postgres://…?…`.
fn split(address: &str) -> Result<(String, Option<TlsOptions>)> {
    let wrong = |reason: String| DatabaseError::address(reason);
    let is_url = address.starts_with("postgres://") || address.starts_with("postgresql://");
    if !is_url && address.contains("://") {
        return Err(wrong("`postgres://` is expected".to_owned()));
    }
    let (base, query) = match address.split_once('?') {
        Some((base, query)) if is_url => (base, query),
        _ => return Ok((address.to_owned(), None)),
    };
    let (mut mode, mut authorities) = (None, None);
    let mut rest = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let place = match name {
            "sslmode" => &mut mode,
            "sslrootcert" => &mut authorities,
            _ => {
                rest.push(parameter);
                continue;
            }
        };
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| wrong(format!("`{name}` is not UTF-8")))?;
        if place.replace(value.into_owned()).is_some() {
            return Err(wrong(format!("`{name}` appears twice")));
        }
    }
    let has_authorities = authorities.is_some();
    let (mode, check) = match mode.as_deref() {
        Some("disable") => (SslMode::Disable, CertificateCheck::None),
        None | Some("prefer") => (SslMode::Prefer, CertificateCheck::None),
        // As in libpq: an address with authorities wants them to be verified.
        Some("require") if has_authorities => (SslMode::Require, CertificateCheck::Authority),
        Some("require") => (SslMode::Require, CertificateCheck::None),
        Some("verify-ca") => (SslMode::Require, CertificateCheck::Authority),
        Some("verify-full") => (SslMode::Require, CertificateCheck::Host),
        Some(other) => {
            return Err(wrong(format!(
                "`sslmode={other}` is none of `disable`, `prefer`, `require`, `verify-ca` and \
                 `verify-full`"
            )));
        }
    };
    if has_authorities && mode != SslMode::Require {
        return Err(wrong(
            "`sslrootcert` needs `sslmode=verify-full`, `verify-ca` or `require`: otherwise no \
             certificate is looked at"
                .to_owned(),
        ));
    }
    let rest = if rest.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", rest.join("&"))
    };
    let options = TlsOptions {
        mode,
        check,
        authorities: authorities.filter(|path| path != "system"),
    };
    Ok((rest, Some(options)))
}

/// A verifier that accepts every certificate.
fn unverified(provider: &Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(PartialVerifier {
        full: None,
        provider: Arc::clone(provider),
    })
}

/// A verifier for the mode of the address.
fn verifier(
    options: &TlsOptions,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>> {
    let wrong = |reason: String| DatabaseError::address(reason);
    if options.check == CertificateCheck::None {
        return Ok(unverified(provider));
    }
    let provider = Arc::clone(provider);
    let full: Arc<dyn ServerCertVerifier> = match &options.authorities {
        None => Arc::new(SystemVerifier::new(Arc::clone(&provider)).map_err(|error| {
            wrong(format!(
                "the authorities of the system cannot be read: {error}"
            ))
        })?),
        Some(path) => {
            let bytes = read_file(Path::new(path), CERTIFICATE_BYTES, Follow::Links)
                .map_err(|error| wrong(format!("`sslrootcert`: {error}")))?;
            let unusable = |reason: &dyn std::fmt::Display| {
                wrong(format!(
                    "`sslrootcert`: {path} has no usable certificates: {reason}"
                ))
            };
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
            WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
                .build()
                .map_err(|error| unusable(&error))?
        }
    };
    Ok(match options.check {
        CertificateCheck::Host => full,
        _ => Arc::new(PartialVerifier {
            full: Some(full),
            provider,
        }),
    })
}

/// Verifies a certificate except for its host, or not at all. That the server has the key of the
/// certificate is always verified.
#[derive(Debug)]
struct PartialVerifier {
    /// The verifier that checks everything; none if nothing is to be checked.
    full: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PartialVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(full) = &self.full else {
            return Ok(ServerCertVerified::assertion());
        };
        match full.verify_server_cert(certificate, between, host, status, now) {
            // The name is checked last: everything else is valid.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// The error of a connection that failed because of TLS.
pub(super) fn failure(error: &postgres::Error) -> Option<DatabaseError> {
    let mut cause = std::error::Error::source(error);
    while let Some(at) = cause {
        // The error inside an I/O error is not its source.
        let inner = at
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        let found = inner
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
            .or_else(|| at.downcast_ref());
        if let Some(rustls::Error::InvalidCertificate(reason)) = found {
            return Some(DatabaseError::Untrusted(reason.to_string().into()));
        }
        // The driver has no other sign of that.
        if inner.is_none() && at.to_string() == "server does not support TLS" {
            return Some(DatabaseError::NoTls);
        }
        cause = at.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str) -> std::result::Result<(String, SslMode, CertificateCheck), String> {
        let (rest, options) = split(address).map_err(|error| error.to_string())?;
        let options = options.expect("an address with parameters");
        Ok((rest, options.mode, options.check))
    }

    #[test]
    fn the_mode_determines_the_verification() {
        let base = "postgres://u@h/d";
        for (query, mode, check) in [
            ("sslmode=disable", SslMode::Disable, CertificateCheck::None),
            ("sslmode=prefer", SslMode::Prefer, CertificateCheck::None),
            ("sslmode=require", SslMode::Require, CertificateCheck::None),
            (
                "sslmode=require&sslrootcert=a",
                SslMode::Require,
                CertificateCheck::Authority,
            ),
            (
                "sslrootcert=a&sslmode=verify-ca",
                SslMode::Require,
                CertificateCheck::Authority,
            ),
            (
                "sslmode=verify-full",
                SslMode::Require,
                CertificateCheck::Host,
            ),
        ] {
            let found = read(&format!("{base}?{query}"));
            assert_eq!(found, Ok((base.to_owned(), mode, check)), "{query}");
        }
    }

    #[test]
    fn other_parameters_are_for_the_driver() {
        let found = read("postgres://h/d?connect_timeout=3&sslmode=require&options=-c%20a%3Db");
        let rest = "postgres://h/d?connect_timeout=3&options=-c%20a%3Db".to_owned();
        assert_eq!(found, Ok((rest, SslMode::Require, CertificateCheck::None)));
    }

    #[test]
    fn parameters_that_would_have_no_effect_are_errors() {
        for (query, reason) in [
            ("sslmode=allow", "is none of"),
            ("sslmode=verify_full", "is none of"),
            ("sslmode=", "is none of"),
            ("sslmode=require&sslmode=disable", "twice"),
            ("sslrootcert=a", "needs `sslmode"),
            ("sslrootcert=a&sslmode=prefer", "needs `sslmode"),
        ] {
            let found = read(&format!("postgresql://h/d?{query}")).expect_err(query);
            assert!(found.contains(reason), "{query}: {found}");
        }
    }
}
