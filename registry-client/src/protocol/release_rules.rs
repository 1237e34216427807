//! What a registry demands of a release, whatever other releases it has.
//!
//! Publishers check the same before they send an archive.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Escaped, is_hazardous};
use pkgres_manifest::{IndexRecord, PackageManifest};

use super::escape_name;

/// The most tags of a release, and the most categories.
pub const MAX_LABELS: usize = 100;

/// The most characters of a tag or category.
pub const MAX_LABEL_CHARACTERS: usize = 80;

/// The most bytes of a title and of an author.
const MAX_TITLE_BYTES: usize = 1 << 10;

/// The most bytes of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 64 << 10;

/// The longest name of a package or class as a part of a file name, in bytes. File systems allow 255; the rest is for
/// what mirrors add, and for temporary names.
const MAX_NAME_IN_FILE: usize = 200;

/// The most bytes of an index document: of the lines of all releases of a package. Clients read no more, so a registry
/// that accepted more releases would hide all of them.
pub const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// The texts of a release that lists and pages show, with their keys in the file that has them.
#[derive(Debug, Clone, Default)]
pub struct ListedTexts<'release> {
    /// Short texts, such as the title and the authors.
    pub short: Vec<(&'static str, &'release str)>,
    /// The description.
    pub description: (&'static str, &'release str),
    /// The tags.
    pub tags: (&'static str, &'release [String]),
}

impl<'release> ListedTexts<'release> {
    /// The texts of a class package.
    pub fn of_manifest(manifest: &'release PackageManifest) -> Self {
        let author = manifest.author.as_deref().unwrap_or_default();
        let description = manifest.description.as_deref().unwrap_or_default();
        Self {
            short: vec![("Name", &manifest.display_name), ("Author", author)],
            description: ("Description", description),
            tags: ("Tags", &manifest.tags),
        }
    }
}

/// The rule that a release breaks, as a sentence; `None` if a registry can have it. `record` has its digest and size.
/// `max_line_bytes` is the limit of a line of the index.
pub fn broken_rule(
    record: &IndexRecord,
    texts: &ListedTexts<'_>,
    max_line_bytes: u64,
) -> Option<String> {
    long_line(record, max_line_bytes)
        .or_else(|| long_name(record))
        .or_else(|| wrong_text(texts))
}

/// Whether the name of a package or class can be the name of a file.
pub fn is_file_name(name: &str) -> bool {
    escape_name(name).len() <= MAX_NAME_IN_FILE
}

/// The texts have to be short enough for lists, which show them for many releases, and may not change how the text
/// around them is shown.
fn wrong_text(texts: &ListedTexts<'_>) -> Option<String> {
    let (key, tags) = texts.tags;
    let is_short = |tag: &String| tag.chars().count() <= MAX_LABEL_CHARACTERS;
    if tags.len() > MAX_LABELS || !tags.iter().all(is_short) {
        return Some(format!(
            "`{key}` has at most {MAX_LABELS} items of at most {MAX_LABEL_CHARACTERS} characters"
        ));
    }
    let tags = tags.iter().map(|tag| (key, tag.as_str()));
    let short = texts.short.iter().copied().chain(tags);
    let short = short.map(|(key, text)| (key, text, MAX_TITLE_BYTES));
    let (key, text) = texts.description;
    let all = short.chain([(key, text, MAX_DESCRIPTION_BYTES)]);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, text, limit) in all {
        if text.len() > limit {
            return Some(format!("`{key}` has more than the limit of {limit} bytes"));
        }
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count > MAX_LABELS {
            return Some(format!(
                "`{key}` has more than the limit of {MAX_LABELS} items"
            ));
        }
        let is_wrong = |next: &char| is_hazardous(*next) && !matches!(next, '\n' | '\r' | '\t');
        if let Some(character) = text.chars().find(is_wrong) {
            return Some(format!(
                "`{key}` has the character {}, which is not shown or changes how the text around it is shown",
                Escaped::from_char(character)
            ));
        }
    }
    None
}

/// Each name has to be one that a file can have: a mirror of static files has one for each package and class.
fn long_name(record: &IndexRecord) -> Option<String> {
    let classes = record.classes.iter().flatten();
    let classes = classes.filter(|class| !class.internal);
    let mut names =
        std::iter::once(record.name.as_str()).chain(classes.map(|class| class.name.as_str()));
    let name = names.find(|name| !is_file_name(name))?;
    Some(format!(
        "the name {name} is too long: with an escape for each capital letter, it may have {MAX_NAME_IN_FILE} bytes"
    ))
}

/// The line of the release in the index may not be longer than clients read, now or once the release is yanked.
fn long_line(record: &IndexRecord, limit: u64) -> Option<String> {
    let mut longest = record.clone();
    longest.yanked = true;
    // Every time that is written in whole seconds is as long.
    longest.published = Some("1970-01-01T00:00:00Z".to_owned());
    let bytes = longest.to_line().len() as u64;
    (bytes > limit).then(|| {
        format!(
            "the index record of {} {}, with its requirements and classes, has {bytes} bytes, and the limit is {limit}",
            record.name, record.version
        )
    })
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{ReadOptions, Version};

    use super::*;

    /// The rule that a package with lines in its manifest breaks.
    fn broken(name: &str, lines: &str) -> Option<String> {
        let text = format!("Type: Library\nFullName: {name}\nVersion: 1.0.0\n{lines}");
        let source = pkgres_manifest::diagnostic::SourceText::new("manifest.yaml".to_owned(), text);
        let (manifest, _) = PackageManifest::parse(&source, &ReadOptions::default())
            .into_result()
            .expect("a manifest");
        let record = IndexRecord::new(manifest.name.value.clone(), Version::new(1, 0, 0));
        broken_rule(&record, &ListedTexts::of_manifest(&manifest), 300)
    }

    #[test]
    fn texts_of_any_release_have_limits() {
        let record = IndexRecord::parse_line(
            r#"{"name":"a.b","version":"1.0.0"}"#,
            &pkgres_manifest::Limits::default(),
        )
        .expect("a record");
        let long = "x".repeat(1025);
        let tags = vec!["x".to_owned(); 101];
        let none = ListedTexts::default;
        for (texts, expected) in [
            (none(), None),
            (
                ListedTexts {
                    description: ("description", "Two\n\tlines"),
                    ..none()
                },
                None,
            ),
            (
                ListedTexts {
                    description: ("description", "re\u{202e}versed"),
                    ..none()
                },
                Some("`description` has the character "),
            ),
            (
                ListedTexts {
                    short: vec![("authors", "\u{1b}[2J")],
                    ..none()
                },
                Some("`authors` has the character "),
            ),
            (
                ListedTexts {
                    short: vec![("homepage", &long)],
                    ..none()
                },
                Some("`homepage` has more than the limit of 1024 bytes"),
            ),
            (
                ListedTexts {
                    short: vec![("authors", "x"); 101],
                    ..none()
                },
                Some("`authors` has more than the limit of 100 items"),
            ),
            (
                ListedTexts {
                    tags: ("tags", &tags),
                    ..none()
                },
                Some("`tags` has at most 100 items"),
            ),
        ] {
            let found = broken_rule(&record, &texts, 1 << 20);
            match expected {
                Some(expected) => {
                    let found = found.expect(expected);
                    assert!(found.starts_with(expected), "{found}");
                }
                None => assert_eq!(found, None),
            }
        }
    }

    #[test]
    fn texts_and_names_have_limits() {
        let long = |count: usize| "x".repeat(count);
        for (name, lines, expected) in [
            ("a.B", String::new(), None),
            ("a.B", format!("Author: {}", long(1 << 10)), None),
            (
                "a.B",
                format!("Author: {}", long(1025)),
                Some("`Author` has more than the limit of 1024 bytes"),
            ),
            ("a.B", format!("Tags: [{}]", long(80)), None),
            (
                "a.B",
                format!("Tags: [{}]", long(81)),
                Some("`Tags` has at most 100 items of at most 80 characters"),
            ),
            (&format!("a.{}", long(198)), String::new(), None),
            (
                &format!("a.{}", long(199)),
                String::new(),
                Some("the name a."),
            ),
            (
                &format!("a.{}", long(240)),
                String::new(),
                Some("the index record of a."),
            ),
        ] {
            let found = broken(name, &lines);
            let is_as_expected = match expected {
                Some(expected) => found
                    .as_ref()
                    .is_some_and(|found| found.starts_with(expected)),
                None => found.is_none(),
            };
            assert!(is_as_expected, "{name} {lines}: {found:?}");
        }
    }
}
