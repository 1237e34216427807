//! Finds packages on a registry on the network.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;

use crate::registry::PackageDescription;
use crate::registry_error::RegistryError;
use crate::whole_registry::{Found, matches};

use super::HttpRegistry;
use crate::threads::lock;

/// The most packages that one request returns.
const PAGE: usize = 1000;

/// The most words that one request may have.
const MAX_WORDS: usize = 6;

/// A package in a response.
#[derive(serde::Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
}

#[derive(serde::Deserialize)]
struct Page {
    packages: Vec<Listed>,
    #[serde(default)]
    next_marker: Option<String>,
    /// Where the registry looked for the words, if it says so.
    #[serde(default)]
    fields: Vec<String>,
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

/// The longest words, which leave the fewest packages: as many as a request may have.
fn longest(mut words: Vec<String>) -> Vec<String> {
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.truncate(MAX_WORDS);
    words
}

impl HttpRegistry {
    /// The packages with all words in name, title, description, author, tags or names of classes and interfaces, sorted
    /// by name: at most `limit`. A word with spaces is a phrase. A registry of before microversion 1.4 looks neither for
    /// phrases nor in interfaces, and one of before 1.3 only in the first three.
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
        let phrases = longest(words.iter().map(|word| phrase(word)).collect());
        let single = longest(
            words
                .iter()
                .flat_map(|word| word.split(is_separator))
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
        );
        let has_phrases = phrases.iter().any(|word| word.starts_with('"'));
        let mut query = phrases.join(" ");
        let mut found = Vec::new();
        let mut marker = String::new();
        while found.len() < limit {
            let parameters = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("q", &query)
                .append_pair("limit", &PAGE.to_string())
                .append_pair("marker", &marker)
                .finish();
            let page: Option<Page> = self.read_api(&format!("packages?{parameters}"), true)?;
            let Some(Page {
                packages,
                next_marker,
                fields,
            }) = page
            else {
                break;
            };
            let looks_in = |place: &str| fields.iter().any(|field| field == place);
            let is_checked = if looks_in("interfaces") {
                phrases.len() == words.len()
            } else if looks_in("classes") {
                if query.contains('"') {
                    query = single.join(" ");
                    continue;
                }
                !has_phrases && single.len() == words.len()
            } else {
                if query.contains(' ') {
                    // It looked for one text, with the spaces.
                    single
                        .first()
                        .cloned()
                        .unwrap_or_default()
                        .clone_into(&mut query);
                    continue;
                }
                false
            };
            for Listed {
                name,
                title,
                description,
            } in packages
            {
                let texts = [name.as_str(), title.as_str(), description.as_str()];
                if let Ok(name) = PackageName::parse(&name)
                    && (is_checked || matches(words, texts.into_iter()))
                {
                    found.push(Found {
                        name,
                        title: Some(title).filter(|title| !title.is_empty()),
                    });
                }
            }
            match next_marker {
                // A registry that repeats itself must not be asked for ever.
                Some(next) if next > marker => marker = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The packages of a mirror with all words in their names, sorted: the list of names is all that it has of its packages
    /// as a whole.
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
        let answer: Option<Dependants> = self.read_api(&path, true)?;
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
        self.read_api(&format!("packages/{package}"), false)
    }
}
