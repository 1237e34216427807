//! Finds packages on a registry on the network.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;

use crate::registry::PackageDescription;
use crate::registry_error::RegistryError;
use crate::whole_registry::{Found, matches};

use super::HttpRegistry;
use crate::threads::lock;

/// The most packages that one request returns.
const PAGE: usize = 200;

/// The most words that one request may have.
const MAX_WORDS: usize = 6;

/// A package in a response.
#[derive(serde::Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    title: String,
}

#[derive(serde::Deserialize)]
struct Page {
    packages: Vec<Listed>,
    #[serde(default)]
    next_marker: Option<String>,
}

/// What is between the words of a query.
fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == '"'
}

/// A word of a search as a query has it: with quotes if there are spaces in it.
fn phrase(word: &str) -> String {
    let words: Vec<&str> = word
        .split(is_separator)
        .filter(|word| !word.is_empty())
        .collect();
    match words.as_slice() {
        [word] => (*word).to_owned(),
        words => format!("\"{}\"", words.join(" ")),
    }
}

impl HttpRegistry {
    /// The packages with all words in name, title, description, author, tags or names of classes and interfaces, sorted
    /// by name: at most `limit`. A word with spaces is a phrase.
    pub(super) fn search_api(
        &self,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Found>, RegistryError> {
        if self.config()?.api.is_none() {
            return self.search_names(words, limit);
        }
        let mut groups = words.chunks(MAX_WORDS);
        let first = groups.next().unwrap_or_default();
        if words.len() <= MAX_WORDS {
            return self.search_group(first, limit);
        }
        // A request has few words, so all packages with some of them are compared with those with the others.
        let mut found = self.search_group(first, usize::MAX)?;
        for group in groups {
            let others = self.search_group(group, usize::MAX)?;
            let names: BTreeSet<PackageName> = others.into_iter().map(|found| found.name).collect();
            found.retain(|found| names.contains(&found.name));
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The packages with all of at most [`MAX_WORDS`] words, sorted by name: at most `limit`.
    fn search_group(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        let phrases: Vec<String> = words.iter().map(|word| phrase(word)).collect();
        let query = phrases.join(" ");
        let mut found = Vec::new();
        let mut marker = String::new();
        while found.len() < limit {
            let parameters = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("q", &query)
                .append_pair("limit", &PAGE.min(limit - found.len()).to_string())
                .append_pair("marker", &marker)
                .finish();
            let page: Option<Page> = self.read_api(&format!("packages?{parameters}"), None)?;
            let Some(Page {
                packages,
                next_marker,
            }) = page
            else {
                break;
            };
            found.extend(packages.into_iter().filter_map(|Listed { name, title }| {
                Some(Found {
                    name: PackageName::parse(&name).ok()?,
                    title: Some(title).filter(|title| !title.is_empty()),
                })
            }));
            match next_marker {
                // A registry that repeats itself must not be asked for ever.
                Some(next) if next > marker => marker = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The packages of a mirror with all words in their names, sorted: the list of names is all that it has of its
    /// packages as a whole.
    fn search_names(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        let reading = &mut *lock(&self.reading);
        self.load(reading)?;
        self.refresh(reading)?;
        let names = reading.names.as_ref().ok_or_else(|| {
            let reason = "it gave no list of its packages";
            self.transport.unreachable(reason)
        })?;
        let is_match = |name: &&PackageName| matches(words, std::iter::once(name.as_str()));
        let found: BTreeSet<&PackageName> = names.keys().filter(is_match).collect();
        let found = found.into_iter().take(limit).map(|name| Found {
            name: name.clone(),
            title: None,
        });
        Ok(found.collect())
    }

    /// The packages with a release that requires a package; `None` if the registry cannot tell.
    pub(super) fn dependants_api(
        &self,
        package: &PackageName,
    ) -> Result<Option<Vec<PackageName>>, RegistryError> {
        #[derive(serde::Deserialize)]
        struct Dependants {
            dependants: Vec<PackageName>,
        }
        if !Self::can_have(package)
            || self.transport.options.offline
            || self.config()?.api.is_none()
        {
            return Ok(None);
        }
        let path = format!("packages/{package}/dependants");
        let answer: Option<Dependants> = self.read_api(&path, Some("1.1"))?;
        Ok(answer.map(|answer| answer.dependants))
    }

    /// What the registry says of a package; `None` if it does not have it, or does not say.
    pub(super) fn description_api(
        &self,
        package: &PackageName,
    ) -> Result<Option<PackageDescription>, RegistryError> {
        if !Self::can_have(package)
            || self.transport.options.offline
            || self.config()?.api.is_none()
        {
            return Ok(None);
        }
        self.read_api(&format!("packages/{package}"), None)
    }
}
