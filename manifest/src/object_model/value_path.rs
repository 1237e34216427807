//! The paths of values in objects.

use crate::diagnostic::Escaped;

/// The path of a value. It is written out only for a finding, because there can be millions of values.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValuePath<'path> {
    /// A path that is written out.
    Start(&'path str),
    /// A property or key in what the path leads to.
    Property(&'path ValuePath<'path>, &'path str),
    /// An item of the list that the path leads to.
    Item(&'path ValuePath<'path>, usize),
}

impl ValuePath<'_> {
    /// Recursion is bounded by the depth limit on documents.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Start(path) => (*path).to_owned(),
            Self::Property(around, name) => property_path(&around.written(), name),
            Self::Item(list, at) => format!("{}[{at}]", list.written()),
        }
    }
}

/// The path of a property in what `path` leads to, which is empty for the object itself.
fn property_path(path: &str, name: &str) -> String {
    let name = Escaped::shortened(name);
    match path {
        "" => name.to_string(),
        path => format!("{path}.{name}"),
    }
}
