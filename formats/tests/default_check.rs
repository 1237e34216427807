//! What a format gets without writing it: the check of a root from its record.

use pkgres_formats::{
    DigestedRecord, FileTree, Format, FormatFile, Prereleases, ReleaseLookup, Root, Rules, ansible,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Parsed, SourceText, Span};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Ecosystem, IndexRecord, IndexedClass, PackageName, ReadOptions,
    Requirement, Shared, Version,
};

/// An ecosystem whose roots say one class per line, `NAME extends OTHER` or `NAME uses OTHER`, and require
/// `acme.tools` in the range that their first line has.
#[derive(Debug)]
struct Recipes;

impl Format for Recipes {
    fn ecosystem(&self) -> &'static dyn Ecosystem {
        ansible::ECOSYSTEM
    }

    fn rules(&self) -> Rules {
        Rules::OF_MODULES.with_prereleases(Prereleases::IfNamed)
    }

    fn is_root(&self, file: &FormatFile<'_>) -> bool {
        file.name() == "recipes"
    }

    fn read_root(&self, file: &FormatFile<'_>, _: &dyn FileTree, _: &ReadOptions) -> Parsed<Root> {
        let text = std::str::from_utf8(file.bytes).expect("it is text");
        let source = SourceText::new(file.path, text);
        let range = text.lines().next().unwrap_or_default();
        let place = Location::new(
            &source,
            Span {
                start: 0,
                end: range.len(),
            },
        );
        let Ok(spec) = ansible::ECOSYSTEM.spec(range) else {
            return Parsed::failed(Diagnostic::error(Code::Spec, "not a range").at(place));
        };
        let mut record = record("acme.dinner", "1.0.0", &[]);
        record.requirements = Shared::from(vec![Requirement {
            package: name("acme.tools"),
            spec,
            location: Some(place),
        }]);
        let classes = text.lines().skip(1).map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let mut read = IndexedClass::new(class(words[0]));
            match words[1] {
                "extends" => read.extends.push(class(words[2])),
                _ => read.uses.push(class(words[2])),
            }
            read
        });
        record.classes = Some(classes.collect::<Vec<_>>().into());
        let root = Root {
            record,
            extent: None,
            entries: Vec::new(),
        };
        Parsed::new(Some(root), Vec::new())
    }

    fn is_release_name(&self, name: &str) -> bool {
        name == "cooked"
    }

    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Vec<DigestedRecord>> {
        let FormatFile { path, bytes } = *file;
        let Some(bytes) = bytes.strip_prefix(b"cooked: ") else {
            return Parsed::failed(Diagnostic::error(Code::BrokenPackage, "not cooked"));
        };
        let (root, findings) = self
            .read_root(&FormatFile { path, bytes }, tree, options)
            .into_result()
            .expect("what is cooked can be read");
        let release = DigestedRecord {
            record: root.record,
            digest: ArtifactDigest::of_archive(file.bytes),
        };
        Parsed::new(Some(vec![release]), findings)
    }
}

fn name(text: &str) -> PackageName {
    PackageName::native(text).expect("it is a name")
}

fn class(text: &str) -> ClassName {
    ClassName::native(text).expect("it is a name")
}

fn record(package: &str, version: &str, classes: &[&str]) -> IndexRecord {
    let version = Version::parse(version).expect("it is a version");
    let mut record = IndexRecord::new(name(package), version);
    record.ecosystem = ansible::ECOSYSTEM;
    let classes = classes.iter().map(|name| IndexedClass::new(class(name)));
    record.classes = Some(classes.collect::<Vec<_>>().into());
    record
}

/// The releases of the one package that can be required.
struct Known(Vec<IndexRecord>);

impl ReleaseLookup for Known {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        let is_known = self.0.iter().any(|record| record.name == *package);
        is_known.then(|| self.0.clone())
    }
}

fn findings(text: &str, known: &Known) -> Vec<String> {
    findings_in("recipes", text, known)
}

fn findings_in(path: &str, text: &str, known: &Known) -> Vec<String> {
    let file = FormatFile {
        path,
        bytes: text.as_bytes(),
    };
    let found = Recipes.check_root(&file, &(), known, &ReadOptions::default());
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn requirements_are_checked_to_guarantee_what_classes_need() {
    let known = Known(vec![
        record("acme.tools", "1.0.0", &["tools.Knife", "tools.Whisk"]),
        record("acme.tools", "1.1.0", &["tools.Knife", "tools.open.*"]),
        record("acme.tools", "2.0.0-rc.1", &["tools.Pan"]),
    ]);
    assert_eq!(
        findings(
            ">=1.0.0\ndinner.Salad extends tools.Knife\ndinner.Soup uses dinner.Salad",
            &known
        ),
        Vec::<String>::new(),
        "what all stable releases have, and own classes"
    );
    assert_eq!(
        findings(
            ">=1.0.0\ndinner.Cake extends tools.Whisk\ndinner.Eggs extends tools.Pan\n\
             dinner.Fish uses tools.open.any\ndinner.Pie uses tools.Oven",
            &known
        ),
        [
            "recipes:1:1: error[PK0013]: `dinner.Eggs` extends `tools.Pan`, which no version of `acme.tools` in \
             `>=1.0.0` has; hint: 2.0.0-rc.1 is the newest version that has it",
            "recipes:1:1: warning[PK0076]: `dinner.Pie` uses `tools.Oven`, which no version of `acme.tools` in \
             `>=1.0.0` has",
            "recipes:1:1: warning[PK0086]: `dinner.Cake` extends `tools.Whisk`, and the range `>=1.0.0` of \
             `acme.tools` allows versions without it: 1.1.0",
        ]
    );
    assert_eq!(
        findings(">=3.0.0\ndinner.Salad extends tools.Knife", &known),
        [
            "recipes:1:1: warning[PK0075]: no registry has a version of `acme.tools` in `>=3.0.0`, so references \
             to it were not checked"
        ]
    );
    assert_eq!(
        findings("*\ndinner.Salad extends tools.Knife", &Known(Vec::new())),
        [
            "recipes:1:1: warning[PK0075]: no registry has `acme.tools`, so references to it were not checked"
        ]
    );
}

#[test]
fn a_release_that_is_no_root_is_read_as_a_release() {
    let known = Known(vec![record("acme.tools", "1.0.0", &["tools.Knife"])]);
    assert_eq!(
        findings_in(
            "cooked",
            "cooked: >=1.0.0\ndinner.Eggs extends tools.Pan",
            &known
        ),
        [
            "cooked:1:1: error[PK0013]: `dinner.Eggs` extends `tools.Pan`, which no version of `acme.tools` in \
             `>=1.0.0` has"
        ]
    );
    assert_eq!(
        findings_in("cooked", "raw", &known),
        ["error[PK0042]: not cooked"]
    );
}

#[test]
fn a_root_that_cannot_be_read_has_its_errors() {
    assert_eq!(
        findings("~1", &Known(Vec::new())),
        ["recipes:1:1: error[PK0010]: not a range"]
    );
}
