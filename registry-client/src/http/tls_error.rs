//! Errors of TLS behind failed requests: problems of certificates, and servers that answer without TLS.

use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;

/// What is wrong with a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificateProblem {
    /// No trusted authority signed it.
    UnknownIssuer,
    /// It is the certificate of an authority, such as `openssl req -x509` makes, not that of a server.
    OfAuthority,
    /// It is for other names.
    WrongName {
        /// The name that is expected.
        expected: String,
        /// The names that it is for.
        names: Vec<String>,
    },
    /// Its time is over.
    Expired(Option<Timestamp>),
    /// Its time has not begun.
    NotYetValid(Option<Timestamp>),
    /// Another problem, which the message describes.
    Other,
}

impl CertificateProblem {
    /// The problem behind the error of a request, if its certificate is the problem.
    pub(super) fn of(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let rustls::Error::InvalidCertificate(problem) = tls_error(error)? else {
            return None;
        };
        Some(match problem {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            // The type of this error belongs to another library.
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                Self::OfAuthority
            }
            CertificateError::NotValidForNameContext {
                expected,
                presented,
            } => Self::WrongName {
                expected: expected.to_str().into_owned(),
                names: presented.iter().map(|name| bare_name(name)).collect(),
            },
            CertificateError::Expired => Self::Expired(None),
            CertificateError::ExpiredContext { not_after, .. } => {
                Self::Expired(timestamp(*not_after))
            }
            CertificateError::NotValidYet => Self::NotYetValid(None),
            CertificateError::NotValidYetContext { not_before, .. } => {
                Self::NotYetValid(timestamp(*not_before))
            }
            _ => Self::Other,
        })
    }

    /// The problem in words, if they are better than those of the library.
    pub(super) fn reason(&self) -> Option<String> {
        let time = |time: &Option<Timestamp>| match time {
            Some(time) => format!(" on {time}"),
            None => String::new(),
        };
        Some(match self {
            Self::OfAuthority => "it is the certificate of an authority".to_owned(),
            Self::WrongName { expected, names } if names.is_empty() => {
                format!("it is not for {expected}")
            }
            Self::WrongName { expected, names } => {
                format!("it is for {}, not for {expected}", names.join(", "))
            }
            Self::Expired(at) => format!("it expired{}", time(at)),
            Self::NotYetValid(at) => format!("it is not valid yet: its time begins{}", time(at)),
            Self::UnknownIssuer | Self::Other => return None,
        })
    }

    /// What helps.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::UnknownIssuer => {
                "name the certificate of the authority that signed it with `--ca-file`, or with `ca` of the registry in pkgres.toml"
            }
            Self::OfAuthority => {
                "the server needs a certificate of its own that is signed by the authority"
            }
            Self::WrongName { .. } => {
                "use a name of the certificate in the address of the registry, or ask its operator"
            }
            Self::Expired(_) => {
                "check the clock of this machine, or ask the operator to renew the certificate"
            }
            Self::NotYetValid(_) => "check the clock of this machine",
            Self::Other => "ask the operator of the registry for a valid certificate",
        }
    }
}

/// A name of a certificate without the kind that the library writes, as in `DnsName("example.org")`.
fn bare_name(text: &str) -> String {
    let inner = text
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(text).trim_matches('"').to_owned()
}

/// A time of a certificate.
fn timestamp(time: UnixTime) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(time.as_secs()).ok()?).ok()
}

/// Whether a request failed because the server answered without TLS.
pub(super) fn is_without_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    use rustls::{Error, InvalidMessage};

    let error = tls_error(error);
    matches!(
        error,
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType))
    )
}

/// The error of the TLS library among the causes of another one.
fn tls_error<'error>(
    error: &'error (dyn std::error::Error + 'static),
) -> Option<&'error rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        // The error inside of one of input or output is not its source.
        let inner = error.downcast_ref::<std::io::Error>();
        if let Some(inner) = inner.and_then(std::io::Error::get_ref) {
            return tls_error(inner);
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn problems_of_certificates_are_told_with_names_and_dates() {
        let shown = |error: CertificateError| {
            let error = rustls::Error::InvalidCertificate(error);
            let error = std::io::Error::other(error);
            let problem = CertificateProblem::of(&error).expect("a problem of a certificate");
            (problem.reason().unwrap_or_default(), problem.hint())
        };
        let time = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let (reason, hint) = shown(CertificateError::ExpiredContext {
            time: time(1_797_745_317),
            not_after: time(1_796_881_314),
        });
        assert_eq!(reason, "it expired on 2026-12-10T05:41:54Z");
        assert!(hint.contains("renew the certificate"), "{hint}");
        let name = rustls::pki_types::ServerName::try_from("localhost").expect("a name");
        let (reason, hint) = shown(CertificateError::NotValidForNameContext {
            expected: name,
            presented: vec!["DnsName(\"other.example\")".to_owned()],
        });
        assert_eq!(reason, "it is for other.example, not for localhost");
        assert!(hint.contains("name of the certificate"), "{hint}");
    }
}
