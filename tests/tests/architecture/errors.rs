//! The error types of a crate, and whether they return the errors inside them as their cause.

use std::fs;

use syn::visit::{self, Visit};
use syn::{Attribute, Field, Fields, GenericArgument, ItemEnum, ItemStruct, PathArguments, Type};

use crate::crates::{source_files, sources};

/// The fields of derived error types of a crate that hold another error, which is not their cause.
pub(crate) fn without_cause(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in source_files(&sources(name)) {
        let text = fs::read_to_string(&path).expect("sources can be read");
        let fields = fields_without_cause(&text).into_iter();
        found.extend(fields.map(|field| format!("{name}: {field}")));
    }
    found
}

/// The same for a text: names of types, with those of their variants.
pub(crate) fn fields_without_cause(text: &str) -> Vec<String> {
    let mut search = Search::default();
    search.visit_file(&syn::parse_file(text).expect("sources can be parsed"));
    search.found
}

#[derive(Default)]
struct Search {
    found: Vec<String>,
}

impl Search {
    /// Looks at the fields of a type or variant with these attributes.
    fn look(&mut self, name: &str, attributes: &[Attribute], fields: &Fields) {
        let is_transparent = attributes.iter().any(|attribute| {
            attribute.path().is_ident("error")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|word| word == "transparent")
        });
        if !is_transparent && fields.iter().any(holds_error) && !fields.iter().any(is_cause) {
            self.found.push(name.to_owned());
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        if derives_error(&item.attrs) {
            for variant in &item.variants {
                let name = format!("{}::{}", item.ident, variant.ident);
                self.look(&name, &variant.attrs, &variant.fields);
            }
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if derives_error(&item.attrs) {
            self.look(&item.ident.to_string(), &item.attrs, &item.fields);
        }
        visit::visit_item_struct(self, item);
    }
}

/// Whether `thiserror` writes the error of a type.
fn derives_error(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut is_error = false;
        if attribute.path().is_ident("derive") {
            // What cannot be read ends the loop.
            let _ = attribute.parse_nested_meta(|derived| {
                let name = derived.path.segments.last();
                is_error |= name.is_some_and(|name| name.ident == "Error");
                Ok(())
            });
        }
        is_error
    })
}

/// Whether a field is what `thiserror` returns as the cause.
fn is_cause(field: &Field) -> bool {
    field.ident.as_ref().is_some_and(|name| name == "source")
        || field.attrs.iter().any(|attribute| {
            attribute.path().is_ident("source") || attribute.path().is_ident("from")
        })
}

/// Whether a field holds an error, which the name of its type says.
fn holds_error(field: &Field) -> bool {
    is_error_type(&field.ty)
}

fn is_error_type(wanted: &Type) -> bool {
    let Type::Path(path) = wanted else {
        return false;
    };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let name = last.ident.to_string();
    // Several errors of one kind are a list to show, and none of them is the cause alone.
    match &last.arguments {
        PathArguments::AngleBracketed(inside)
            if ["Box", "Arc", "Option"].contains(&name.as_str()) =>
        {
            inside.args.iter().any(|argument| match argument {
                GenericArgument::Type(inner) => is_error_type(inner),
                _ => false,
            })
        }
        _ => name.ends_with("Error"),
    }
}
