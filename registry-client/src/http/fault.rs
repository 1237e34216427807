//! What goes wrong on the way.

use std::time::Duration;

use pkgres_manifest::RegistryName;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::registry::RegistryError;

/// How much is shown of what others say.
const SHOWN_CHARACTERS: usize = 300;

/// Why one try did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) reason: String,
    /// The code that the registry gives, if it gives one.
    pub(super) code: String,
    /// How long to wait, if the registry says so.
    pub(super) retry_after: Option<Duration>,
    /// Whether it can be otherwise the next time.
    pub(super) is_transient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The registry cannot be reached, or is not well.
    Unreachable,
    /// It answers something that is not what the protocol says.
    Malformed,
    /// The bytes have another digest.
    Digest,
    /// It wants to know who asks.
    Denied,
    /// It does not do what is asked.
    Refused,
    /// Everyone on the way could read what is sent.
    Plain,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            code: String::new(),
            retry_after: None,
            is_transient: false,
        }
    }

    pub(super) fn transient(kind: FaultKind, reason: impl Into<String>) -> Self {
        Self {
            is_transient: true,
            ..Self::new(kind, reason)
        }
    }
}

/// Something did not work, however often it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) fault: Fault,
    pub(super) tries: usize,
    /// The method and the address, as they can be shown.
    pub(super) request: String,
}

impl Failed {
    pub(super) fn to_error(&self, registry: &RegistryName) -> RegistryError {
        let Self {
            fault,
            tries,
            request,
        } = self;
        let reason = Escaped::within(&fault.reason, SHOWN_CHARACTERS);
        let tried = match tries {
            0 | 1 => String::new(),
            tries => format!(" (tried {tries} times)"),
        };
        let (code, what) = match fault.kind {
            FaultKind::Unreachable => (Code::RegistryUnreachable, "cannot be read"),
            FaultKind::Malformed => (Code::RegistryUnreachable, "does not speak the protocol"),
            FaultKind::Digest => (Code::Digest, "gives something else than it announced"),
            FaultKind::Denied => (Code::Denied, "denies access"),
            FaultKind::Refused => (Code::Refused, "refused"),
            FaultKind::Plain => (Code::RegistryUnreachable, "is not asked without encryption"),
        };
        let message = format!("the registry `{registry}` {what}: {request}: {reason}{tried}");
        let finding = Diagnostic::error(code, message);
        match fault.kind {
            FaultKind::Unreachable => {
                finding.hint("`--offline` makes do with what is in the cache")
            }
            // It knows who asks: another token would help, and the same one again would not.
            FaultKind::Denied if fault.code == "pkgres.forbidden" => finding.hint(format!(
                "whoever runs the registry makes tokens that are good for this; `pkgres login {registry}` keeps one"
            )),
            FaultKind::Denied => finding.hint(format!("`pkgres login {registry}` keeps a token")),
            FaultKind::Plain => finding.hint("use `https://`, or allow it with `--allow-http`"),
            FaultKind::Refused => match fault.code.as_str() {
                "pkgres.version_exists" => {
                    finding.hint("a release stays what it is: publish this as another version")
                }
                "pkgres.unsatisfiable" => finding.hint(
                    "publish what it requires first; `--allow-unsatisfiable` publishes it all the same",
                ),
                _ => finding,
            },
            _ => finding,
        }
        .into()
    }
}

/// What an error of the HTTP library is caused by; the library itself says only that there is one.
pub(super) fn told(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let part = error.to_string();
        if parts.last().is_none_or(|last| !last.ends_with(&part)) {
            parts.push(part);
        }
        cause = error.source();
    }
    let says_something = |part: &String| {
        !part.starts_with("error sending request") && !part.starts_with("client error (")
    };
    if parts.iter().any(says_something) {
        parts.retain(says_something);
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_known_is_not_told_to_say_it_again() {
        let registry = RegistryName::parse("acme").expect("a name");
        let hints = |code: &str| {
            let failed = Failed {
                fault: Fault {
                    code: code.to_owned(),
                    ..Fault::new(FaultKind::Denied, "no")
                },
                tries: 1,
                request: "GET https://example.org/".to_owned(),
            };
            failed.to_error(&registry).to_diagnostic().hints
        };
        assert_eq!(
            hints("pkgres.unauthorized"),
            ["`pkgres login acme` keeps a token"]
        );
        assert_eq!(
            hints("pkgres.forbidden"),
            [
                "whoever runs the registry makes tokens that are good for this; `pkgres login acme` keeps one"
            ]
        );
    }
}
