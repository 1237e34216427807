//! Facts about a platform, such as its operating system, and the platforms that an interface names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::diagnostic::Located;
#[cfg(feature = "packages")]
use crate::diagnostic::{Code, Parsed};
#[cfg(feature = "packages")]
use crate::document::{NodeReader, read_yaml};
#[cfg(feature = "packages")]
use crate::read_options::Limits;

/// Facts about a platform: values by key. Keys and values are compared without regard to case, and `osfamily` is
/// another spelling of `os_family`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Facts(BTreeMap<String, BTreeSet<String>>);

impl Facts {
    /// Returns facts with these keys and values. A key that comes several times has several values.
    ///
    /// ```
    /// use pkgres_manifest::Facts;
    ///
    /// let facts = Facts::from_pairs([("os", "Debian"), ("osfamily", "Debian")]);
    /// assert_eq!(facts.to_string(), "os=debian os_family=debian");
    /// ```
    pub fn from_pairs<Key: AsRef<str>, Value: AsRef<str>>(
        pairs: impl IntoIterator<Item = (Key, Value)>,
    ) -> Self {
        let mut facts = Self::default();
        for (key, value) in pairs {
            facts.add(key.as_ref(), value.as_ref());
        }
        facts
    }

    /// Reads facts from YAML or JSON: a mapping from keys to a value or a list of values. Messages call the file
    /// `name`.
    ///
    /// ```
    /// use pkgres_manifest::{Facts, Limits};
    ///
    /// let text = b"os: Ubuntu\nroles: [web, db]\n";
    /// let (facts, _) = Facts::read("facts.yaml", text, &Limits::default())
    ///     .into_result()
    ///     .expect("these are facts");
    /// assert_eq!(facts.to_string(), "os=ubuntu roles=db,web");
    /// ```
    #[cfg(feature = "packages")]
    pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Self> {
        let read = read_yaml(name, bytes, "file of facts", limits).into_result();
        let ((source, document), mut diagnostics) = match read {
            Ok(read) => read,
            Err(findings) => return Parsed::new(None, findings),
        };
        let mut facts = Self::default();
        let mut reader = NodeReader::new(&source, Code::Field);
        let mapping = document
            .as_ref()
            .and_then(|document| reader.mapping_or_null(document, "a file of facts"));
        for entry in mapping.map_or(&[][..], |mapping| &mapping.entries) {
            for value in entry.value.items_or_self() {
                if let Some(scalar) = value.as_scalar() {
                    if !scalar.is_null() {
                        facts.add(&entry.key.text, &scalar.text);
                    }
                } else {
                    reader.wrong_kind("a fact", "text or a list of strings", value);
                }
            }
        }
        diagnostics.extend(reader.into_findings());
        Parsed::new(Some(facts), diagnostics)
    }

    fn add(&mut self, key: &str, value: &str) {
        let values = self.0.entry(canonical_key(key)).or_default();
        values.insert(value.to_lowercase());
    }

    /// Whether there is a fact with a key.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(&canonical_key(key))
    }

    /// The values of a key in lower case.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = self.0.get(&canonical_key(key));
        values.into_iter().flatten().map(String::as_str)
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_alternatives(&self.0, " ", formatter)
    }
}

fn write_alternatives(
    alternatives: &BTreeMap<String, BTreeSet<String>>,
    between: &str,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (number, (key, values)) in alternatives.iter().enumerate() {
        if number > 0 {
            formatter.write_str(between)?;
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        write!(formatter, "{key}={}", values.join(","))?;
    }
    Ok(())
}

/// The one spelling of a key.
fn canonical_key(key: &str) -> String {
    let key = key.to_lowercase();
    match key.as_str() {
        "osfamily" => "os_family".to_owned(),
        _ => key,
    }
}

/// Platforms, as an interface names them: keys of facts, each with values. Facts match if they have any of the
/// values of any of the keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactMatch {
    values: BTreeMap<String, BTreeSet<String>>,
    keys: Vec<Located<String>>,
}

impl FactMatch {
    /// Adds a key with its values.
    pub(super) fn add<'text>(
        &mut self,
        key: Located<String>,
        values: impl IntoIterator<Item = &'text str>,
    ) {
        let known = self.values.entry(canonical_key(&key.value)).or_default();
        known.extend(values.into_iter().map(str::to_lowercase));
        self.keys.push(key);
    }

    /// Whether facts match.
    pub fn matches(&self, facts: &Facts) -> bool {
        self.values.iter().any(|(key, values)| {
            let known = facts.0.get(key);
            known.is_some_and(|known| !known.is_disjoint(values))
        })
    }

    /// The keys that are missing in facts, and therefore match nothing.
    pub fn unknown_keys(&self, facts: &Facts) -> impl Iterator<Item = &Located<String>> {
        self.keys.iter().filter(|key| !facts.has(&key.value))
    }

    /// The keys as written.
    pub fn keys(&self) -> &[Located<String>] {
        &self.keys
    }

    /// Whether another condition has all keys and values of this one, and so matches whatever this one matches.
    pub fn is_within(&self, other: &Self) -> bool {
        self.values.iter().all(|(key, values)| {
            let others = other.values.get(key);
            others.is_some_and(|others| values.is_subset(others))
        })
    }

    /// A key and a value that this condition and another one have in common: the same facts match both.
    pub fn in_common(&self, other: &Self) -> Option<(&str, &str)> {
        self.values.iter().find_map(|(key, values)| {
            let others = other.values.get(key)?;
            let value = values.iter().find(|value| others.contains(*value))?;
            Some((key.as_str(), value.as_str()))
        })
    }
}

/// Writes keys and values in one spelling and order, as in `os=netbsd,windows or os_family=debian`.
impl fmt::Display for FactMatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_alternatives(&self.values, " or ", formatter)
    }
}
