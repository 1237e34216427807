//! `pkgres init`

use std::path::Path;

use pkgres_files::{Access, NewTreeFile, RealFileSystem, write_file, write_tree};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{MANIFEST_FILE, PackageName, PackagePath, yaml_word};
use serde_json::json;

use crate::args::InitArgs;
use crate::commands::names::package_name;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;

pub(super) fn run(args: &InitArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let path = args.folder.join(MANIFEST_FILE);
    let shown = path.to_string_lossy().into_owned();
    let shown = Escaped::new(&shown);
    if std::fs::symlink_metadata(&path).is_ok() {
        let finding = Diagnostic::error(Code::File, format!("{shown} already exists"));
        return Err(finding
            .hint(format!(
                "`{}` adds requirements to it",
                context.invocation.command("add")
            ))
            .into());
    }
    let name = match &args.name {
        Some(name) => package_name(name)?,
        None => name_of(&args.folder)?,
    };
    let text = manifest(&name, args.library);
    if !args.dry_run {
        if args.folder.is_dir() {
            write_file(&RealFileSystem, &path, text.as_bytes())?;
        } else {
            let file = NewTreeFile {
                path: PackagePath::parse(MANIFEST_FILE).expect("a plain name is a path"),
                bytes: text.as_bytes().to_vec(),
                access: Access::Data,
            };
            write_tree(&RealFileSystem, &args.folder, [Ok(file)])?;
        }
    }
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if args.dry_run { "would_begin" } else { "begun" },
            "manifest": path.to_string_lossy(),
            "name": name,
        }));
        return Ok(Exit::Done);
    }
    if args.dry_run {
        output.data(&text);
        output.note(&format!("Would write {shown}; nothing was written"));
    } else {
        output.note(&format!("Created {name} in {shown}"));
    }
    Ok(Exit::Done)
}

/// The default name of a package: made of the name of its folder.
fn name_of(folder: &Path) -> Result<PackageName> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let last = absolute.file_name().unwrap_or_default().to_string_lossy();
    let no_name = || {
        let shown = Escaped::shortened(&last);
        let message = format!("the folder name `{shown}` cannot be made into a package name");
        let finding = Diagnostic::error(Code::Name, message);
        Failure::from(finding.hint("set a name with `--name org.example.Name`"))
    };
    // Dropping such letters would leave an unrecognizable name.
    if last
        .chars()
        .any(|letter| letter.is_alphanumeric() && !letter.is_ascii())
    {
        return Err(no_name());
    }
    let words: Vec<String> = last
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '.')
        .filter(|word| !word.is_empty())
        .map(|word| {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_ascii_uppercase())
        })
        .collect();
    let words = words.concat();
    let text = if last.contains('.') {
        last.to_string()
    } else {
        format!("org.example.{words}")
    };
    PackageName::parse(&text).map_err(|_| no_name())
}

/// The text of a new manifest.
fn manifest(name: &PackageName, library: bool) -> String {
    let kind = if library { "Library" } else { "Application" };
    let display_name = name.as_str().rsplit('.').next().unwrap_or_default();
    let (name, display_name) = (yaml_word(name.as_str()), yaml_word(display_name));
    format!(
        "\
Format: MuranoPL/1.0
FullName: {name}
Type: {kind}
Name: {display_name}
Version: 0.1.0
Require:
  io.murano: \"0\"
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkgres_manifest::{PackageManifest, ReadOptions};

    #[test]
    fn a_new_manifest_can_be_read() {
        for name in [
            "org.example.Web",
            "Null",
            "true",
            "On",
            "Nan",
            "org.example.Null",
        ] {
            let name = PackageName::parse(name).expect("a name");
            let text = manifest(&name, false);
            let read = PackageManifest::read("m", text.as_bytes(), &ReadOptions::default());
            let (read, _) = read.into_result().expect("it is a manifest");
            assert_eq!(read.name.value, name);
            assert_eq!(
                Some(read.display_name.as_str()),
                name.as_str().rsplit('.').next()
            );
        }
    }
}
