//! The sources of a crate as a tree of modules, with the names that each defines and mentions.
//!
//! Files are parsed with `syn`, from the root of the crate along its `mod` items. Tests are left
//! out: what only a test imports is no part of the architecture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemMod, ItemUse, Macro, Meta, UseTree, VisRestricted};

/// A path as it is written: its segments, without generic arguments. The last segment of the
/// name of a macro ends with `!`.
pub(crate) type Written = Vec<String>;

/// The position of a module in [`Crate::modules`]. The root of the crate is 0.
pub(crate) type ModuleId = usize;

/// The meaning of a name in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A child of the module.
    Module(ModuleId),
    /// An item that the module defines.
    Item,
    /// The end of a `use` path, which may be an item or a module.
    Import(Written),
}

/// A module: a file, or a block in a file.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The name, with those of the modules around it: `["engine", "native"]`. Empty for the root.
    pub(crate) name: Vec<String>,
    /// The module around this one; the root has none.
    pub(crate) parent: Option<ModuleId>,
    /// The meanings of names here.
    pub(crate) names: BTreeMap<String, Vec<Meaning>>,
    /// The paths before `::*` in imports.
    pub(crate) globs: Vec<Written>,
    /// All paths in the code of the module, those of imports too.
    pub(crate) mentions: BTreeSet<Written>,
    /// For each free function, the paths in it.
    pub(crate) functions: BTreeMap<String, BTreeSet<Written>>,
    /// The structs, enums, unions, traits and type aliases that the module defines.
    pub(crate) types: Vec<String>,
}

/// The modules of a crate.
#[derive(Debug, Default)]
pub(crate) struct Crate {
    /// All modules, parents before their children.
    pub(crate) modules: Vec<Module>,
    /// The files that were read, those of tests too.
    pub(crate) files: BTreeSet<PathBuf>,
}

impl Crate {
    /// Reads a crate from its folder `src`.
    pub(crate) fn read(sources: &Path) -> Self {
        let mut roots = ["lib.rs", "main.rs"]
            .map(|name| sources.join(name))
            .into_iter();
        let root = roots
            .find(|root| root.exists())
            .expect("a crate has a root");
        let mut read = Self::default();
        read.add_file(&root, sources, &[], None);
        read
    }

    /// The crate that is written in one text.
    pub(crate) fn parse(text: &str) -> Self {
        let file = syn::parse_file(text).expect("the text is Rust");
        let mut parsed = Self::default();
        parsed.add_module(&file.items, Path::new(""), &[], None);
        parsed
    }

    /// Adds the module that is a whole file; `folder` is where the files of its children are.
    fn add_file(
        &mut self,
        file: &Path,
        folder: &Path,
        name: &[String],
        parent: Option<ModuleId>,
    ) -> ModuleId {
        let text = fs::read_to_string(file).expect("sources can be read");
        self.files.insert(file.to_owned());
        let parsed = syn::parse_file(&text)
            .unwrap_or_else(|error| panic!("{} cannot be parsed: {error}", file.display()));
        self.add_module(&parsed.items, folder, name, parent)
    }

    fn add_module(
        &mut self,
        items: &[Item],
        folder: &Path,
        name: &[String],
        parent: Option<ModuleId>,
    ) -> ModuleId {
        let id = self.modules.len();
        let mut module = Module {
            name: name.to_vec(),
            parent,
            ..Module::default()
        };
        let mut children = Vec::new();
        for item in items {
            if let Item::Mod(child) = item {
                children.push(child);
            } else {
                module.add_item(item);
            }
        }
        self.modules.push(module);
        for child in children {
            self.add_child(child, folder, name, id);
        }
        id
    }

    fn add_child(&mut self, child: &ItemMod, folder: &Path, name: &[String], parent: ModuleId) {
        let child_name = child.ident.to_string();
        let folder = folder.join(&child_name);
        let mut name = name.to_vec();
        name.push(child_name.clone());
        let before = self.modules.len();
        let id = if let Some((_, items)) = &child.content {
            self.add_module(items, &folder, &name, Some(parent))
        } else {
            let files = [folder.with_extension("rs"), folder.join("mod.rs")];
            let mut files = files.iter().filter(|file| file.exists());
            let file = files.next().expect("a module has a file");
            self.add_file(file, &folder, &name, Some(parent))
        };
        if is_for_tests(&child.attrs) {
            self.modules.truncate(before);
            return;
        }
        let names = &mut self.modules[parent].names;
        names
            .entry(child_name)
            .or_default()
            .push(Meaning::Module(id));
    }
}

impl Module {
    fn add_item(&mut self, item: &Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        let mut paths = Paths::default();
        paths.visit_item(item);
        if let Some((name, is_type)) = defined(item) {
            if is_type {
                self.types.push(name.clone());
            }
            if matches!(item, Item::Fn(_)) {
                self.functions.insert(name.clone(), paths.written.clone());
            }
            self.names.entry(name).or_default().push(Meaning::Item);
        }
        for (name, path) in paths.imports {
            let meanings = self.names.entry(name).or_default();
            meanings.push(Meaning::Import(path));
        }
        self.globs.extend(paths.globs);
        self.mentions.extend(paths.written);
    }
}

/// The name that an item defines, and whether it is a type or a trait.
fn defined(item: &Item) -> Option<(String, bool)> {
    let (name, is_type) = match item {
        Item::Const(item) => (&item.ident, false),
        Item::Fn(item) => (&item.sig.ident, false),
        Item::Macro(item) => (item.ident.as_ref()?, false),
        Item::Static(item) => (&item.ident, false),
        Item::Enum(item) => (&item.ident, true),
        Item::Struct(item) => (&item.ident, true),
        Item::Trait(item) => (&item.ident, true),
        Item::Type(item) => (&item.ident, true),
        Item::Union(item) => (&item.ident, true),
        _ => return None,
    };
    Some((name.to_string(), is_type))
}

/// The attributes of an item.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is there for tests alone, those of the documentation too.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            let mut words = condition.split(|letter: char| !letter.is_alphanumeric());
            words.any(|word| word == "test" || word == "doctest")
        }
        _ => false,
    })
}

/// Collects the paths of an item.
#[derive(Default)]
struct Paths {
    written: BTreeSet<Written>,
    imports: Vec<(String, Written)>,
    globs: Vec<Written>,
}

impl Paths {
    fn add_import(&mut self, tree: &UseTree, mut path: Written) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_import(&tree.tree, path);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_import(tree, path.clone());
                }
            }
            UseTree::Glob(_) => {
                self.written.insert(path.clone());
                self.globs.push(path);
            }
            UseTree::Name(name) => self.add_name(&name.ident, &name.ident, path),
            UseTree::Rename(rename) => self.add_name(&rename.ident, &rename.rename, path),
        }
    }

    fn add_name(&mut self, imported: &syn::Ident, name: &syn::Ident, mut path: Written) {
        // `use room::{self}` imports the room.
        let name = if imported == "self" && !path.is_empty() {
            path.last().cloned()
        } else {
            path.push(imported.to_string());
            Some(name.to_string())
        };
        self.written.insert(path.clone());
        self.imports.extend(name.map(|name| (name, path)));
    }

    /// Collects the paths of a macro's tokens: names that are joined by `::`, but no methods.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Written = Vec::new();
        let mut colons = 0;
        let mut is_method = false;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end_path(&mut path);
                    }
                    if !is_method {
                        path.push(name.to_string());
                    }
                    (colons, is_method) = (0, false);
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                // A macro is called; `!=` compares.
                TokenTree::Punct(punct)
                    if punct.as_char() == '!' && punct.spacing() == Spacing::Alone =>
                {
                    if let Some(name) = path.last_mut() {
                        name.push('!');
                    }
                }
                TokenTree::Punct(punct) => is_method = punct.as_char() == '.',
                TokenTree::Group(group) => {
                    self.end_path(&mut path);
                    self.add_tokens(group.stream());
                }
                TokenTree::Literal(_) => {}
            }
            colons = 0;
            self.end_path(&mut path);
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Written) {
        if !path.is_empty() {
            self.written.insert(std::mem::take(path));
        }
    }
}

impl<'item> Visit<'item> for Paths {
    fn visit_item(&mut self, item: &'item Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, method: &'item ImplItemFn) {
        if !is_for_tests(&method.attrs) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_item_use(&mut self, item: &'item ItemUse) {
        // `use ::name` is another crate.
        if item.leading_colon.is_none() {
            self.add_import(&item.tree, Vec::new());
        }
    }

    fn visit_vis_restricted(&mut self, _: &'item VisRestricted) {
        // `pub(super)` says who may use an item, not what the item uses.
    }

    fn visit_path(&mut self, path: &'item syn::Path) {
        let segments = path.segments.iter();
        self.written
            .insert(segments.map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'item Macro) {
        let segments = called.path.segments.iter();
        let mut path: Written = segments.map(|segment| segment.ident.to_string()).collect();
        if let Some(name) = path.last_mut() {
            name.push('!');
        }
        self.written.insert(path);
        self.add_tokens(called.tokens.clone());
    }
}
