//! `pkgres init`

use std::path::Path;

use pkgres_files::{Access, NewTreeFile, RealFileSystem, make_folder, write_file, write_tree};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, MANIFEST_FILE, PackageName, PackagePath};
use serde_json::json;

use self::template::{NewPackage, PROVIDED_FILE, TemplateFile};
use pkgres_settings::{SETTINGS_FILE, SettingsFile};

use crate::args::{InitArgs, Template};
use crate::commands::config::path_from_file;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named_packages::package_name;
use crate::output::Output;
use crate::paths::canonical;
use crate::settings::Origin;

mod template;

pub(super) fn run(args: &InitArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let path = args.folder.join(MANIFEST_FILE);
    require_absent(&path, context)?;
    let name = match &args.name {
        Some(name) => own_name(&package_name(name, Some(CLASS_PACKAGES))?)?,
        None => name_of(&args.folder)?,
    };
    let template = if args.library {
        Template::Library
    } else {
        args.template
    };
    let package = NewPackage {
        name: &name,
        template,
        core: context.core(),
        is_core_named: ["core-library", "no-core-library"].iter().any(|key| {
            let setting = context.settings.get(key);
            setting.is_some_and(|setting| matches!(setting.origin, Origin::Flag(_)))
        }),
    };
    let (files, kept): (Vec<TemplateFile>, Vec<TemplateFile>) = package
        .files()
        .into_iter()
        .filter(|file| !is_set_above(file, context))
        .partition(|file| std::fs::symlink_metadata(args.folder.join(&file.path)).is_err());
    if !args.dry_run {
        write(&args.folder, &files)?;
    }
    if output.is_json() {
        let paths = |files: &[TemplateFile]| -> Vec<String> {
            let paths = files.iter().map(|file| args.folder.join(&file.path));
            paths
                .map(|path| path.to_string_lossy().into_owned())
                .collect()
        };
        output.json(&json!({
            "schema_version": 1,
            "status": if args.dry_run { "would_begin" } else { "begun" },
            "manifest": path.to_string_lossy(),
            "name": name,
            "files": paths(&files),
            "kept": paths(&kept),
        }));
        return Ok(Exit::Done);
    }
    show_files(&files, &kept, args, output);
    if (package.files().iter()).any(|file| is_set_above(file, context)) {
        let provided = args.folder.join(PROVIDED_FILE);
        output.note(&how_to_set(&package, &provided, &context.settings.project));
    }
    let shown = path.to_string_lossy();
    let shown = Escaped::new(&shown);
    output.note(&if args.dry_run {
        format!("Would write {name} to {shown}; nothing was written")
    } else {
        format!("Created {name} in {shown}")
    });
    Ok(Exit::Done)
}

/// Returns an error if there is a manifest already.
fn require_absent(path: &Path, context: &Context) -> Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    let finding = Diagnostic::error(
        Code::File,
        format!("{} already exists", Escaped::path(&path)),
    );
    let hint = if metadata.is_dir() {
        "it is a folder: move it away first".to_owned()
    } else {
        let add = context.invocation.command("add");
        format!("`{add} PACKAGE` adds a requirement to it")
    };
    Err(finding.hint(hint).into())
}

/// Prints which files were created or, in a dry run, what is in them, and which were there already.
fn show_files(files: &[TemplateFile], kept: &[TemplateFile], args: &InitArgs, output: &mut Output) {
    let path = |file: &TemplateFile| args.folder.join(&file.path);
    for file in files {
        let path = path(file);
        if args.dry_run {
            output.data(&format!("# {}\n{}", Escaped::path(&path), file.text));
        } else if file.path != MANIFEST_FILE {
            output.note(&format!("Created {}", Escaped::path(&path)));
        }
    }
    for file in kept {
        let path = path(file);
        output.note(&format!("Left as it is: {}", Escaped::path(&path)));
    }
}

/// What to write into the settings file above a package for the package to resolve.
fn how_to_set(package: &NewPackage<'_>, provided: &Path, above: &SettingsFile) -> String {
    let provided = path_from_file(&provided.to_string_lossy(), &above.path);
    let known = above.table.get("provide").and_then(toml::Value::as_array);
    let known = known.into_iter().flatten().filter_map(toml::Value::as_str);
    let mut paths: Vec<String> = known.map(str::to_owned).collect();
    if !paths.contains(&provided) {
        paths.push(provided);
    }
    let settings = package.settings(&paths);
    let file = Origin::File(above.path.clone());
    // After the head of a table, a line would be a part of the table.
    let place = if above.table.values().any(toml::Value::is_table) {
        ", above its first table"
    } else {
        ""
    };
    let verb = if paths.len() > 1 { "Set in" } else { "Add to" };
    format!("{verb} {file}{place}: {}", settings.trim_end())
}

/// Whether a file is one with settings, and the folder has settings already: a second file would hide them.
fn is_set_above(file: &TemplateFile, context: &Context) -> bool {
    file.path == SETTINGS_FILE && !context.settings.project.path.as_os_str().is_empty()
}

/// Writes the files of a package: a new folder as a whole, otherwise the manifest last, so that a run that was
/// interrupted can be repeated.
fn write(folder: &Path, files: &[TemplateFile]) -> Result<()> {
    let system = RealFileSystem;
    if !folder.is_dir() {
        if let Some(parent) = folder.parent().filter(|path| !path.as_os_str().is_empty()) {
            make_folder(&system, parent)?;
        }
        let files = files.iter().map(|file| {
            Ok(NewTreeFile {
                path: PackagePath::parse(&file.path).expect("a plain path is one of a package"),
                bytes: file.text.as_bytes().to_vec(),
                access: Access::Data,
            })
        });
        write_tree(&system, folder, files)?;
        return Ok(());
    }
    let (manifest, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.path == MANIFEST_FILE);
    for file in others.into_iter().chain(manifest) {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            make_folder(&system, parent)?;
        }
        write_file(&system, &path, file.text.as_bytes())?;
    }
    Ok(())
}

/// A name that a package can give itself. Those of plug-ins can have a `-`, which classes cannot have.
fn own_name(name: &PackageName) -> Result<PackageName> {
    PackageName::parse_own(name.as_str()).map_err(|error| {
        let message = format!("`{name}` cannot be the name of a package of classes: {error}");
        let similar = name.as_str().replace('-', "_");
        let hint = format!("set a name such as `--name {similar}`");
        Diagnostic::error(Code::Name, message).hint(hint).into()
    })
}

/// The default name of a package: made of the name of its folder.
fn name_of(folder: &Path) -> Result<PackageName> {
    let mut absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // A path that ends with `..` does not have the name of its folder.
    if absolute.file_name().is_none() {
        absolute = canonical(&absolute);
    }
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
    let name = PackageName::parse(&text).map_err(|_| no_name())?;
    own_name(&name)
}
