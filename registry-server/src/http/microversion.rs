//! Microversions of the native API: `OpenStack-API-Version: pkgres X.Y`.

use std::fmt;

use http::{HeaderMap, HeaderValue};
use pkgres_manifest::diagnostic::Escaped;

use super::query::digits;
use crate::problem::{Problem, ProblemCode};

/// The name of this service in the header.
const SERVICE: &str = "pkgres";

/// The header that requests a version, and that names the version of a response.
pub(super) const HEADER: &str = "openstack-api-version";

/// A version of the native API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Microversion {
    /// The number that changes with an API that has nothing in common with the old one.
    pub major: u16,
    /// The number that changes with every change that clients could notice.
    pub minor: u16,
}

impl Microversion {
    /// The oldest supported version, which is the default.
    pub const OLDEST: Self = Self::new(1, 0);
    /// The newest supported version.
    pub const NEWEST: Self = Self::new(1, 1);

    pub(crate) const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// Every supported version, the oldest first, with its additions.
    pub const HISTORY: &'static [(Self, &'static str)] = &[
        (Self::new(1, 0), "packages, versions, owners, tokens"),
        (
            Self::new(1, 1),
            "`v1/packages/<name>/dependants`: packages with a release that requires a package",
        ),
    ];

    /// The version that headers request.
    ///
    /// As in Placement, the header is a list for several services, of which the last item for this
    /// service counts. Without an item, or without a number in it, the oldest version is the default.
    pub(crate) fn requested(headers: &HeaderMap) -> Result<Self, Problem> {
        if !headers.contains_key(HEADER) {
            return Ok(Self::OLDEST);
        }
        // Several headers form one list.
        let mut requested = None;
        for value in headers.get_all(HEADER) {
            let text = value.to_str().map_err(|_| invalid("it is not text"))?;
            for item in text.split(',') {
                let mut words = item.split_whitespace();
                if !words
                    .next()
                    .is_some_and(|word| word.eq_ignore_ascii_case(SERVICE))
                {
                    continue;
                }
                let rest = item.trim_start()[SERVICE.len()..].trim();
                requested = Some(rest.to_owned());
            }
        }
        match requested.as_deref() {
            None | Some("") => Ok(Self::OLDEST),
            Some(word) if word.eq_ignore_ascii_case("latest") => Ok(Self::NEWEST),
            Some(text) => Self::find(text),
        }
    }

    fn find(text: &str) -> Result<Self, Problem> {
        let number = |text: &str| Some(u16::try_from(digits(text)?).ok());
        let parts = text
            .split_once('.')
            .and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        let Some((major, minor)) = parts else {
            let text = Escaped::shortened(text);
            return Err(invalid(&format!(
                "`{text}` is not two numbers with a dot between"
            )));
        };
        // A number that is too large is a version all the same, and one that is not supported.
        let version = major.zip(minor).map(|(major, minor)| Self { major, minor });
        match version.filter(|version| Self::HISTORY.iter().any(|(known, _)| known == version)) {
            Some(version) => Ok(version),
            None => Err(Problem::new(
                ProblemCode::MicroversionUnknown,
                format!("version {} is not supported", Escaped::shortened(text)),
            )),
        }
    }

    /// The value of the header in a response.
    pub(crate) fn header(self) -> HeaderValue {
        HeaderValue::from_str(&format!("{SERVICE} {self}"))
            .expect("letters, digits and a dot are valid in a header")
    }
}

fn invalid(reason: &str) -> Problem {
    Problem::new(
        ProblemCode::MicroversionInvalid,
        format!("`OpenStack-API-Version` is `{SERVICE} X.Y`, and {reason}"),
    )
}

impl fmt::Display for Microversion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(value: &str) -> Result<String, ProblemCode> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_str(value).expect("a header"));
        let version = Microversion::requested(&headers);
        version
            .map(|version| version.to_string())
            .map_err(|problem| problem.code)
    }

    #[test]
    fn the_last_item_for_the_service_counts() {
        for (value, expected) in [
            ("pkgres 1.1", "1.1"),
            ("PKGRES 1.1", "1.1"),
            ("pkgres latest", "1.1"),
            ("compute 2.1, pkgres 1.1", "1.1"),
            ("pkgres 1.0, pkgres 1.1", "1.1"),
            ("pkgres 1.1, compute 9.9", "1.1"),
            ("pkgres", "1.0"),
            ("1.1", "1.0"),
            ("compute 2.1", "1.0"),
            ("", "1.0"),
        ] {
            assert_eq!(requested(value), Ok(expected.to_owned()), "{value}");
        }
        for pony in [
            "pkgres pony",
            "pkgres 1.2.3",
            "pkgres 1",
            "pkgres -1.0",
            "pkgres 1.x",
        ] {
            assert_eq!(
                requested(pony),
                Err(ProblemCode::MicroversionInvalid),
                "{pony}"
            );
        }
        for unknown in ["pkgres 0.5", "pkgres 1.99", "pkgres 2.0", "pkgres 99999.0"] {
            assert_eq!(
                requested(unknown),
                Err(ProblemCode::MicroversionUnknown),
                "{unknown}"
            );
        }
    }

    #[test]
    fn the_history_is_in_order_and_whole() {
        let versions: Vec<Microversion> = Microversion::HISTORY
            .iter()
            .map(|(version, _)| *version)
            .collect();
        assert!(versions.is_sorted());
        assert_eq!(versions.first(), Some(&Microversion::OLDEST));
        assert_eq!(versions.last(), Some(&Microversion::NEWEST));
    }
}
