//! Failures of commands.

use pkgres_files::FileError;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::RegistryError;

use crate::environment::token_hint;
use crate::exit::Exit;

/// The errors that end a command, and its exit code.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// Empty if everything was reported already.
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) exit: Exit,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that was reported already, such as a conflict.
    pub(crate) fn reported(exit: Exit) -> Self {
        Self {
            findings: Vec::new(),
            exit,
        }
    }

    /// Invalid input.
    fn input(findings: Vec<Diagnostic>) -> Self {
        Self {
            findings,
            exit: Exit::Usage,
        }
    }

    /// The failure with a name in front of each message: what it is about.
    pub(crate) fn about(mut self, name: &str) -> Self {
        for finding in &mut self.findings {
            finding.message = format!("{name}: {}", finding.message);
        }
        self
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Diagnostic::error(Code::Usage, message).into()
    }
}

impl From<Diagnostic> for Failure {
    fn from(finding: Diagnostic) -> Self {
        Self::input(vec![finding])
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(findings: Vec<Diagnostic>) -> Self {
        Self::input(findings)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        error.to_diagnostic().into()
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        let mut finding = error.to_diagnostic();
        if finding.code == Code::RegistryUnreachable && finding.hints.is_empty() {
            finding = finding.hint(
                "set the registries with `--registry`, PKGRES_REGISTRY or `registries` in pkgres.toml",
            );
        }
        if let RegistryError::Request { registry, kind, .. } = &error
            && let Some(hint) = finding.hints.first_mut()
            && let Some(token_hint) = token_hint(registry, *kind, hint)
        {
            *hint = token_hint;
        }
        Self {
            exit: Exit::of_registry_error(finding.code),
            findings: vec![finding],
        }
    }
}
