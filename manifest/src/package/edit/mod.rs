//! Changes of the requirements in the text of a manifest.
//!
//! Everything else stays as it is: comments, order, quotes and line feeds. The edited text is read again, and
//! the edit fails if anything differs but the requirement that was to change: YAML can be written in ways
//! that only a person should edit.

mod text;

use std::sync::Arc;

use super::PackageManifest;
use crate::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use crate::document::{Node, Syntax, apply, parse_yaml, same_but_for};
use crate::name::PackageName;
use crate::read_options::ReadOptions;
use crate::spec::Spec;

/// A change of the requirements of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequirementEdit {
    /// Adds a requirement, or changes its spec.
    Set(PackageName, Spec),
    /// Removes a requirement. Fails if there is none.
    Remove(PackageName),
}

impl PackageManifest {
    /// Returns the text of the manifest with other requirements.
    ///
    /// A new requirement comes last, or in its place by name if the others are sorted by name.
    ///
    /// ```
    /// use pkgres_manifest::{PackageManifest, PackageName, ReadOptions, RequirementEdit, Spec};
    ///
    /// let text = b"FullName: Web\nType: Application\nRequire:\n  Db: '1' # for now\n";
    /// let options = ReadOptions::default();
    /// let (manifest, _) = PackageManifest::read("m", text, &options).into_result().unwrap();
    /// let edit = RequirementEdit::Set(PackageName::parse("Log")?, Spec::parse("2")?);
    /// assert_eq!(
    ///     manifest.with_requirements(&[edit], &options).unwrap(),
    ///     "FullName: Web\nType: Application\nRequire:\n  Db: '1' # for now\n  Log: '2'\n",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_requirements(
        &self,
        edits: &[RequirementEdit],
        options: &ReadOptions,
    ) -> Result<String, Diagnostic> {
        let mut manifest = self.clone();
        for edit in edits {
            manifest = edited(&manifest, edit, options)?;
        }
        Ok(manifest.source().text().to_owned())
    }
}

/// The manifest after one edit.
fn edited(
    manifest: &PackageManifest,
    edit: &RequirementEdit,
    options: &ReadOptions,
) -> Result<PackageManifest, Diagnostic> {
    let source = manifest.source();
    if let RequirementEdit::Set(package, _) = edit {
        if *package == manifest.name.value {
            let message = format!("`{package}` cannot require itself");
            let finding = Diagnostic::error(Code::SelfRequirement, message);
            return Err(finding.at(manifest.name.location.clone()));
        }
        if let Some(finding) = spelled_differently(manifest, package) {
            return Err(finding);
        }
    }
    let tree = tree_of(manifest, options);
    let Some(document) = tree.as_ref().and_then(Node::as_mapping) else {
        return Err(not_editable(source));
    };
    let text_edit = match edit {
        RequirementEdit::Set(package, spec) => text::set(source, document, package, spec),
        RequirementEdit::Remove(package) => Some(text::remove(source, document, package)?),
    };
    let Some(text_edit) = text_edit else {
        return Err(not_editable(source));
    };
    let edited = apply(source.text(), vec![text_edit]);
    let edited = SourceText::new(source.name(), edited);
    match PackageManifest::parse(&edited, options).into_result() {
        Ok((after, _)) if has_only_the_edit(manifest, &after, edit, options) => Ok(after),
        _ => Err(not_editable(source)),
    }
}

/// The error for a package that is required already, in other upper and lower case letters.
fn spelled_differently(manifest: &PackageManifest, package: &PackageName) -> Option<Diagnostic> {
    let mut requirements = manifest.requirements.iter();
    let other = requirements.find(|other| {
        let (other, package) = (other.package.as_str(), package.as_str());
        other != package && other.eq_ignore_ascii_case(package)
    })?;
    let message = format!(
        "`{package}` is required already, spelled `{}`",
        other.package
    );
    let finding = Diagnostic::error(Code::DuplicateKey, message);
    Some(match &other.location {
        Some(location) => finding.at(location.clone()),
        None => finding,
    })
}

fn not_editable(source: &Arc<SourceText>) -> Diagnostic {
    let message = "the requirements are written in a way that cannot be edited";
    Diagnostic::error(Code::Field, message)
        .at(Location::new(source, Span::default()))
        .hint("write them below `Require:`, one on each line, or edit them by hand")
}

/// Whether two manifests differ in the edited requirement alone.
fn has_only_the_edit(
    before: &PackageManifest,
    after: &PackageManifest,
    edit: &RequirementEdit,
    options: &ReadOptions,
) -> bool {
    let pairs = |manifest: &PackageManifest| -> Vec<(PackageName, String)> {
        let requirements = manifest.requirements.iter();
        requirements
            .map(|it| (it.package.clone(), it.spec.written().to_owned()))
            .collect()
    };
    let (old, new) = (pairs(before), pairs(after));
    let without = |pairs: &[(PackageName, String)], name: &PackageName| {
        let mut pairs = pairs.to_vec();
        pairs.retain(|(package, _)| package != name);
        pairs
    };
    let are_right = match edit {
        RequirementEdit::Set(name, spec) => {
            new.contains(&(name.clone(), spec.written().to_owned()))
                && without(&new, name) == without(&old, name)
        }
        RequirementEdit::Remove(name) => new == without(&old, name),
    };
    let (before, after) = (tree_of(before, options), tree_of(after, options));
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    let top = before.span;
    let left_out = |node: &Node| -> &[&str] { if node.span == top { &["Require"] } else { &[] } };
    are_right && same_but_for(&before, &after, &left_out)
}

/// The document of a manifest.
fn tree_of(manifest: &PackageManifest, options: &ReadOptions) -> Option<Node> {
    let documents = parse_yaml(manifest.source(), Syntax::of_manifest(&options.limits)).nodes;
    documents?.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_may_be_different() {
        let options = ReadOptions::default();
        let read = |text: &str| {
            let text = format!("FullName: a.B\nType: Library\n{text}");
            let manifest = PackageManifest::read("manifest.yaml", text.as_bytes(), &options);
            let (manifest, _) = manifest.into_result().expect("a manifest");
            manifest
        };
        let name = PackageName::parse("c.D").expect("a name");
        let edit = RequirementEdit::Set(name, Spec::parse("1").expect("a spec"));
        let before = read("UI: ui.yaml\nLogo: a.png\nMeta: {x: [1]}\n");
        let is_expected = |after: &str| {
            let after = read(&format!("{after}Require:\n  c.D: '1'\n"));
            has_only_the_edit(&before, &after, &edit, &options)
        };
        assert!(is_expected(
            "UI: ui.yaml\nLogo: a.png\nMeta: {x: [1]} # note\n"
        ));
        for other in [
            "UI: ui2.yaml\nLogo: a.png\nMeta: {x: [1]}\n",
            "UI: ui.yaml\nLogo: b.png\nMeta: {x: [1]}\n",
            "UI: ui.yaml\nLogo: a.png\nMeta: {x: [2]}\n",
            "UI: ui.yaml\nLogo: a.png\nMeta: {x: [1]}\nSupplier: {}\n",
            "UI: ui.yaml\nLogo: a.png\n",
        ] {
            assert!(!is_expected(other), "{other}");
        }
    }
}
