//! Finding packages on a registry on the network.

use pkgres_manifest::PackageName;

use crate::registry::{Found, PackageDescription, RegistryError, matches};

use super::HttpRegistry;

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

impl HttpRegistry {
    /// The packages with all words in name, title, description, author, tags or names of classes, sorted by name: at
    /// most `limit`. A registry of before microversion 1.3 looks only in the first three.
    pub(super) fn search_api(
        &self,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Found>, RegistryError> {
        if self.config()?.api.is_none() {
            return Err(self.rejected("it is a mirror, and cannot be searched"));
        }
        // The longest words leave the fewest packages.
        let mut longest: Vec<&str> = words
            .iter()
            .flat_map(|word| word.split_whitespace())
            .collect();
        longest.sort_by_key(|word| std::cmp::Reverse(word.len()));
        longest.truncate(MAX_WORDS);
        let mut query = longest.join(" ");
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
            let has_looked_everywhere = fields.iter().any(|field| field == "classes");
            if !has_looked_everywhere && query.contains(' ') {
                // It looked for one text, with the spaces.
                longest[0].clone_into(&mut query);
                continue;
            }
            let is_checked = has_looked_everywhere && longest.len() == words.len();
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

    /// The packages with a release that requires a package; `None` if the registry cannot tell.
    pub(super) fn dependants_api(
        &self,
        package: &PackageName,
    ) -> Result<Option<Vec<PackageName>>, RegistryError> {
        #[derive(serde::Deserialize)]
        struct Dependants {
            dependants: Vec<PackageName>,
        }
        if self.transport.options.offline || self.config()?.api.is_none() {
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
        if self.transport.options.offline || self.config()?.api.is_none() {
            return Ok(None);
        }
        self.read_api(&format!("packages/{package}"), false)
    }
}
