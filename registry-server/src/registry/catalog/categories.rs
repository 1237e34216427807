//! Categories of the catalog: adding, removing and listing them.

use std::collections::BTreeMap;

use pkgres_manifest::PackageName;
use unicode_normalization::UnicodeNormalization as _;

use crate::access::{Principal, Scope};
use crate::database::Transaction;
use crate::problem::{Problem, ProblemCode};
use crate::registry::access_checks::why_hidden;
use crate::registry::backend::RegistryBackend;
use crate::store::catalog::{self, CategorizedRelease};
use crate::store::groups::{self, CategoryRow};

/// A category and its releases.
#[derive(Debug)]
pub(crate) struct CategoryView {
    pub(crate) row: CategoryRow,
    /// The releases of the category, sorted by name.
    pub(crate) releases: Vec<CategorizedRelease>,
}

/// The form of a name that is the same for all names that differ only in case, in blanks or in the width of letters.
fn appearance(name: &str) -> String {
    let folded = name.nfkc().collect::<String>().to_lowercase();
    let words: Vec<&str> = folded.split_whitespace().collect();
    words.join(" ")
}

/// All categories with their releases.
fn views(transaction: &mut dyn Transaction) -> Result<Vec<CategoryView>, Problem> {
    let mut releases: BTreeMap<String, Vec<CategorizedRelease>> = BTreeMap::new();
    for (names, release) in catalog::categorized(transaction)? {
        for name in names {
            releases.entry(name).or_default().push(release.clone());
        }
    }
    let rows = groups::categories(transaction)?.into_iter();
    Ok(rows
        .map(|row| CategoryView {
            releases: releases.remove(&row.name).unwrap_or_default(),
            row,
        })
        .collect())
}

/// The category with an id.
fn find(views: Vec<CategoryView>, id: &str) -> Result<CategoryView, Problem> {
    let mut views = views.into_iter();
    views.find(|view| view.row.id == id).ok_or_else(|| {
        let detail = "there is no category with this id";
        Problem::new(ProblemCode::NoSuchCategory, detail)
    })
}

impl RegistryBackend {
    /// All categories, in no particular order, with those of their releases that the principal may see.
    pub(crate) fn categories(
        &self,
        principal: Option<&Principal>,
    ) -> Result<Vec<CategoryView>, Problem> {
        self.database.read(|transaction| {
            let mut views = views(transaction)?;
            // Of each package: whether the principal may see its releases that are not public.
            let mut seen = BTreeMap::new();
            for view in &mut views {
                for release in std::mem::take(&mut view.releases) {
                    let is_visible = match seen.get(&release.package) {
                        _ if release.is_public => true,
                        Some(is_visible) => *is_visible,
                        None => {
                            let name = &release.package;
                            let parsed = PackageName::parse(name).map_err(Problem::internal)?;
                            let hidden = why_hidden(transaction, principal, &parsed, false)?;
                            seen.insert(name.clone(), hidden.is_none());
                            hidden.is_none()
                        }
                    };
                    if is_visible {
                        view.releases.push(release);
                    }
                }
            }
            Ok(views)
        })
    }

    /// The category with an id, and those of its releases that the principal may see.
    pub(crate) fn category(
        &self,
        principal: Option<&Principal>,
        id: &str,
    ) -> Result<CategoryView, Problem> {
        find(self.categories(principal)?, id)
    }

    /// Adds a category.
    pub(crate) fn add_category(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<CategoryView, Problem> {
        principal.require(Scope::Admin)?;
        let now = self.environment.now().to_string();
        let row = CategoryRow {
            id: self.environment.uuid().replace('-', ""),
            name: name.to_owned(),
            created: now.clone(),
            updated: now,
        };
        let look = appearance(name);
        let is_new = self
            .database
            .write(|transaction| -> Result<bool, Problem> {
                let known = groups::categories(transaction)?;
                let is_taken = known.iter().any(|known| appearance(&known.name) == look);
                Ok(!is_taken && groups::add_category(transaction, &row)?)
            })?;
        if is_new {
            let releases = Vec::new();
            return Ok(CategoryView { row, releases });
        }
        let detail = "there is a category with this name, or with one that looks the same";
        Err(Problem::new(ProblemCode::CategoryExists, detail))
    }

    /// Removes a category that has no releases.
    pub(crate) fn remove_category(&self, principal: &Principal, id: &str) -> Result<(), Problem> {
        principal.require(Scope::Admin)?;
        self.database.write(|transaction| {
            let view = find(views(transaction)?, id)?;
            if !view.releases.is_empty() {
                let detail = format!(
                    "the category still has {} packages: remove them from it first",
                    view.releases.len()
                );
                return Err(Problem::new(ProblemCode::CategoryInUse, detail));
            }
            Ok(groups::remove_category(transaction, id)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_are_one() {
        for other in ["web", " Web ", "Web\u{a0}", "\u{ff37}eb"] {
            assert_eq!(appearance(other), appearance("Web"), "{other}");
        }
        assert_eq!(appearance("Big  Data"), appearance("big data"));
        assert_ne!(appearance("BigData"), appearance("Big Data"));
    }
}
