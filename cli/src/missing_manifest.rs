//! Hints for a folder without a manifest: which file or folder the user may mean.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pkgres_files::entry_path;
use pkgres_formats::ansible::REQUIREMENTS_FILE;
use pkgres_manifest::MANIFEST_FILE;
use pkgres_manifest::diagnostic::{Diagnostic, Escaped, sentence_list};
use pkgres_settings::SettingsFile;

use crate::context::Context;
use crate::invocation::{Invocation, quoted};
use crate::read_manifest::{folder_of, manifest_at};
use crate::root::ForeignRoot;
use crate::root_file::{nested_root, recognize};
use crate::workspace::MAX_NAMED_MEMBERS;

/// How deep packages are looked for below a folder.
const MAX_SEARCHED_DEPTH: usize = 4;
/// How many files and folders are looked at: the folder can be that of a user with everything in it.
const MAX_SEARCHED_ENTRIES: usize = 10_000;

/// Hints for a path without a project: other files or folders that could be meant, and how to begin one.
pub(crate) fn missing_manifest_hints(path: &Path, context: &Context) -> Vec<String> {
    let folder = &folder_of(path);
    if let Some(root) = nested_root(folder) {
        return vec![nested_hint(&root, context)];
    }
    if let Some(other) = misnamed_manifest(folder) {
        return vec![format!(
            "there is {}, but the name of a manifest is `{MANIFEST_FILE}`",
            Escaped::path(&other)
        )];
    }
    let invocation = &context.invocation;
    let workspace = context.workspace().ok().flatten();
    match workspace.filter(|_| !invocation.names_other_project()) {
        Some(workspace) => member_hints(&workspace.folders, invocation),
        None => no_project_hints(path, context),
    }
}

/// Hints for a run outside of a workspace, or with a path that is wrong.
fn no_project_hints(path: &Path, context: &Context) -> Vec<String> {
    let invocation = &context.invocation;
    if invocation.is("install") {
        let mut hints = vec!["pass a requirements.yml, or run in its folder".to_owned()];
        hints.extend(absent_root_hint(
            &entry_path(&folder_of(path), REQUIREMENTS_FILE),
            context,
        ));
        return hints;
    }
    if let Some(hint) = hint_about_word(context) {
        return vec![hint];
    }
    if !invocation.names_other_project()
        && let Some(hint) = packages_below_hint(invocation)
    {
        return vec![hint];
    }
    let mut hints = vec!["pass the path of a manifest, or run in its folder or below".to_owned()];
    if invocation.is("explain") {
        hints.push("`pkgres explain --list` lists the codes and rules that it explains".to_owned());
    }
    if let Some(hint) = absent_root_hint(path, context) {
        hints.push(hint);
    } else if !invocation.names_other_project() && context.ecosystem.is_none() {
        let init = invocation.command_for_none("init");
        hints.push(format!("`{init}` creates a package in this folder"));
        if invocation.is("add") {
            hints.extend(absent_root_hint(Path::new(REQUIREMENTS_FILE), context));
        }
    }
    hints
}

/// The hint that says how to begin the root of another ecosystem that a path names.
pub(crate) fn absent_root_hint(path: &Path, context: &Context) -> Option<String> {
    let root = ForeignRoot::absent(path, context.ecosystem, &context.read_options)?;
    let command = context.invocation.command_for("add PACKAGE", &root.path);
    let shown = Escaped::path(&root.path);
    Some(format!("`{command}` creates {shown}"))
}

/// Errors about the folders that `members` of the settings names although they have no root.
pub(crate) fn missing_members(folders: &[PathBuf], settings: &SettingsFile) -> Vec<Diagnostic> {
    let missing = folders.iter().filter(|member| !has_root(member));
    let missing = missing.map(|member| {
        let message = format!(
            "`members` names a folder without a {MANIFEST_FILE} or another root: `{}`",
            quoted(member)
        );
        settings.error_at(&["workspace", "members"], message)
    });
    missing.collect()
}

/// Hints for the root of a workspace: they name its members.
fn member_hints(folders: &[PathBuf], invocation: &Invocation) -> Vec<String> {
    let members: Vec<&PathBuf> = (folders.iter()).filter(|member| has_root(member)).collect();
    if invocation.is_for_workspace() || members.is_empty() {
        let missing: Vec<String> = (folders.iter())
            .filter(|member| !has_root(member))
            .take(MAX_NAMED_MEMBERS)
            .map(|member| format!("`{}`", quoted(member)))
            .collect();
        return vec![format!(
            "`members` in pkgres.toml names a folder without a {MANIFEST_FILE} or another root: {}",
            missing.join(", ")
        )];
    }
    let option = if invocation.takes_member_option() {
        "-p "
    } else {
        ""
    };
    let mut names: Vec<String> = members
        .iter()
        .take(MAX_NAMED_MEMBERS)
        .map(|member| format!("`{option}{}`", quoted(member)))
        .collect();
    if let Some(rest) = members.len().checked_sub(MAX_NAMED_MEMBERS + 1) {
        names.push(format!("{} more", rest + 1));
    }
    let mut hint = format!("this is a workspace; name a member: {}", names.join(", "));
    if let Some(command) = members
        .first()
        .and_then(|first| invocation.same_command_for(first))
    {
        hint.push_str(&format!(", as in `{command}`"));
    }
    let mut hints = vec![hint];
    let all = match invocation.same_command_for_workspace() {
        Some(command) => Some(command),
        // The arguments of the command are its own.
        None => invocation
            .takes_workspace()
            .then(|| "--workspace".to_owned()),
    };
    hints.extend(all.map(|all| format!("`{all}` takes all members")));
    hints
}

/// The hint that names a root below the folder of the project.
fn nested_hint(root: &Path, context: &Context) -> String {
    match context.invocation.same_command_for(root) {
        Some(command) => format!("the root of the project is below its folder: `{command}`"),
        None => format!(
            "name the root of the project, which is below its folder: `{}`",
            quoted(root)
        ),
    }
}

/// The manifest of a folder under another name, such as `manifest.yml`.
fn misnamed_manifest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut names = entries.map(|entry| entry.file_name());
    let name = names.find(|name| {
        let lower_case = name.to_string_lossy().to_ascii_lowercase();
        // The path that was not found can be of something else beside a manifest.
        name != MANIFEST_FILE && (lower_case == "manifest.yml" || lower_case == MANIFEST_FILE)
    })?;
    Some(folder.strip_prefix(".").unwrap_or(folder).join(name))
}

/// The hint that names packages in folders of this one, if there are some.
fn packages_below_hint(invocation: &Invocation) -> Option<String> {
    let here = Path::new(".");
    let below = WalkBuilder::new(here)
        .max_depth(Some(MAX_SEARCHED_DEPTH))
        .sort_by_file_name(Ord::cmp)
        .build();
    let entries = below.take(MAX_SEARCHED_ENTRIES).filter_map(Result::ok);
    let manifests = entries.filter(|entry| entry.file_name() == MANIFEST_FILE);
    let folders: Vec<PathBuf> = manifests
        .filter_map(|entry| {
            let folder = entry.path().parent()?;
            Some(folder.strip_prefix(here).unwrap_or(folder).to_owned())
        })
        .take(MAX_NAMED_MEMBERS)
        .collect();
    let shown: Vec<String> = folders
        .iter()
        .map(|folder| format!("`{}`", quoted(folder)))
        .collect();
    let command = invocation.same_command_for(folders.first()?);
    let example = command.map_or_else(String::new, |command| format!(", as in `{command}`"));
    Some(format!(
        "name a package below this folder, such as {}{example}",
        sentence_list(&shown, "or")
    ))
}

/// Whether a folder has a manifest, or another file that can be a root.
pub(crate) fn has_root(folder: &Path) -> bool {
    folder.join(MANIFEST_FILE).is_file() || !matches!(recognize(folder, None), Ok(None))
}

/// A hint for when the user passed the path of a project where the command expects a package.
fn hint_about_word(context: &Context) -> Option<String> {
    let invocation = &context.invocation;
    if invocation.names_other_project() {
        return None;
    }
    let has_manifest = |path: &&Path| manifest_at(path).is_file() && path.exists();
    let is_project = |path: &&Path| path.is_dir() || path.ends_with(MANIFEST_FILE);
    let words = invocation.words().iter().skip(1).map(Path::new);
    let project = words.filter(is_project).find(has_manifest)?;
    let shown = quoted(project);
    let command = match invocation.command_name() {
        "add" => invocation.command_for("add PACKAGE", project),
        "remove" => invocation.command_for("remove PACKAGE", project),
        "update" => invocation.command_for("update", project),
        "why" => format!("pkgres why PACKAGE {shown}"),
        "why-not" => format!("pkgres why-not PACKAGE@VERSION {shown}"),
        _ => return None,
    };
    Some(format!(
        "{} is a project, where a package is expected: `{command}`",
        Escaped::path(project)
    ))
}
