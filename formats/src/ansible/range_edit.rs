//! Replaces ranges in the text of `requirements.yml` and `galaxy.yml`.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Span};
use pkgres_manifest::document::{Mapping, Node, read_yaml_to_edit, with_scalars};
use pkgres_manifest::{Limits, PackageName, Spec};

use super::metadata::GALAXY_FILE;
use super::name::package_name;
use super::range::compact;
use crate::format::{FormatFile, first_error};

/// Returns the text of a file in which requirements have other ranges. Comments, order and quotes stay as they are.
pub(super) fn with_ranges(
    file: &FormatFile<'_>,
    ranges: &[(PackageName, Spec)],
    limits: &Limits,
) -> Result<String, Diagnostic> {
    let read = read_yaml_to_edit(file.path, file.bytes, file.name(), limits);
    let ((source, document), _) = read.into_result().map_err(first_error)?;
    let failed = |message: String, span: Span| {
        Diagnostic::error(Code::Field, message)
            .at(Location::new(&source, span))
            .hint("edit it by hand")
    };
    let top = document.as_ref().and_then(Node::as_mapping);
    let mut edits = Vec::new();
    for (package, range) in ranges {
        let stated = top.map(|top| stated_ranges(file, top, package));
        let stated = stated.unwrap_or_default();
        if stated.is_empty() {
            let message = format!("`{package}` has no range that could be changed");
            return Err(failed(message, Span::default()));
        }
        // All entries of a package have to hold, so that each gets the range.
        let nodes = stated.iter();
        edits.extend(nodes.map(|node| (node.span, compact(range.written()))));
    }
    with_scalars(&source, &edits, limits).ok_or_else(|| {
        let message = "the ranges are written in a way that cannot be edited";
        failed(message.to_owned(), Span::default())
    })
}

/// The ranges of the requirements on a package that state one.
fn stated_ranges<'document>(
    file: &FormatFile<'_>,
    top: &'document Mapping,
    package: &PackageName,
) -> Vec<&'document Node> {
    let is_meant = |text: &str| package_name(text).is_ok_and(|name| name == *package);
    let ranges: Vec<&Node> = if file.name() == GALAXY_FILE {
        let dependencies = top.get("dependencies").and_then(Node::as_mapping);
        let dependencies = dependencies
            .into_iter()
            .flat_map(|mapping| &mapping.entries);
        let of_package = dependencies.filter(|entry| is_meant(&entry.key.text));
        of_package.map(|entry| &entry.value).collect()
    } else {
        let collections = top.get("collections").and_then(Node::as_sequence);
        let entries = collections
            .into_iter()
            .flatten()
            .filter_map(Node::as_mapping);
        let of_package = entries.filter(|entry| {
            let name = entry.get("name").and_then(Node::as_scalar);
            name.is_some_and(|name| is_meant(&name.text))
        });
        of_package
            .filter_map(|entry| entry.get("version"))
            .collect()
    };
    ranges.into_iter().filter(|node| !node.is_null()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ansible::range;

    fn edited(path: &str, text: &str, package: &str, range: &str) -> Result<String, String> {
        let file = FormatFile {
            path,
            bytes: text.as_bytes(),
        };
        let package = package_name(package).expect(package);
        let ranges = [(package, range::parse(range).expect(range))];
        let edited = with_ranges(&file, &ranges, &Limits::default());
        edited.map_err(|error| error.message)
    }

    #[test]
    fn only_the_range_changes_in_a_requirements_file() {
        let text = "---\n# what we deploy\nroles: []\ncollections:\n  - acme.net\n  - name: acme.db # pinned\n    version: '<2'   # until the migration\n  - {name: acme.web, version: 1.0.0}\n";
        let after = edited("deploy/requirements.yml", text, "acme.db", ">=2.1.0,<3.0.0");
        let expected = text.replace("'<2'", "'>=2.1.0,<3.0.0'");
        assert_eq!(after.as_ref(), Ok(&expected));
        let after = edited("requirements.yml", text, "acme.web", ">=2.0.0,<3.0.0");
        let expected = text.replace("version: 1.0.0", "version: \">=2.0.0,<3.0.0\"");
        assert_eq!(after.as_ref(), Ok(&expected));
    }

    #[test]
    fn only_the_range_changes_in_the_metadata_of_a_collection() {
        let text = "namespace: acme\nname: web\nversion: 1.0.0\ndependencies:\n  acme.db: \"<2\" # ours\n  acme.net: '*'\n";
        let after = edited("galaxy.yml", text, "acme.db", ">=2.1.0,<3.0.0");
        assert_eq!(after.as_ref(), Ok(&text.replace("<2", ">=2.1.0,<3.0.0")));
    }

    #[test]
    fn what_only_a_person_should_edit_is_an_error() {
        let twice =
            "collections:\n- {name: acme.db, version: '<2'}\n- {name: acme.db, version: '>=1'}\n";
        let after = edited("requirements.yml", twice, "acme.db", "2.0.0");
        let expected = "collections:\n- {name: acme.db, version: '2.0.0'}\n- {name: acme.db, version: '2.0.0'}\n";
        assert_eq!(after.as_deref(), Ok(expected));
        for (text, package, reason) in [
            (
                twice,
                "acme.net",
                "`acme.net` has no range that could be changed",
            ),
            (
                "collections: [acme.db]\n",
                "acme.db",
                "`acme.db` has no range that could be changed",
            ),
            (
                "collections:\n- name: acme.db\n  version: |-\n    <2\n",
                "acme.db",
                "the ranges are written in a way that cannot be edited",
            ),
            (
                "",
                "acme.db",
                "`acme.db` has no range that could be changed",
            ),
        ] {
            let after = edited("requirements.yml", text, package, "2.0.0");
            assert_eq!(after, Err(reason.to_owned()), "{text}");
        }
    }
}
