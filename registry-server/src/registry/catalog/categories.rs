//! Categories.

use std::collections::BTreeMap;

use crate::access::{Actor, Scope};
use crate::database::Transaction;
use crate::problem::{Problem, ProblemCode};
use crate::registry::RegistryBackend;
use crate::store::catalog;
use crate::store::categories::{self, CategoryRow};

/// A category and what is in it.
#[derive(Debug)]
pub(crate) struct CategoryView {
    pub(crate) row: CategoryRow,
    /// Id, package and name of each release.
    pub(crate) releases: Vec<[String; 3]>,
}

/// Refuses names that are not those of categories.
pub(crate) fn check(transaction: &mut dyn Transaction, names: &[String]) -> Result<(), Problem> {
    if names.is_empty() {
        return Ok(());
    }
    let known = categories::all(transaction)?;
    for name in names {
        if !known.iter().any(|category| category.name == *name) {
            let name = pkgres_manifest::diagnostic::Escaped::shortened(name);
            let detail = format!("there is no category `{name}`");
            return Err(Problem::new(ProblemCode::BodyInvalid, detail));
        }
    }
    Ok(())
}

fn views(transaction: &mut dyn Transaction) -> Result<Vec<CategoryView>, Problem> {
    let mut releases: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for (names, release) in catalog::categorized(transaction)? {
        for name in names {
            releases.entry(name).or_default().push(release.clone());
        }
    }
    let rows = categories::all(transaction)?.into_iter();
    Ok(rows
        .map(|row| CategoryView {
            releases: releases.remove(&row.name).unwrap_or_default(),
            row,
        })
        .collect())
}

fn find(views: Vec<CategoryView>, id: &str) -> Result<CategoryView, Problem> {
    let mut views = views.into_iter();
    views.find(|view| view.row.id == id).ok_or_else(|| {
        let detail = "there is no category of this id";
        Problem::new(ProblemCode::NoSuchCategory, detail)
    })
}

impl RegistryBackend {
    /// All categories, in no order.
    pub(crate) fn categories(&self) -> Result<Vec<CategoryView>, Problem> {
        self.database.read(views)
    }

    /// The category with an id.
    pub(crate) fn category(&self, id: &str) -> Result<CategoryView, Problem> {
        find(self.categories()?, id)
    }

    /// Makes a category.
    pub(crate) fn add_category(&self, actor: &Actor, name: &str) -> Result<CategoryView, Problem> {
        actor.require(Scope::Admin)?;
        let now = self.environment.now().to_string();
        let row = CategoryRow {
            id: self.environment.uuid().replace('-', ""),
            name: name.to_owned(),
            created: now.clone(),
            updated: now,
        };
        let is_new = self
            .database
            .write(|transaction| categories::add(transaction, &row))?;
        if is_new {
            let releases = Vec::new();
            return Ok(CategoryView { row, releases });
        }
        let detail = "there is a category of this name";
        Err(Problem::new(ProblemCode::CategoryExists, detail))
    }

    /// Removes a category that has no releases.
    pub(crate) fn remove_category(&self, actor: &Actor, id: &str) -> Result<(), Problem> {
        actor.require(Scope::Admin)?;
        self.database.write(|transaction| {
            let view = find(views(transaction)?, id)?;
            if !view.releases.is_empty() {
                let detail = format!(
                    "the category still has {} packages: take them out of it first",
                    view.releases.len()
                );
                return Err(Problem::new(ProblemCode::CategoryInUse, detail));
            }
            Ok(categories::remove(transaction, id)?)
        })
    }
}
