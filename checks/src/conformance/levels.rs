//! Levels: whether a violation is an error, a warning or allowed; and baselines, the lists of known violations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{ClassName, ConformanceStatus};

/// The level at which functions with a status are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Level {
    /// A finding of this level.
    pub(super) fn finding(self, code: Code, message: String) -> Diagnostic {
        match self {
            Self::Deny => Diagnostic::error(code, message),
            Self::Allow | Self::Warn => Diagnostic::warning(code, message),
        }
    }
}

/// The level of each status. By default, wrong signatures and conflicts are errors, and missing and deprecated functions
/// are warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels(BTreeMap<ConformanceStatus, Level>);

impl Default for Levels {
    fn default() -> Self {
        let level = |status| match status {
            ConformanceStatus::SignatureMismatch | ConformanceStatus::Conflict => Level::Deny,
            ConformanceStatus::NotImplemented | ConformanceStatus::Deprecated => Level::Warn,
            ConformanceStatus::Implemented
            | ConformanceStatus::NotSupported
            | ConformanceStatus::NotApplicable => Level::Allow,
        };
        let all = ConformanceStatus::ALL.into_iter();
        Self(all.map(|status| (status, level(status))).collect())
    }
}

impl Levels {
    /// Sets the level of a status.
    pub fn set(&mut self, status: ConformanceStatus, level: Level) {
        self.0.insert(status, level);
    }

    /// The level of a status.
    pub fn of(&self, status: ConformanceStatus) -> Level {
        self.0.get(&status).copied().unwrap_or(Level::Allow)
    }
}

/// A violation that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineEntry {
    /// The class.
    pub class: ClassName,
    /// The interface; `None` for methods that no interface has.
    pub interface: Option<ClassName>,
    /// The function.
    pub function: String,
    /// The status, on any platform.
    pub status: ConformanceStatus,
}

/// Known violations, which are not reported: only new ones are findings.
///
/// In a file, each is a line with the class, the interface or `-`, the function and the status. Lines that begin with
/// `#` and empty lines mean nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Baseline {
    /// The violations.
    pub entries: BTreeSet<BaselineEntry>,
}

/// The first line of a baseline.
const HEADER: &str = "# Known violations of interfaces: class, interface, function, status.\n";

impl Baseline {
    /// Reads a baseline. Messages call the file `name`.
    ///
    /// ```
    /// use pkgres_checks::Baseline;
    ///
    /// let text = "acme.Web acme.Service reload not-implemented\n";
    /// let baseline = Baseline::read("baseline", text).expect("the line is valid");
    /// assert!(baseline.to_text().ends_with(text));
    /// ```
    pub fn read(name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let source = SourceText::new(name, text);
        let (mut entries, mut errors) = (BTreeSet::new(), Vec::new());
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let written = line.trim_end();
            let span = Span {
                start,
                end: start + written.len(),
            };
            start += line.len();
            if written.is_empty() || written.starts_with('#') {
                continue;
            }
            if let Some(entry) = entry(written) {
                entries.insert(entry);
            } else {
                let message = format!(
                    "`{}` is not a class, an interface or `-`, a function and a status",
                    Escaped::shortened(written)
                );
                let error = Diagnostic::error(Code::Field, message);
                errors.push(error.at(Location::new(&source, span)));
            }
        }
        if errors.is_empty() {
            Ok(Self { entries })
        } else {
            Err(errors)
        }
    }

    /// The text of the file. Equal baselines give equal bytes.
    pub fn to_text(&self) -> String {
        let mut text = HEADER.to_owned();
        for entry in &self.entries {
            let interface = entry.interface.as_ref().map_or("-", ClassName::as_str);
            let BaselineEntry {
                class,
                function,
                status,
                ..
            } = entry;
            writeln!(text, "{class} {interface} {function} {status}")
                .expect("writing to a string does not fail");
        }
        text
    }
}

fn entry(line: &str) -> Option<BaselineEntry> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [class, interface, function, status] = words[..] else {
        return None;
    };
    let interface = match interface {
        "-" => None,
        name => Some(ClassName::parse(name).ok()?),
    };
    Some(BaselineEntry {
        class: ClassName::parse(class).ok()?,
        interface,
        function: function.to_owned(),
        status: ConformanceStatus::parse(status)?,
    })
}
