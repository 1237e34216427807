//! Reading lockfiles, line by line.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DECISION_ORDER, LOCK_FORMAT, LockedPackage, LockedRequirement, Lockfile, unreadable};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use crate::digest::ArtifactDigest;
use crate::document::decode;
use crate::limits::Limits;
use crate::merge_marker;
use crate::name::PackageName;
use crate::source::ReleaseSource;
use crate::spec::Spec;
use crate::version::Version;

pub(super) fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Lockfile> {
    let source = match decode(name, bytes, "bytes in a lockfile", limits.lock_bytes) {
        Ok(source) => source,
        Err(mut error) => {
            error.hints = vec!["`pkgres lock` writes it anew".to_owned()];
            return Parsed::failed(error);
        }
    };
    if let Some(marker) = merge_marker::first(&source) {
        return Parsed::failed(
            Diagnostic::error(
                Code::LockConflict,
                "the lockfile holds the markers of a merge conflict",
            )
            .at(marker)
            .hint("`pkgres lock` mends it: the releases of both sides are preferred"),
        );
    }
    let mut reader = Reader {
        source: &source,
        lines: Lines::of(source.text()),
    };
    match reader.lockfile() {
        Ok(lock) => Parsed::new(Some(lock), Vec::new()),
        Err(error) => Parsed::failed(*error),
    }
}

/// The lines that matter: comments and blank lines are passed over.
struct Lines<'text> {
    text: &'text str,
    next: usize,
    current: Option<(&'text str, usize)>,
}

impl<'text> Lines<'text> {
    fn of(text: &'text str) -> Self {
        let mut lines = Self {
            text,
            next: 0,
            current: None,
        };
        lines.advance();
        lines
    }

    /// The current line without its end, and where it begins; nothing after the last one.
    fn current(&self) -> Option<(&'text str, usize)> {
        self.current
    }

    fn advance(&mut self) {
        self.current = None;
        while self.next < self.text.len() {
            let start = self.next;
            let rest = &self.text[start..];
            let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            self.next += length;
            let line = rest[..length].trim_end_matches(['\n', '\r']);
            if !line.is_empty() && !line.starts_with('#') {
                self.current = Some((line, start));
                return;
            }
        }
    }
}

struct Reader<'source> {
    source: &'source Arc<SourceText>,
    lines: Lines<'source>,
}

type Read<T> = Result<T, Box<Diagnostic>>;

impl<'source> Reader<'source> {
    fn location(&self) -> Location {
        let (line, start) = self
            .lines
            .current()
            .unwrap_or(("", self.source.text().len()));
        let indentation = line.len() - line.trim_start().len();
        Location::new(
            self.source,
            Span {
                start: start + indentation,
                end: start + line.len(),
            },
        )
    }

    fn problem<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Box::new(unreadable(message.into()).at(self.location())))
    }

    /// Whether the current line begins with `prefix`; what follows it.
    fn peek(&self, prefix: &str) -> Option<&'source str> {
        self.lines.current()?.0.strip_prefix(prefix)
    }

    /// Reads a line that has to be there.
    fn expect(&mut self, prefix: &str) -> Read<&'source str> {
        let value = self
            .peek(prefix)
            .ok_or_else(|| Box::new(self.missing(prefix)))?;
        self.lines.advance();
        Ok(value)
    }

    fn missing(&self, prefix: &str) -> Diagnostic {
        let what = prefix.trim();
        let message = match self.lines.current() {
            Some(_) => format!("`{what}` was expected here"),
            None => format!("the file ends where `{what}` was expected: it is not complete"),
        };
        unreadable(message).at(self.location())
    }

    /// Makes a value of the current line's text after `prefix`, then goes on.
    fn value<T, E: std::fmt::Display>(
        &mut self,
        prefix: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Read<T> {
        let Some(text) = self.peek(prefix) else {
            return Err(Box::new(self.missing(prefix)));
        };
        match parse(text) {
            Ok(value) => {
                self.lines.advance();
                Ok(value)
            }
            Err(error) => self.problem(error.to_string()),
        }
    }

    fn lockfile(&mut self) -> Read<Lockfile> {
        self.format()?;
        self.order()?;
        let mut lock = Lockfile::default();
        if self.peek("roots:") == Some("") {
            self.lines.advance();
            self.roots(&mut lock)?;
        }
        if self.peek("overrides:") == Some("") {
            self.lines.advance();
            while self.peek("- name: ").is_some() {
                let location = self.location();
                let name = self.value("- name: ", PackageName::parse)?;
                let last = lock.overrides.last_key_value().map(|(last, _)| last);
                ascending(last, &name, &name, &location)?;
                let spec = self.value("  spec: ", quoted_spec)?;
                lock.overrides.insert(name, spec);
            }
        }
        if self.peek("side_by_side:") == Some("") {
            self.lines.advance();
            while self.peek("- ").is_some() {
                let location = self.location();
                let name = self.value("- ", PackageName::parse)?;
                ascending(lock.side_by_side.last(), &name, &name, &location)?;
                lock.side_by_side.insert(name);
            }
        }
        if self.peek("packages:") == Some("") {
            self.lines.advance();
            self.packages(&mut lock)?;
        }
        if !self.expect("complete: true")?.is_empty() || self.lines.current().is_some() {
            return self.problem("there is something after `complete: true`");
        }
        Ok(lock)
    }

    fn format(&mut self) -> Read<()> {
        let Some(Ok(format)) = self.peek("lock: ").map(str::parse::<u64>) else {
            return self.problem("`lock:` and the number of the format were expected here");
        };
        if format > LOCK_FORMAT {
            let who = self
                .source
                .text()
                .lines()
                .take_while(|line| line.starts_with('#'))
                .find_map(|line| {
                    line.split_once("read by ")
                        .map(|(_, who)| who.trim_end_matches('.'))
                })
                .unwrap_or("a newer pkgres");
            let error = Diagnostic::error(
                Code::LockFormat,
                format!("the lockfile has format {format}; this pkgres reads formats up to {LOCK_FORMAT}"),
            )
            .at(self.location())
            .hint(format!("it can be read by {}", Escaped::shortened(who)));
            return Err(Box::new(error));
        }
        if format == 0 {
            return self.problem("there is no format 0");
        }
        self.lines.advance();
        Ok(())
    }

    /// By another order other releases would be chosen, so that a lock which was made by it means
    /// something that this reader cannot keep up.
    fn order(&mut self) -> Read<()> {
        let Some(written) = self.peek("order: ") else {
            return Err(Box::new(self.missing("order: ")));
        };
        let order = match written.parse::<u64>() {
            Ok(order) => order,
            Err(error) => return self.problem(error.to_string()),
        };
        if order > DECISION_ORDER {
            // What the header says is about the format alone.
            let error = Diagnostic::error(
                Code::LockFormat,
                format!("the lockfile has the decision order {order}; this pkgres knows orders up to {DECISION_ORDER}"),
            )
            .at(self.location())
            .hint("it can be read by the newer pkgres that wrote it");
            return Err(Box::new(error));
        }
        if order == 0 {
            return self.problem("there is no decision order 0");
        }
        self.lines.advance();
        Ok(())
    }

    fn roots(&mut self, lock: &mut Lockfile) -> Read<()> {
        while self.peek("- name: ").is_some() {
            let location = self.location();
            let name = self.value("- name: ", PackageName::parse)?;
            let last = lock.roots.last_key_value().map(|(last, _)| last);
            ascending(last, &name, &name, &location)?;
            let mut requirements: BTreeMap<PackageName, LockedRequirement> = BTreeMap::new();
            if self.peek("  requires:") == Some("") {
                self.lines.advance();
                while let Some(key) = self.key("    ") {
                    let location = self.location();
                    let package = self.value("    ", |_| PackageName::parse(key))?;
                    let last = requirements.last_key_value().map(|(last, _)| last);
                    ascending(last, &package, &package, &location)?;
                    let spec = self.value("      spec: ", quoted_spec)?;
                    let version = self.value("      version: ", full_version)?;
                    requirements.insert(package, LockedRequirement { spec, version });
                }
            }
            lock.roots.insert(name, requirements);
        }
        Ok(())
    }

    /// The key of a line `key:` with exactly this indentation.
    fn key(&self, indentation: &str) -> Option<&'source str> {
        self.peek(indentation)
            .filter(|rest| !rest.starts_with(' '))?
            .strip_suffix(':')
    }

    fn packages(&mut self, lock: &mut Lockfile) -> Read<()> {
        // Most releases come from where the one before them comes from.
        let mut last_source: Option<(&str, ReleaseSource)> = None;
        while self.peek("- name: ").is_some() {
            let location = self.location();
            let name = self.value("- name: ", PackageName::parse)?;
            let version = self.value("  version: ", full_version)?;
            let written = self.peek("  source: ");
            let source = match &last_source {
                Some((last, source)) if written == Some(*last) => {
                    self.lines.advance();
                    source.clone()
                }
                _ => self.value("  source: ", ReleaseSource::parse)?,
            };
            last_source = written.map(|written| (written, source.clone()));
            let digest = match self.peek("  sha256: ") {
                Some(_) => Some(self.value("  sha256: ", ArtifactDigest::parse)?),
                None => None,
            };
            let mut requires: Vec<(PackageName, Version)> = Vec::new();
            if self.peek("  requires:") == Some("") {
                self.lines.advance();
                while let Some((key, _)) = self
                    .peek("    ")
                    .filter(|rest| !rest.starts_with(' '))
                    .and_then(|rest| rest.split_once(": "))
                {
                    let location = self.location();
                    let (package, version) = self.value("    ", |line| {
                        let written = &line[key.len() + 2..];
                        let package = PackageName::parse(key).map_err(|error| error.to_string())?;
                        Ok::<_, String>((package, full_version(written)?))
                    })?;
                    let last = requires.last().map(|(last, _)| last);
                    ascending(last, &package, &package, &location)?;
                    requires.push((package, version));
                }
            }
            let key = (name, version);
            let last = lock.packages.last_key_value().map(|(last, _)| last);
            let shown = format_args!("{} {}", key.0, key.1);
            ascending(last, &key, &shown, &location)?;
            let package = LockedPackage {
                source,
                digest,
                requires: requires.into_iter().collect(),
            };
            lock.packages.insert(key, package);
        }
        Ok(())
    }
}

/// Everything in a lockfile is sorted, so that there is one spelling for every content.
fn ascending<T: Ord>(
    last: Option<&T>,
    next: &T,
    shown: &dyn std::fmt::Display,
    location: &Location,
) -> Read<()> {
    let message = match last.map(|last| last.cmp(next)) {
        None | Some(std::cmp::Ordering::Less) => return Ok(()),
        Some(std::cmp::Ordering::Equal) => format!("{shown} stands twice"),
        Some(std::cmp::Ordering::Greater) => format!("{shown} is out of order"),
    };
    Err(Box::new(unreadable(message).at(location.clone())))
}

fn quoted_spec(text: &str) -> Result<Spec, String> {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .ok_or_else(|| "the spec is not in quotes".to_owned())
        .and_then(|text| Spec::parse(text).map_err(|error| error.to_string()))
}

/// A version with all three components, as this crate writes it.
fn full_version(text: &str) -> Result<Version, String> {
    let version = Version::parse(text).map_err(|error| error.to_string())?;
    // What has three components and nothing else is written in one way only.
    let dots = || text.bytes().filter(|byte| *byte == b'.').count();
    let is_plain = version.prerelease().is_empty() && version.build().is_empty();
    if (is_plain && dots() == 2) || version.to_string() == text {
        Ok(version)
    } else {
        Err(format!(
            "`{}` is written `{version}`",
            Escaped::shortened(text)
        ))
    }
}
