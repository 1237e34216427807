//! Reads what a Python module defines and imports, from its syntax tree, without running it.
//!
//! The parser, `tree-sitter`, tolerates errors and does not recurse. The tree is walked with a cursor. For each
//! import, the walk knows the branches of `try` and `if` around it. An import that another branch can replace is only
//! an alternative: a release without its target still works.

mod import_context;
mod texts;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use import_context::Surroundings;
use texts::literal;
pub(crate) use texts::{LiteralText, assigned};

/// The size of the largest module that is parsed, in bytes.
pub(crate) const MAX_MODULE_BYTES: usize = 8 << 20;

/// The most calls of the progress callback for each byte of a module, and for a module of any size. The parser calls
/// it once in about a hundred operations, so that ordinary text needs far less than one call for each byte.
const CALLS_PER_BYTE: usize = 4;
const CALLS_FOR_ANY: usize = 100_000;

/// The functions that import the module that they are called with, as they are usually named.
const IMPORTERS: [&str; 3] = ["import_module", "importlib.import_module", "__import__"];

/// The certainty with which an import is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportKind {
    /// At the level of the module, unconditionally.
    Hard,
    /// Below a `try` whose `except` catches a failed import, or below `if`.
    Guarded,
    /// Guarded, and another branch binds the same names.
    Alternative,
    /// In a function.
    Lazy,
    /// A call of `import_module`.
    Dynamic,
}

/// An import of a module of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module that contains the import, such as `plugins.modules.x`.
    pub module: String,
    /// The file in the collection that contains the import.
    pub path: String,
    /// The imported module with its collection, such as `ansible.netcommon.plugins.module_utils.network`.
    pub target: String,
    /// The names that are imported from it; empty for the module itself and for `*`.
    pub names: Vec<String>,
    /// The certainty with which the import is executed.
    pub kind: ImportKind,
    /// The first byte of the import in the text.
    pub at: usize,
}

/// A module as its text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PythonModule {
    /// The names at the top level.
    pub(crate) names: BTreeSet<String>,
    /// The modules of collections from which all names are imported.
    pub(crate) stars: Vec<String>,
    /// Whether more names may be defined than the text shows.
    pub(crate) is_open: bool,
    /// The imports of modules of collections, the own one among them.
    pub(crate) imports: Vec<Import>,
    /// The modules that are named by `module_name=`, such as `ansible.netcommon.net_get`.
    pub(crate) module_names: Vec<String>,
}

impl PythonModule {
    /// A module about which nothing is known.
    fn unknown() -> Self {
        Self {
            is_open: true,
            ..Self::default()
        }
    }
}

/// The syntax tree of a module; `None` if it is too large, or takes too long.
fn parse(text: &[u8]) -> Option<Tree> {
    if text.len() > MAX_MODULE_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    let language = tree_sitter_python::LANGUAGE.into();
    parser.set_language(&language).ok()?;
    let mut calls = CALLS_FOR_ANY + text.len().saturating_mul(CALLS_PER_BYTE);
    let mut progress = |_: &tree_sitter::ParseState| {
        calls = calls.saturating_sub(1);
        if calls == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut input = |at: usize, _| text.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(options))
}

/// Reads a module. `path` is its dotted path with the collection, and `is_package` says whether the file is an
/// `__init__.py`.
pub(crate) fn read(path: &str, is_package: bool, text: &[u8]) -> PythonModule {
    let Some(tree) = parse(text) else {
        return PythonModule::unknown();
    };
    let parts: Vec<&str> = path.split('.').collect();
    let mut reader = ModuleReader {
        text,
        parts: &parts,
        is_package,
        module: PythonModule::default(),
        around: Surroundings::default(),
        bound: HashMap::new(),
        pending: Vec::new(),
        modules: BTreeSet::new(),
        importers: IMPORTERS.map(str::to_owned).into(),
    };
    reader.walk(tree.root_node());
    // Names behind an error may be missing.
    reader.module.is_open |= tree.root_node().has_error();
    reader.finish()
}

/// A guarded import.
struct GuardedImport {
    /// Its position among all imports.
    import: usize,
    /// The statements around it, each with the branch that it is in.
    branches: Vec<(usize, usize)>,
    /// The names that it binds.
    names: Vec<String>,
}

struct ModuleReader<'text> {
    text: &'text [u8],
    parts: &'text [&'text str],
    is_package: bool,
    module: PythonModule,
    /// What is around the current node.
    around: Surroundings,
    /// The branches of each statement that bind a name.
    bound: HashMap<(usize, String), BTreeSet<usize>>,
    /// The guarded imports, which may be alternatives.
    pending: Vec<GuardedImport>,
    /// The names of variables whose value is a module.
    modules: BTreeSet<String>,
    /// The functions that import the module that they are called with.
    importers: BTreeSet<String>,
}

impl<'text> ModuleReader<'text> {
    /// Visits all nodes in the order of the text.
    fn walk(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        let mut depth = 0_usize;
        loop {
            let node = cursor.node();
            self.around.leave(depth);
            match node.kind() {
                "try_statement" | "if_statement" => {
                    self.around.enter_statement(node, depth, self.text);
                }
                "block" => self.around.enter_block(node, depth, self.text),
                "function_definition" | "lambda" => {
                    if node.kind() == "function_definition" {
                        self.bind_field(node, "name");
                    }
                    self.around.enter_function(depth);
                }
                "class_definition" => {
                    self.bind_field(node, "name");
                    self.around.enter_class(depth);
                }
                _ => self.visit(node),
            }
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }

    fn visit(&mut self, node: Node<'_>) {
        match node.kind() {
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "future_import_statement" => {
                self.bind_imported(node);
            }
            // `name: type` alone binds nothing.
            "assignment" if node.child_by_field_name("right").is_none() => {}
            "assignment" | "augmented_assignment" | "for_statement" | "type_alias_statement" => {
                self.bind_targets(node, "left");
                let value = node.child_by_field_name("right");
                if value.is_some_and(|value| self.is_module(value)) {
                    let name = node.child_by_field_name("left");
                    self.modules
                        .extend(name.map(|name| self.text_of(name).to_owned()));
                }
            }
            "named_expression" => self.bind_field(node, "name"),
            "as_pattern" => self.bind_alias(node),
            "case_pattern" | "keyword_pattern" => self.bind_captured(node, "dotted_name"),
            "splat_pattern" => self.bind_captured(node, "identifier"),
            "global_statement" => {
                let mut cursor = node.walk();
                for name in node.named_children(&mut cursor) {
                    let name = self.text_of(name);
                    self.module.names.insert(name.to_owned());
                }
            }
            "call" => self.call(node),
            "keyword_argument" => {
                let is_module_name = node
                    .child_by_field_name("name")
                    .is_some_and(|name| self.text_of(name) == "module_name");
                if is_module_name && let Some(text) = self.string_field(node, "value") {
                    self.module.module_names.push(text);
                }
            }
            _ => {}
        }
    }

    fn text_of(&self, node: Node<'_>) -> &'text str {
        let bytes = self.text.get(node.byte_range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// A dotted name without the white space and the continued lines that may be anywhere in it.
    fn dotted_name(&self, node: Node<'_>) -> String {
        let text = self.text_of(node).chars();
        text.filter(|next| !next.is_whitespace() && *next != '\\')
            .collect()
    }

    /// The text of a field that is a plain string.
    fn string_field(&self, node: Node<'_>, field: &str) -> Option<String> {
        self.string(node.child_by_field_name(field)?)
    }

    fn string(&self, node: Node<'_>) -> Option<String> {
        literal(node, self.text).map(|text| text.value)
    }

    fn bind(&mut self, name: &str) {
        if name.is_empty() || !self.around.is_top_level() {
            return;
        }
        self.module.is_open |= name == "__getattr__";
        for (statement, branch) in self.around.branches() {
            let branches = self.bound.entry((statement, name.to_owned())).or_default();
            branches.insert(branch);
        }
        self.module.names.insert(name.to_owned());
    }

    fn bind_field(&mut self, node: Node<'_>, field: &str) {
        if let Some(name) = node.child_by_field_name(field) {
            self.bind(self.text_of(name));
        }
    }

    /// Binds the name after `as`, in `with` and `except`, or in a pattern of `case`.
    fn bind_alias(&mut self, node: Node<'_>) {
        if node.child_by_field_name("alias").is_some() {
            self.bind_targets(node, "alias");
        } else {
            self.bind_captured(node, "identifier");
        }
    }

    /// Binds the names that a pattern of `case` captures, which are children of a kind. A name with dots is a value.
    fn bind_captured(&mut self, pattern: Node<'_>, kind: &str) {
        let mut cursor = pattern.walk();
        for child in pattern.named_children(&mut cursor) {
            let name = self.text_of(child);
            if child.kind() == kind && name != "_" && !name.contains('.') {
                self.bind(name);
            }
        }
    }

    /// Binds the identifiers of a target such as `a`, `a, (b, *c)`, but not those of `a.b` and `a[b]`.
    fn bind_targets(&mut self, node: Node<'_>, field: &str) {
        let Some(target) = node.child_by_field_name(field) else {
            return;
        };
        if target.kind() == "subscript" {
            self.module.is_open |= self.is_namespace(target);
        }
        if !self.around.is_top_level() {
            return;
        }
        let mut targets = vec![target];
        while let Some(target) = targets.pop() {
            match target.kind() {
                "identifier" => self.bind(self.text_of(target)),
                "attribute" => {}
                "subscript" => self.module.is_open |= self.is_namespace(target),
                _ => {
                    let mut cursor = target.walk();
                    targets.extend(target.named_children(&mut cursor));
                }
            }
        }
    }

    /// Binds what an import statement binds, and returns the names that were imported.
    fn bind_imported(&mut self, node: Node<'_>) -> Vec<(String, String)> {
        let mut imported = Vec::new();
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let field = |field| name.child_by_field_name(field);
            let aliased = field("name").zip(field("alias"));
            if let Some((path, alias)) = aliased {
                imported.push((self.dotted_name(path), self.text_of(alias).to_owned()));
            } else {
                let path = self.dotted_name(name);
                // `import a.b` binds `a`.
                let bound = path.split('.').next().unwrap_or(&path).to_owned();
                imported.push((path, bound));
            }
        }
        for (_, bound) in &imported {
            self.bind(bound);
        }
        imported
    }

    fn import(&mut self, node: Node<'_>) {
        for (path, bound) in self.bind_imported(node) {
            if path == "importlib" {
                self.importers.insert(format!("{bound}.import_module"));
            }
            if let Some(target) = path.strip_prefix("ansible_collections.") {
                self.add(node, target.to_owned(), Vec::new(), vec![bound]);
            }
        }
    }

    fn import_from(&mut self, node: Node<'_>) {
        let imported = self.bind_imported(node);
        let Some(from) = node.child_by_field_name("module_name") else {
            return;
        };
        let is_star = {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .any(|child| child.kind() == "wildcard_import")
        };
        let from = self.dotted_name(from);
        if from == "importlib" {
            let importers = imported.iter().filter(|(name, _)| name == "import_module");
            self.importers
                .extend(importers.map(|(_, bound)| bound.clone()));
        }
        let Some(target) = self.absolute(&from) else {
            self.module.is_open |= is_star && self.around.is_top_level();
            return;
        };
        if is_star && self.around.is_top_level() {
            self.module.stars.push(target.clone());
        }
        let (names, bound) = imported.into_iter().unzip();
        self.add(node, target, names, bound);
    }

    /// The module of a collection that `from` of an import names; `None` for any other.
    fn absolute(&self, from: &str) -> Option<String> {
        let level = from.bytes().take_while(|byte| *byte == b'.').count();
        let rest = &from[level..];
        if level == 0 {
            return rest.strip_prefix("ansible_collections.").map(str::to_owned);
        }
        let up = if self.is_package { level - 1 } else { level };
        let base = self.parts.get(..self.parts.len().checked_sub(up)?)?;
        let parts = base.iter().copied().chain(rest.split('.'));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        (parts.len() > 1).then(|| parts.join("."))
    }

    fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let name = self.text_of(function);
        self.module.is_open |= self.may_bind_anything(function, node);
        if !self.importers.contains(name) {
            return;
        }
        let arguments = node.child_by_field_name("arguments");
        let named = arguments.and_then(|arguments| self.module_argument(arguments));
        if let Some(target) = named
            && let Some(target) = target.strip_prefix("ansible_collections.")
        {
            self.module.imports.push(Import {
                module: String::new(),
                path: String::new(),
                target: target.to_owned(),
                names: Vec::new(),
                kind: ImportKind::Dynamic,
                at: node.start_byte(),
            });
        }
    }

    /// The text of the first argument of a call, or of the one that is called `name`.
    fn module_argument(&self, arguments: Node<'_>) -> Option<String> {
        let mut cursor = arguments.walk();
        let mut all = arguments.named_children(&mut cursor);
        let is_keyword = |argument: &Node<'_>| argument.kind() == "keyword_argument";
        let is_name = |argument: Node<'_>| {
            let name = argument.child_by_field_name("name");
            name.is_some_and(|name| self.text_of(name) == "name")
        };
        let argument =
            all.find(|one| one.kind() != "comment" && (!is_keyword(one) || is_name(*one)))?;
        if is_keyword(&argument) {
            self.string_field(argument, "value")
        } else {
            self.string(argument)
        }
    }

    /// Whether an expression is a module: most likely this one.
    fn is_module(&self, node: Node<'_>) -> bool {
        let text: String = self.text_of(node).split_whitespace().collect();
        let begins = ["sys.modules[", "__import__(", "importlib.import_module("];
        begins.iter().any(|begin| text.starts_with(begin)) || self.modules.contains(&text)
    }

    /// Whether an expression is an item of the names of this module, such as `globals()[name]`, or the module itself.
    fn is_namespace(&self, node: Node<'_>) -> bool {
        let text: String = self.text_of(node).split_whitespace().collect();
        // These are of the function or class that they are in.
        let is_local = text.starts_with("locals()") || text.starts_with("vars()");
        text.starts_with("globals()")
            || text.starts_with("sys.modules[__name__]")
            || is_local && self.around.is_top_level()
    }

    /// Whether a call can bind names of this module that are not written in it.
    fn may_bind_anything(&self, function: Node<'_>, call: Node<'_>) -> bool {
        let name: String = self.text_of(function).split_whitespace().collect();
        let arguments = call.child_by_field_name("arguments");
        let binds = ["update", "setdefault", "__setitem__"];
        match name.as_str() {
            "exec" => {
                let text = arguments.map_or("", |arguments| self.text_of(arguments));
                !self.around.in_function() || text.contains("globals")
            }
            "setattr" => arguments
                .and_then(|arguments| arguments.named_child(0))
                .is_some_and(|object| self.is_module(object)),
            _ => {
                let method = name.rsplit_once('.').map(|(_, method)| method);
                method.is_some_and(|method| binds.contains(&method)) && self.is_namespace(function)
            }
        }
    }

    fn add(&mut self, node: Node<'_>, target: String, names: Vec<String>, bound: Vec<String>) {
        let kind = if self.around.in_function() || self.around.is_for_types() {
            ImportKind::Lazy
        } else if self.around.is_guarded() {
            self.pending.push(GuardedImport {
                import: self.module.imports.len(),
                branches: self.around.branches(),
                names: bound,
            });
            ImportKind::Guarded
        } else {
            ImportKind::Hard
        };
        self.module.imports.push(Import {
            module: String::new(),
            path: String::new(),
            target,
            names,
            kind,
            at: node.start_byte(),
        });
    }

    /// Finds the alternatives, for which all branches have to be known.
    fn finish(mut self) -> PythonModule {
        for guarded in std::mem::take(&mut self.pending) {
            let GuardedImport {
                import,
                branches,
                names,
            } = guarded;
            let is_bound_elsewhere = |name: &String| {
                branches.iter().any(|(statement, branch)| {
                    let binding = self.bound.get(&(*statement, name.clone()));
                    binding.is_some_and(|binding| binding.iter().any(|other| other != branch))
                })
            };
            if !names.is_empty() && names.iter().all(is_bound_elsewhere) {
                self.module.imports[import].kind = ImportKind::Alternative;
            }
        }
        self.module
    }
}

#[cfg(test)]
mod tests;
