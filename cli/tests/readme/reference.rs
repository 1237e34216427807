//! The reference pages of the formats list what the readers know: every key of a schema, every form of a spec with its
//! meaning, and a lockfile in the form in which it is written.

use std::collections::BTreeSet;

use pkgres_manifest::{Limits, Lockfile, Spec};
use serde_json::Value;

use crate::page::{Page, root};

/// The rows of the tables below a heading, up to the next one: the cells of each row, without headings.
fn rows<'a>(page: &'a Page, heading: &str) -> Vec<Vec<&'a str>> {
    let mut sections = page.text.split("\n## ").skip(1);
    let section = sections
        .find(|section| section.lines().next() == Some(heading))
        .unwrap_or_else(|| panic!("{} has no section `{heading}`", page.name));
    let mut rows = Vec::new();
    for line in section.lines() {
        let Some(cells) = line.strip_prefix("| ") else {
            continue;
        };
        rows.push(
            cells
                .split(" | ")
                .map(|cell| cell.trim_end_matches(" |"))
                .collect(),
        );
    }
    assert!(rows.len() > 1, "{}: `{heading}` has no table", page.name);
    rows.remove(0);
    rows
}

/// The words in backticks in the first cells of the tables below a heading.
fn keys<'a>(page: &'a Page, heading: &str) -> BTreeSet<&'a str> {
    let rows = rows(page, heading).into_iter();
    rows.flat_map(|row| row[0].split('`').skip(1).step_by(2))
        .collect()
}

/// The keys of a part of a schema.
fn described(schema: &str, pointer: &str) -> BTreeSet<String> {
    let path = root().join(format!("docs/schemas/{schema}.json"));
    let text = std::fs::read_to_string(path).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("it is JSON");
    let properties = schema.pointer(pointer).and_then(Value::as_object);
    properties.expect("properties").keys().cloned().collect()
}

fn assert_listed(page: &Page, heading: &str, schema: &str, pointer: &str) {
    let described = described(schema, pointer);
    let described: BTreeSet<&str> = described.iter().map(String::as_str).collect();
    assert_eq!(keys(page, heading), described, "{}: {heading}", page.name);
}

#[test]
fn pages_list_every_key_of_the_formats() {
    let manifest = Page::read("docs/manifest.md");
    assert_listed(&manifest, "Keys", "manifest", "/properties");
    let classes = Page::read("docs/class-files.md");
    let class = "/$defs/class/properties";
    assert_listed(&classes, "Keys of a class", "class", class);
    let property = format!("{class}/Properties/additionalProperties/properties");
    assert_listed(&classes, "Properties", "class", &property);
    let lock = Page::read("docs/lockfile-format.md");
    assert_listed(&lock, "Keys", "lock", "/properties");
    let release = "/properties/packages/items/properties";
    assert_listed(&lock, "Keys of a release", "lock", release);
}

#[test]
fn every_form_of_a_spec_means_what_its_row_says() {
    let page = Page::read("docs/specs.md");
    let rows = rows(&page, "Specs");
    for row in &rows {
        let [written, meaning] = [row[0], row[1]].map(|cell| cell.trim_matches('`'));
        let spec = Spec::parse(written).expect("it is a spec");
        assert_eq!(spec.normal_form(), meaning, "{written}");
    }
    assert!(rows.len() > 20, "{}", rows.len());
}

/// The lockfile on the page is one, in the form in which pkgres writes it.
#[test]
fn the_lockfile_on_the_page_is_as_written() {
    let page = Page::read("docs/lockfile-format.md");
    let mut blocks = page.blocks().into_iter();
    let block = blocks.find(|block| block.text.contains("\nlock: 1\n"));
    let block = block.expect("the page shows a lockfile");
    let read = Lockfile::read("pkgres.lock", block.text.as_bytes(), &Limits::default());
    let (lock, findings) = read.into_result().expect("it can be read");
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(lock.to_text(), block.text);
}
