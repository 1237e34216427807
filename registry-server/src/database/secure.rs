//! TLS to PostgreSQL: what an address asks for, and which certificates do.
//!
//! `sslmode` means what it means to other programs that connect to PostgreSQL. The driver knows
//! whether TLS has to be; whether the certificate is looked at is decided here.

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

use super::{DatabaseError, Result};

/// The largest file of certificates, in bytes.
const CERTIFICATE_BYTES: u64 = 4 << 20;

/// What is looked at in the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Nothing: nobody can listen, but whoever answers may be anybody.
    Anybody,
    /// Whether an authority that is believed signed it.
    Authority,
    /// That, and whether it is for the host of the address.
    Host,
}

/// What an address says of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    mode: SslMode,
    trust: Trust,
    /// A file with the authorities that are believed; without it, those of the system.
    authorities: Option<String>,
}

/// Reads an address: how to connect, and with which TLS.
pub(super) fn read(address: &str) -> Result<(Config, MakeRustlsConnect)> {
    let (rest, asked) = split(address)?;
    let mut config: Config = rest
        .parse()
        .map_err(|error: postgres::Error| DatabaseError::Address(super::told::told(&error)))?;
    let provider = Arc::new(ring::default_provider());
    let verifier = match asked {
        Some(asked) => {
            config.ssl_mode(asked.mode);
            verifier(&asked, &provider)?
        }
        None => anybody(&provider),
    };
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DatabaseError::Failed(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok((config, MakeRustlsConnect::new(tls)))
}

/// Takes what the driver does not know out of an address, `postgres://…?…`.
fn split(address: &str) -> Result<(String, Option<Asked>)> {
    let wrong = |reason: String| DatabaseError::Address(reason);
    let is_url = address.starts_with("postgres://") || address.starts_with("postgresql://");
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
            return Err(wrong(format!("`{name}` is given twice")));
        }
    }
    let has_authorities = authorities.is_some();
    let (mode, trust) = match mode.as_deref() {
        Some("disable") => (SslMode::Disable, Trust::Anybody),
        None | Some("prefer") => (SslMode::Prefer, Trust::Anybody),
        // As elsewhere: who names authorities wants them to be asked.
        Some("require") if has_authorities => (SslMode::Require, Trust::Authority),
        Some("require") => (SslMode::Require, Trust::Anybody),
        Some("verify-ca") => (SslMode::Require, Trust::Authority),
        Some("verify-full") => (SslMode::Require, Trust::Host),
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
    let asked = Asked {
        mode,
        trust,
        authorities: authorities.filter(|path| path != "system"),
    };
    Ok((rest, Some(asked)))
}

fn anybody(provider: &Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Lenient {
        whole: None,
        provider: Arc::clone(provider),
    })
}

fn verifier(asked: &Asked, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let wrong = |reason: String| DatabaseError::Address(reason);
    if asked.trust == Trust::Anybody {
        return Ok(anybody(provider));
    }
    let provider = Arc::clone(provider);
    let whole: Arc<dyn ServerCertVerifier> = match &asked.authorities {
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
    Ok(match asked.trust {
        Trust::Host => whole,
        _ => Arc::new(Lenient {
            whole: Some(whole),
            provider,
        }),
    })
}

/// Looks at as much of a certificate as is asked for, and always at whether whoever shows it has its
/// key.
#[derive(Debug)]
struct Lenient {
    /// What looks at everything; nothing if anybody will do.
    whole: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(whole) = &self.whole else {
            return Ok(ServerCertVerified::assertion());
        };
        match whole.verify_server_cert(certificate, between, host, status, now) {
            // The name is looked at last, so that everything else is as it should be.
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

/// What a connection failed at, if it was TLS.
pub(super) fn fault(error: &postgres::Error) -> Option<DatabaseError> {
    let mut cause = std::error::Error::source(error);
    while let Some(at) = cause {
        // What is wrapped into an error of input and output is not its source.
        let inner = at
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        let found = inner
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
            .or_else(|| at.downcast_ref());
        if let Some(rustls::Error::InvalidCertificate(reason)) = found {
            return Some(DatabaseError::Untrusted(reason.to_string()));
        }
        // The driver has no other sign of it.
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

    fn read(address: &str) -> std::result::Result<(String, SslMode, Trust), String> {
        let (rest, asked) = split(address).map_err(|error| error.to_string())?;
        let asked = asked.expect("an address with parameters");
        Ok((rest, asked.mode, asked.trust))
    }

    #[test]
    fn the_mode_says_what_is_looked_at() {
        let base = "postgres://u@h/d";
        for (query, mode, trust) in [
            ("sslmode=disable", SslMode::Disable, Trust::Anybody),
            ("sslmode=prefer", SslMode::Prefer, Trust::Anybody),
            ("sslmode=require", SslMode::Require, Trust::Anybody),
            (
                "sslmode=require&sslrootcert=a",
                SslMode::Require,
                Trust::Authority,
            ),
            (
                "sslrootcert=a&sslmode=verify-ca",
                SslMode::Require,
                Trust::Authority,
            ),
            ("sslmode=verify-full", SslMode::Require, Trust::Host),
        ] {
            let found = read(&format!("{base}?{query}"));
            assert_eq!(found, Ok((base.to_owned(), mode, trust)), "{query}");
        }
    }

    #[test]
    fn other_parameters_are_for_the_driver() {
        let found = read("postgres://h/d?connect_timeout=3&sslmode=require&options=-c%20a%3Db");
        let rest = "postgres://h/d?connect_timeout=3&options=-c%20a%3Db".to_owned();
        assert_eq!(found, Ok((rest, SslMode::Require, Trust::Anybody)));
    }

    #[test]
    fn what_would_do_less_than_it_says_is_refused() {
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
