//! Edits of the texts of class files, each of a known kind.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    Argument, ArgumentUsage, ClassDefinition, ClassName, Contract, MANIFEST_FILE, Method, Package,
    Property, Rule,
};

use crate::corpus::{Corpus, Texts};

/// An edit, and the rules that should speak of it.
pub(crate) struct Edit {
    pub(crate) kind: &'static str,
    pub(crate) what: String,
    pub(crate) texts: Texts,
    pub(crate) expected: BTreeSet<&'static str>,
    /// Whether other rules may speak as well, because members are inherited from elsewhere now.
    pub(crate) is_open: bool,
}

/// The lines of a file, of which some are replaced.
struct Lines<'text> {
    file: String,
    lines: Vec<&'text str>,
}

/// Lines of a mapping entry: from the line of its key to the next line that is not indented more.
struct Block {
    start: usize,
    end: usize,
    indent: usize,
}

impl<'text> Lines<'text> {
    fn of(texts: &'text Texts, location: &Location) -> Option<Self> {
        let file = location.source().name();
        let lines = texts.0.get(file)?.lines().collect();
        Some(Self {
            file: file.to_owned(),
            lines,
        })
    }

    /// The entry whose key is at a place, if it is the first thing in its line except for `- `.
    fn block(&self, location: &Location) -> Option<Block> {
        let start = location.position().line - 1;
        let column = location.position().column - 1;
        let line = self.lines.get(start)?;
        let before = line.get(..column)?;
        if !matches!(before.trim(), "" | "-") {
            return None;
        }
        let indent = before.len() - before.trim_start().len();
        let is_item = before.trim() == "-";
        let mut end = start + 1;
        while let Some(line) = self.lines.get(end) {
            let text = line.trim_start();
            let here = line.len() - text.len();
            let is_inside = text.is_empty() || here > indent && !text.starts_with('#');
            // The items of a list can be as far to the right as their key.
            let is_own_item = !is_item && here == indent && text.starts_with("- ");
            if !is_inside && !is_own_item || text == "---" {
                break;
            }
            end += 1;
        }
        Some(Block {
            start,
            end,
            indent: if is_item { indent } else { column },
        })
    }

    fn with(&self, start: usize, end: usize, new: &[String], texts: &Texts) -> Texts {
        let mut lines: Vec<&str> = self.lines[..start].to_vec();
        lines.extend(new.iter().map(String::as_str));
        lines.extend(&self.lines[end..]);
        let mut texts = texts.clone();
        texts.0.insert(self.file.clone(), lines.join("\n") + "\n");
        texts
    }

    fn is_item(&self, block: &Block) -> bool {
        self.lines[block.start].trim_start().starts_with("- ")
    }
}

/// All edits of a package.
pub(crate) fn edits(corpus: &Corpus, texts: &Texts) -> Vec<Edit> {
    let package = texts.package().expect("it was read before");
    let mut all = Edits {
        corpus,
        texts,
        package: &package,
        found: Vec::new(),
    };
    for class in package.classes.iter().flat_map(|classes| classes.values()) {
        if !package.exports(&class.name.value) {
            continue;
        }
        let first = all.found.len();
        all.class(class);
        for method in &class.methods {
            all.method(class, method);
        }
        for property in &class.properties {
            all.property(class, property);
        }
        if !corpus.knows_ancestors(&package, class) {
            // What the class inherits is unknown, and so is what most edits mean.
            for edit in &mut all.found[first..] {
                edit.expected.retain(|rule| rule.starts_with("class-"));
                edit.is_open = true;
            }
        }
    }
    all.found
}

struct Edits<'corpus> {
    corpus: &'corpus Corpus,
    texts: &'corpus Texts,
    package: &'corpus Package,
    found: Vec<Edit>,
}

fn is_private(name: &str) -> bool {
    name.starts_with('_')
}

fn same_method(one: &str, other: &str) -> bool {
    let spelling = |name: &str| match name {
        ".init" => "initialize".to_owned(),
        ".destroy" => "destroy".to_owned(),
        _ => name.to_owned(),
    };
    spelling(one) == spelling(other)
}

/// Whether an object needs a value for a property without `Default`.
fn rejects_nothing(property: &Property) -> bool {
    let is_input = ["In", "InOut", "Const"].contains(&property.usage.value.as_str());
    is_input
        && match &property.contract.value {
            Contract::Rules(rules) => rules.contains(&Rule::NotNull),
            Contract::List { minimum, .. } => *minimum > 0,
            Contract::Map(_) => false,
        }
}

/// Whether the default of a property is the value of an object that has none.
fn has_value_without_default(property: &Property) -> bool {
    let default = property.default.as_deref().unwrap_or_default();
    match &property.contract.value {
        Contract::Rules(_) => default == "null",
        Contract::List { .. } => ["null", "[]"].contains(&default),
        Contract::Map(_) => ["null", "{}"].contains(&default),
    }
}

impl Edits<'_> {
    fn add(&mut self, kind: &'static str, what: &str, texts: Texts, expected: &[&'static str]) {
        self.found.push(Edit {
            kind,
            what: what.to_owned(),
            texts,
            expected: expected.iter().copied().collect(),
            is_open: false,
        });
    }

    fn class(&mut self, class: &ClassDefinition) {
        let texts = self.texts;
        let name = class.name.value.as_str();
        if let Some(file) = Lines::of(texts, &class.name.location) {
            let commented = file.with(0, 0, &["# An edit.".to_owned()], texts);
            self.add("comment", name, commented, &[]);
        }
        self.listed(&class.name.value);
        if let Some(parent) = class.extends.first()
            && let Some(file) = Lines::of(texts, &parent.location)
        {
            let at = parent.location.position();
            let line = file.lines[at.line - 1];
            let span = parent.location.span();
            let (start, end) = (at.column - 1, at.column - 1 + span.end - span.start);
            if let (Some(before), Some(after)) = (line.get(..start), line.get(end..)) {
                let new = vec![format!("{before}io.murano.Object{after}")];
                let is_root = parent.value.as_str() == "io.murano.Object";
                if !is_root && class.extends.len() == 1 {
                    let edited = file.with(at.line - 1, at.line, &new, texts);
                    self.add("other parent", name, edited, &["extends-changed"]);
                    self.found.last_mut().expect("it was added").is_open = true;
                }
            }
        }
        if let Some(method) = class.methods.first() {
            self.insert(
                class,
                &method.name.location,
                "method",
                &["edited: {}"],
                &["method-added"],
            );
            let is_initializer = |class: &ClassDefinition| {
                let mut methods = class.methods.iter();
                methods.any(|it| same_method(&it.name.value, ".init"))
            };
            if !is_initializer(class)
                && !self
                    .corpus
                    .declared_above(self.package, class, &is_initializer)
            {
                let entry = [".init:", "  Arguments:", "  - addedByAnEdit: {Contract: $}"];
                let place = &method.name.location;
                let rules = ["method-added", "required-argument-added"];
                self.insert(class, place, "initializer", &entry, &rules);
            }
        }
        if let Some(property) = class.properties.first() {
            let place = &property.name.location;
            let required = ["edited:", "  Contract: $.string().notNull()"];
            let rules = ["required-property-added"];
            self.insert(class, place, "required property", &required, &rules);
            let optional = ["edited:", "  Contract: $.string()"];
            self.insert(
                class,
                place,
                "optional property",
                &optional,
                &["property-added"],
            );
        }
    }

    /// Edits of the list of classes in the manifest.
    fn listed(&mut self, name: &ClassName) {
        let texts = self.texts;
        let entry = self
            .package
            .manifest
            .classes
            .iter()
            .find(|entry| entry.name.value == *name);
        let entry = entry.expect("it is exported");
        let place = &entry.name.location;
        let Some(file) = Lines::of(texts, place) else {
            return;
        };
        let Some(block) = file.block(place) else {
            return;
        };
        debug_assert_eq!(file.file, MANIFEST_FILE);
        let unlisted = file.with(block.start, block.end, &[], texts);
        self.add(
            "unlisted class",
            name.as_str(),
            unlisted,
            &["class-removed"],
        );
        // Its file is not read any more, so that it is not known what classes that extend it inherit.
        self.found.last_mut().expect("it was added").is_open = true;
        let new = format!("{}edited.New: Edited.yaml", " ".repeat(block.indent));
        let mut listed = file.with(block.start, block.start, &[new], texts);
        let class = "Name: edited.New\n".to_owned();
        listed.0.insert("Classes/Edited.yaml".to_owned(), class);
        self.add("new class", name.as_str(), listed, &["class-added"]);
    }

    /// Inserts an entry before another one.
    fn insert(
        &mut self,
        class: &ClassDefinition,
        before: &Location,
        kind: &'static str,
        entry: &[&str],
        expected: &[&'static str],
    ) {
        let texts = self.texts;
        if let Some(file) = Lines::of(texts, before)
            && let Some(block) = file.block(before)
        {
            let indent = " ".repeat(block.indent);
            let new: Vec<String> = entry.iter().map(|line| format!("{indent}{line}")).collect();
            let edited = file.with(block.start, block.start, &new, texts);
            self.add(kind, class.name.value.as_str(), edited, expected);
        }
    }

    fn remove(
        &mut self,
        kind: &'static str,
        what: &str,
        place: &Location,
        expected: &[&'static str],
    ) {
        if let Some(file) = Lines::of(self.texts, place)
            && let Some(block) = file.block(place)
        {
            let edited = file.with(block.start, block.end, &[], self.texts);
            self.add(kind, what, edited, expected);
        }
    }

    fn method(&mut self, class: &ClassDefinition, method: &Method) {
        let name = method.name.value.as_str();
        let what = format!("{}.{name}", class.name.value);
        let declares = |class: &ClassDefinition| {
            let mut methods = class.methods.iter();
            methods.any(|other| same_method(&other.name.value, name))
        };
        let is_inherited = self.corpus.declared_above(self.package, class, &declares);
        let expected: &[&str] = match (is_private(name), is_inherited) {
            (false, false) => &["method-removed"],
            _ => &[],
        };
        self.remove("removed method", &what, &method.name.location, expected);
        if let Some(last) = self.found.last_mut().filter(|last| last.what == what) {
            last.is_open = is_inherited && !is_private(name);
        }
        if is_private(name) {
            return;
        }
        let first = self.found.len();
        for argument in &method.arguments {
            self.argument(&what, argument);
        }
        if let Some(last) = method.arguments.last() {
            self.append_argument(&what, last);
        }
        if let [first, second, ..] = method.arguments.as_slice() {
            self.swap(&what, first, second);
        }
        let takes_any = |argument: &Argument| argument.usage != ArgumentUsage::Standard;
        if method.arguments.iter().any(takes_any) {
            // No call need become wrong.
            let edits = self.found[first..].iter_mut();
            for edit in edits.filter(|edit| !edit.kind.ends_with("contract")) {
                edit.expected.clear();
                edit.is_open = true;
            }
        }
    }

    fn argument(&mut self, what: &str, argument: &Argument) {
        let texts = self.texts;
        let place = &argument.name.location;
        let what = format!("{what}({})", argument.name.value);
        self.remove("removed argument", &what, place, &["argument-removed"]);
        let Some(file) = Lines::of(texts, place) else {
            return;
        };
        let Some(block) = file.block(place) else {
            return;
        };
        let line = file.lines[block.start];
        let renamed = line.replacen(&argument.name.value, "renamedByAnEdit", 1);
        let renamed = file.with(block.start, block.start + 1, &[renamed], texts);
        self.add("renamed argument", &what, renamed, &["argument-renamed"]);
        let own = (block.start + 1..block.end)
            .find(|at| file.lines[*at].trim_start().starts_with("Default:"));
        if let Some(at) = own.filter(|_| argument.has_default) {
            let is_next_inside = file.lines.get(at + 1).is_some_and(|next| {
                let indent = |line: &str| line.len() - line.trim_start().len();
                at + 1 < block.end
                    && !next.trim().is_empty()
                    && indent(next) > indent(file.lines[at])
            });
            if !is_next_inside {
                let edited = file.with(at, at + 1, &[], texts);
                self.add(
                    "argument without default",
                    &what,
                    edited,
                    &["argument-became-required"],
                );
            }
        } else if !argument.has_default && !line.trim_end().ends_with('}') {
            let deeper = block.indent + if file.is_item(&block) { 4 } else { 2 };
            let next = file.lines.get(block.start + 1);
            let deeper = next.map_or(deeper, |next| next.len() - next.trim_start().len());
            let new = format!("{}Default: 1", " ".repeat(deeper));
            let edited = file.with(block.start + 1, block.start + 1, &[new], texts);
            self.add("argument with default", &what, edited, &["default-added"]);
        }
        self.contract(&what, &argument.contract.value, &argument.contract.location);
    }

    /// Adds arguments at the end.
    fn append_argument(&mut self, what: &str, last: &Argument) {
        let texts = self.texts;
        let place = &last.name.location;
        let Some(file) = Lines::of(texts, place) else {
            return;
        };
        let Some(block) = file.block(place) else {
            return;
        };
        let indent = " ".repeat(block.indent);
        let dash = if file.is_item(&block) { "- " } else { "" };
        for (kind, declaration, rule) in [
            (
                "required argument",
                "{Contract: $.string()}",
                "required-argument-added",
            ),
            (
                "optional argument",
                "{Contract: $.string(), Default: x}",
                "optional-argument-added",
            ),
        ] {
            let new = format!("{indent}{dash}addedByAnEdit: {declaration}");
            let edited = file.with(block.end, block.end, &[new], texts);
            self.add(kind, what, edited, &[rule]);
        }
    }

    fn swap(&mut self, what: &str, first: &Argument, second: &Argument) {
        let texts = self.texts;
        let Some(file) = Lines::of(texts, &first.name.location) else {
            return;
        };
        let blocks = (
            file.block(&first.name.location),
            file.block(&second.name.location),
        );
        let (Some(one), Some(two)) = blocks else {
            return;
        };
        let lines = |block: &Block| file.lines[block.start..block.end].iter();
        let new: Vec<String> = lines(&two)
            .chain(lines(&one))
            .map(|&line| line.to_owned())
            .collect();
        let edited = file.with(one.start, two.end, &new, texts);
        self.add("swapped arguments", what, edited, &["argument-moved"]);
    }

    fn property(&mut self, class: &ClassDefinition, property: &Property) {
        let texts = self.texts;
        let name = property.name.value.as_str();
        let what = format!("{}.{name}", class.name.value);
        let declares = |class: &ClassDefinition| {
            let mut properties = class.properties.iter();
            properties.any(|other| other.name.value == name)
        };
        let is_inherited = self.corpus.declared_above(self.package, class, &declares);
        let expected: &[&str] = match (is_private(name), is_inherited) {
            (false, false) => &["property-removed"],
            _ => &[],
        };
        let place = &property.name.location;
        self.remove("removed property", &what, place, expected);
        if let Some(last) = self.found.last_mut().filter(|last| last.what == what) {
            last.is_open = is_inherited && !is_private(name);
        }
        if is_private(name) {
            return;
        }
        if let Some(file) = Lines::of(texts, place)
            && let Some(block) = file.block(place)
            && property.has_default
        {
            let indent = |line: &str| line.len() - line.trim_start().len();
            let start = (block.start + 1..block.end)
                .find(|at| file.lines[*at].trim_start().starts_with("Default:"));
            if let Some(start) = start {
                let depth = indent(file.lines[start]);
                let is_inside = |at: &usize| {
                    let line = file.lines[*at];
                    line.trim().is_empty()
                        || indent(line) > depth
                        || indent(line) == depth && line.trim_start().starts_with("- ")
                };
                let end = (start + 1..block.end).find(|at| !is_inside(at));
                let edited = file.with(start, end.unwrap_or(block.end), &[], texts);
                let expected: &[&str] = if rejects_nothing(property) {
                    &["property-became-required"]
                } else if has_value_without_default(property) {
                    &[]
                } else {
                    &["property-default-changed"]
                };
                self.add("property without default", &what, edited, expected);
            }
        }
        self.contract(&what, &property.contract.value, &property.contract.location);
    }

    /// Replaces a contract that is written in one line.
    fn contract(&mut self, what: &str, contract: &Contract, location: &Location) {
        let texts = self.texts;
        let Some(file) = Lines::of(texts, location) else {
            return;
        };
        let at = location.position();
        let span = location.span();
        let line = file.lines[at.line - 1];
        let (start, end) = (at.column - 1, at.column - 1 + span.end - span.start);
        let (Some(before), Some(after)) = (line.get(..start), line.get(end..)) else {
            return;
        };
        // Of a contract that is not written, the place is that of its owner.
        let is_scalar =
            matches!(contract, Contract::Rules(_)) && before.trim_end().ends_with("Contract:");
        if is_scalar {
            let new = vec![format!("{before}$.edited(){after}")];
            let edited = file.with(at.line - 1, at.line, &new, texts);
            self.add("other contract", what, edited, &["contract-changed"]);
        }
    }
}
