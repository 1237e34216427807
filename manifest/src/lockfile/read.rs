//! Reads lockfiles line by line.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    DECISION_ORDER, LOCK_FORMAT, LockedCapability, LockedConformance, LockedImplementation,
    LockedPackage, LockedRequirement, Lockfile, unreadable,
};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use crate::digest::ArtifactDigest;
use crate::document::decode;
use crate::document::merge_marker;
use crate::index_record::{CLASS_PACKAGES, Ecosystem, Ecosystems};
use crate::name::{ClassName, NameError, PackageName, is_identifier};
use crate::read_options::Limits;
use crate::release::Release;
use crate::release_source::ReleaseSource;
use crate::spec::Spec;
use crate::version::Version;

pub(super) fn read(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    ecosystems: Ecosystems,
) -> Parsed<Lockfile> {
    let source = match decode(name, bytes, "bytes in a lockfile", limits.lock_bytes) {
        Ok(source) => source,
        Err(mut error) => {
            error.hints = vec!["`pkgres lock` rewrites it".to_owned()];
            return Parsed::failed(error);
        }
    };
    if let Some(marker) = merge_marker::first(&source) {
        return Parsed::failed(
            unresolved_merge("the lockfile contains merge conflict markers".to_owned()).at(marker),
        );
    }
    let mut reader = LockReader {
        source: &source,
        lines: Lines::of(source.text()),
        ecosystem: CLASS_PACKAGES,
    };
    match reader.lockfile(ecosystems) {
        Ok(lock) => Parsed::new(Some(lock), Vec::new()),
        Err(error) => Parsed::failed(*error),
    }
}

/// The lines of a lockfile, without comments and blank lines.
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

    /// The current line without its line feed, and its place; `None` after the last one.
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

/// A line with a key.
struct KeyLine<'text> {
    key: &'text str,
    column: usize,
    /// Whether the line begins an item of a list.
    is_item: bool,
}

impl<'text> KeyLine<'text> {
    fn of(line: &'text str) -> Option<Self> {
        let content = line.trim_start_matches(' ');
        let item = content.strip_prefix("- ");
        let content = item.unwrap_or(content);
        let (key, _) = content.split_once(':')?;
        Some(Self {
            key,
            column: line.len() - content.len(),
            is_item: item.is_some(),
        })
    }
}

struct LockReader<'source> {
    source: &'source Arc<SourceText>,
    lines: Lines<'source>,
    ecosystem: &'static dyn Ecosystem,
}

type Read<T> = Result<T, Box<Diagnostic>>;

impl<'source> LockReader<'source> {
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

    /// The rest of the current line after `prefix`, if it begins so.
    fn peek(&self, prefix: &str) -> Option<&'source str> {
        self.lines.current()?.0.strip_prefix(prefix)
    }

    /// Reads a line that has to begin with `prefix`, and returns its rest.
    fn expect(&mut self, prefix: &str) -> Read<&'source str> {
        let value = self
            .peek(prefix)
            .ok_or_else(|| Box::new(self.missing(prefix)))?;
        self.lines.advance();
        Ok(value)
    }

    /// Skips the line that begins a section, if it is the current one.
    fn section(&mut self, line: &str) -> bool {
        let is_here = self.peek(line) == Some("");
        if is_here {
            self.lines.advance();
        }
        is_here
    }

    fn missing(&self, prefix: &str) -> Diagnostic {
        if let Some(key) = self.repeated_key() {
            let key = Escaped::shortened(key);
            return unresolved_merge(format!("the key `{key}` appears twice")).at(self.location());
        }
        let what = prefix.trim();
        let message = match self.lines.current() {
            Some(_) => format!("expected `{what}`"),
            None => format!("the file is incomplete: it ends where `{what}` was expected"),
        };
        unreadable(message).at(self.location())
    }

    /// The key of the current line, if its block already has it: a merge that keeps the lines of both sides leaves
    /// such blocks.
    fn repeated_key(&self) -> Option<&'source str> {
        let (line, start) = self.lines.current()?;
        let current = KeyLine::of(line)?;
        let before = self.lines.text[..start].lines().rev();
        for line in before.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let line = KeyLine::of(line)?;
            if line.column > current.column && !current.is_item {
                continue;
            }
            if line.column == current.column && line.key == current.key {
                return (line.is_item == current.is_item).then_some(current.key);
            }
            if line.column < current.column || line.is_item || current.is_item {
                return None;
            }
        }
        None
    }

    /// Reads a value from the rest of the current line after `prefix`.
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

    fn lockfile(&mut self, ecosystems: Ecosystems) -> Read<Lockfile> {
        self.format()?;
        self.order()?;
        self.ecosystem(ecosystems)?;
        let mut lock = Lockfile {
            ecosystem: self.ecosystem,
            ..Lockfile::default()
        };
        if self.section("roots:") {
            self.roots(&mut lock)?;
        }
        if self.section("overrides:") {
            while self.peek("- name: ").is_some() {
                let location = self.location();
                let name = self.name("- name: ")?;
                ascending(lock.overrides.keys(), &name, &name, &location)?;
                let spec = self.spec("  spec: ")?;
                lock.overrides.insert(name, spec);
            }
        }
        if self.section("side_by_side:") {
            while self.peek("- ").is_some() {
                let location = self.location();
                let name = self.name("- ")?;
                ascending(&lock.side_by_side, &name, &name, &location)?;
                lock.side_by_side.insert(name);
            }
        }
        if self.section("packages:") {
            self.packages(&mut lock)?;
        }
        if self.section("capabilities:") {
            self.capabilities(&mut lock)?;
        }
        if !self.expect("complete: true")?.is_empty() || self.lines.current().is_some() {
            return self.problem("unexpected text after `complete: true`");
        }
        if lock.ecosystem != CLASS_PACKAGES {
            put_in_order(&mut lock);
        }
        Ok(lock)
    }

    /// Reads the ecosystem, if the file states one.
    fn ecosystem(&mut self, ecosystems: Ecosystems) -> Read<()> {
        let Some(id) = self.peek("ecosystem: ") else {
            return Ok(());
        };
        let Some(ecosystem) = ecosystems.find(id).filter(|known| *known != CLASS_PACKAGES) else {
            let message = format!("the ecosystem `{}` is not known", Escaped::shortened(id));
            return self.problem(message);
        };
        self.ecosystem = ecosystem;
        self.lines.advance();
        Ok(())
    }

    /// Reads a name. A root of another ecosystem can have the name of its file.
    fn name(&mut self, prefix: &str) -> Read<PackageName> {
        let parse = name_parser(self.ecosystem);
        self.value(prefix, parse)
    }

    /// Reads a version with its place in the order, as far as its text says it.
    fn version(&mut self, prefix: &str) -> Read<Version> {
        let ecosystem = self.ecosystem;
        self.value(prefix, |text| version_of(ecosystem, text))
    }

    /// Reads a spec in quotes.
    fn spec(&mut self, prefix: &str) -> Read<Spec> {
        let ecosystem = self.ecosystem;
        self.value(prefix, |text| {
            let text = unquoted(text).ok_or_else(|| "the spec is not in quotes".to_owned())?;
            ecosystem.spec(&text).map_err(|error| error.to_string())
        })
    }

    fn format(&mut self) -> Read<()> {
        if self.source.text().trim().is_empty() {
            return self.problem("the lockfile is empty");
        }
        let Some(Ok(format)) = self.peek("lock: ").map(str::parse::<u64>) else {
            return self.problem("expected `lock:` and the number of the format");
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

    /// Reads the decision order. A newer order chooses other releases, so that a lockfile made by it cannot be
    /// kept up to date here.
    fn order(&mut self) -> Read<()> {
        let Some(written) = self.peek("order: ") else {
            return Err(Box::new(self.missing("order: ")));
        };
        let order = match written.parse::<u64>() {
            Ok(order) => order,
            Err(error) => return self.problem(error.to_string()),
        };
        if order > DECISION_ORDER {
            // The header is about the format alone.
            let error = Diagnostic::error(
                Code::LockFormat,
                format!("the lockfile has the decision order {order}; this pkgres knows orders up to {DECISION_ORDER}"),
            )
            .at(self.location())
            .hint("use the newer pkgres that wrote it");
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
            let name = self.name("- name: ")?;
            ascending(lock.roots.keys(), &name, &name, &location)?;
            let mut requirements: BTreeMap<PackageName, LockedRequirement> = BTreeMap::new();
            if self.section("  requires:") {
                while let Some(key) = self.key("    ") {
                    let location = self.location();
                    let parse = name_parser(self.ecosystem);
                    let package = self.value("    ", |_| parse(key))?;
                    ascending(requirements.keys(), &package, &package, &location)?;
                    let spec = self.spec("      spec: ")?;
                    let version = self.version("      version: ")?;
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

    fn capabilities(&mut self, lock: &mut Lockfile) -> Read<()> {
        while self.peek("- class: ").is_some() {
            let location = self.location();
            let class = self.value("- class: ", ClassName::parse)?;
            let Release {
                name: package,
                version,
            } = self.value("  release: ", release)?;
            let interface = self.value("  interface: ", ClassName::parse)?;
            // Earlier versions did not write it.
            let defined_by = match self.peek("  defined_by: ") {
                Some(_) => Some(self.value("  defined_by: ", release)?),
                None => None,
            };
            let implementation = LockedImplementation {
                class,
                package,
                version,
                interface,
            };
            ascending(
                lock.capabilities.keys(),
                &implementation,
                &implementation.class,
                &location,
            )?;
            let mut functions: BTreeMap<String, LockedCapability> = BTreeMap::new();
            if self.section("  functions:") {
                while let Some((name, _)) = self
                    .peek("    ")
                    .filter(|rest| !rest.starts_with(' '))
                    .and_then(|rest| rest.split_once(": "))
                {
                    let location = self.location();
                    let name = name.to_owned();
                    let capability = self.value("    ", |line| {
                        let written = unquoted(&line[name.len() + 2..]);
                        let capability = written.and_then(|text| LockedCapability::parse(&text));
                        let is_name = is_identifier(&name);
                        capability
                            .filter(|_| is_name)
                            .ok_or("this is not the status of a function")
                    })?;
                    ascending(
                        functions.keys(),
                        &name,
                        &Escaped::shortened(&name),
                        &location,
                    )?;
                    functions.insert(name, capability);
                }
            }
            let conformance = LockedConformance {
                defined_by,
                functions,
            };
            lock.capabilities.insert(implementation, conformance);
        }
        Ok(())
    }

    fn packages(&mut self, lock: &mut Lockfile) -> Read<()> {
        // Most releases have the source of the one before them.
        let mut last_source: Option<(&str, ReleaseSource)> = None;
        while self.peek("- name: ").is_some() {
            let location = self.location();
            let name = self.name("- name: ")?;
            let mut version = self.version("  version: ")?;
            if version.native_text().is_some() {
                let order = self.value("  order: ", full_version)?;
                version = Version::native(&version.to_string(), &order);
            }
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
            if self.section("  requires:") {
                while let Some((key, _)) = self
                    .peek("    ")
                    .filter(|rest| !rest.starts_with(' '))
                    .and_then(|rest| rest.split_once(": "))
                {
                    let location = self.location();
                    let ecosystem = self.ecosystem;
                    let (package, version) = self.value("    ", |line| {
                        let written = &line[key.len() + 2..];
                        let package = name_parser(ecosystem)(key);
                        let package = package.map_err(|error| error.to_string())?;
                        Ok::<_, String>((package, version_of(ecosystem, written)?))
                    })?;
                    let before = requires.iter().map(|(package, _)| package);
                    ascending(before, &package, &package, &location)?;
                    requires.push((package, version));
                }
            }
            let release = Release::new(name, version);
            ascending(lock.packages.keys(), &release, &release, &location)?;
            let package = LockedPackage {
                source,
                digest,
                requires: requires.into_iter().collect(),
            };
            lock.packages.insert(release, package);
        }
        Ok(())
    }
}

/// The error about a lockfile with the lines of both sides of a merge.
fn unresolved_merge(message: String) -> Diagnostic {
    Diagnostic::error(Code::LockConflict, message)
        .hint("`pkgres lock` resolves it and prefers the releases of both sides")
}

/// Checks that an item comes after all before it: a lockfile is sorted, so that there is one spelling for every content.
fn ascending<'item, T: Ord + 'item>(
    before: impl IntoIterator<Item = &'item T, IntoIter: DoubleEndedIterator>,
    next: &T,
    shown: &dyn std::fmt::Display,
    location: &Location,
) -> Read<()> {
    let last = before.into_iter().next_back();
    let error = match last.map(|last| last.cmp(next)) {
        None | Some(std::cmp::Ordering::Less) => return Ok(()),
        Some(std::cmp::Ordering::Equal) => unresolved_merge(format!("{shown} appears twice")),
        Some(std::cmp::Ordering::Greater) => unreadable(format!("{shown} is out of order")),
    };
    Err(Box::new(error.at(location.clone())))
}

/// The reader of names of packages, and of roots that are files.
fn name_parser(ecosystem: &'static dyn Ecosystem) -> fn(&str) -> Result<PackageName, NameError> {
    if ecosystem == CLASS_PACKAGES {
        PackageName::parse
    } else {
        PackageName::native
    }
}

/// Reads a version of an ecosystem; one in quotes is native.
fn version_of(ecosystem: &'static dyn Ecosystem, text: &str) -> Result<Version, String> {
    if ecosystem == CLASS_PACKAGES {
        return full_version(text);
    }
    let native = unquoted(text);
    let text = native.as_deref().unwrap_or(text);
    let version = match ecosystem.version(text) {
        // The host may write its versions in another way.
        Err(error) if native.is_some() => ecosystem.host_version(text).map_err(|_| error),
        version => version,
    };
    version.map_err(|error| error.to_string())
}

/// Replaces versions by those of the releases with the same texts, whose places in the order are known.
fn put_in_order(lock: &mut Lockfile) {
    let known: VersionsByText = (lock.packages.keys())
        .map(|Release { name, version }| ((name.clone(), version.to_string()), version.clone()))
        .collect();
    let replace = |name: &PackageName, version: &mut Version| {
        if let Some(known) = known.get(&(name.clone(), version.to_string())) {
            *version = known.clone();
        }
    };
    for (name, bound) in lock.roots.values_mut().flatten() {
        replace(name, &mut bound.version);
    }
    for package in lock.packages.values_mut() {
        let bound = package.requires.iter().map(|(name, version)| {
            let mut version = version.clone();
            replace(name, &mut version);
            (name.clone(), version)
        });
        package.requires = bound.collect();
    }
}

/// Versions by package and text.
type VersionsByText = BTreeMap<(PackageName, String), Version>;

/// The content of a string in quotes, in which `\\` precedes quotes and itself.
fn unquoted(text: &str) -> Option<String> {
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut content = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        content.push(match character {
            // There is one spelling for every content.
            '\\' => characters
                .next()
                .filter(|next| matches!(next, '"' | '\\'))?,
            '"' => return None,
            other => other,
        });
    }
    Some(content)
}

/// Reads the name of a package and a version with a space between them.
fn release(text: &str) -> Result<Release, String> {
    let (name, version) = text.split_once(' ').ok_or("expected a version")?;
    let name = PackageName::parse(name).map_err(|error| error.to_string())?;
    Ok(Release::new(name, full_version(version)?))
}

/// Reads a version with all three components, as this crate writes it.
fn full_version(text: &str) -> Result<Version, String> {
    let version = Version::parse(text).map_err(|error| error.to_string())?;
    // Three components and nothing else have one spelling only.
    let dots = || text.bytes().filter(|byte| *byte == b'.').count();
    let is_plain = version.prerelease().is_empty() && version.build().is_empty();
    if (is_plain && dots() == 2) || version.to_string() == text {
        Ok(version)
    } else {
        Err(format!(
            "`{}` must be written `{version}`",
            Escaped::shortened(text)
        ))
    }
}
