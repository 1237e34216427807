//! Reads what PowerShell and C# files import from collections.
//!
//! ansible-core sends a module for Windows together with the utilities that comments of PowerShell, or `using` of C#,
//! name. It looks for them before it runs the module, line by line, wherever they are in a file.

use super::python::{Import, ImportKind};

/// The imports in a file below `plugins`, in PowerShell or, with the extension `.cs`, in C#. `collection` and `module` are
/// the names of the collection and of the file in it, such as `plugins.modules.page`.
pub(super) fn read(collection: &str, module: &str, path: &str, bytes: &[u8]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut at = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let named = if path.ends_with(".cs") {
            used_namespace(&text).map(|name| (name, false))
        } else {
            required_utility(&text)
        };
        let target = named.and_then(|(name, is_optional)| {
            let target = absolute(collection, module, name)?;
            Some((target, is_optional))
        });
        if let Some((target, is_optional)) = target {
            imports.push(Import {
                module: module.to_owned(),
                path: path.to_owned(),
                target,
                names: Vec::new(),
                kind: if is_optional {
                    ImportKind::Alternative
                } else {
                    ImportKind::Hard
                },
                at,
            });
        }
        at += line.len() + 1;
    }
    imports
}

/// The utility that a comment of PowerShell requires, and whether it is optional.
fn required_utility(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix('#')?.trim_ascii_start();
    let rest = after_blanks(without_prefix(rest, "ansiblerequires")?)?;
    let kinds = ["-powershell", "-csharputil"];
    let rest = kinds.iter().find_map(|kind| without_prefix(rest, kind))?;
    let (name, rest) = split_name(after_blanks(rest)?);
    let is_optional =
        after_blanks(rest).is_some_and(|rest| without_prefix(rest, "-optional").is_some());
    Some((name, is_optional))
}

/// The namespace in a `using` of C#.
fn used_namespace(line: &str) -> Option<&str> {
    let rest = without_prefix(line, "using")?;
    let rest = rest.strip_prefix(|next: char| next.is_ascii_whitespace())?;
    let (name, end) = split_name(rest);
    (end.trim_ascii_end() == ";").then_some(name)
}

/// The imported utility with its collection; `None` for one of ansible-core. Each leading dot of a relative name leads
/// one folder up from the file.
fn absolute(collection: &str, module: &str, name: &str) -> Option<String> {
    if let Some(target) = name.strip_prefix("ansible_collections.") {
        let (_, path) = super::facts::split_collection(target)?;
        return (path.starts_with("plugins.module_utils.")).then(|| target.to_owned());
    }
    let below = name.trim_start_matches('.');
    let own = format!("{collection}.{module}");
    let mut folder = own.as_str();
    for _ in 0..name.len() - below.len() {
        (folder, _) = folder.rsplit_once('.')?;
    }
    name.starts_with('.').then(|| format!("{folder}.{below}"))
}

/// A text without what it begins with, in upper or lower case.
fn without_prefix<'text>(text: &'text str, prefix: &str) -> Option<&'text str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// A text without the blanks that it must begin with.
fn after_blanks(text: &str) -> Option<&str> {
    let rest = text.trim_ascii_start();
    (rest.len() < text.len()).then_some(rest)
}

/// A dotted name, and what follows it.
fn split_name(text: &str) -> (&str, &str) {
    let is_part = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '.');
    let end = text.find(|next| !is_part(next)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The targets of the imports in a file of `acme.web`, with `?` after optional ones and their places.
    fn imports(path: &str, text: &str) -> Vec<String> {
        let module = super::super::name::dotted(path).expect("it is the path of a plug-in");
        let imports = read("acme.web", &module, path, text.as_bytes()).into_iter();
        let shown = imports.map(|one| {
            let mark = if one.kind == ImportKind::Hard {
                ""
            } else {
                "?"
            };
            format!("{}{mark} {}", one.target, one.at)
        });
        shown.collect()
    }

    #[test]
    fn comments_of_powershell_import_utilities() {
        for (line, expected) in [
            ("#AnsibleRequires -PowerShell NET.Web", "NET.Web"),
            ("# ansiblerequires  -powershell\tNET.a.Web\r", "NET.a.Web"),
            (
                "#AnsibleRequires -CSharpUtil NET.Process -Optional",
                "NET.Process?",
            ),
            ("#AnsibleRequires -PowerShell NET.Web # the rest", "NET.Web"),
            (
                "#AnsibleRequires -PowerShell ..module_utils.Web",
                "acme.web.plugins.module_utils.Web",
            ),
            (
                "#AnsibleRequires -PowerShell ....net.plugins.module_utils.Web",
                "acme.net.plugins.module_utils.Web",
            ),
            ("#AnsibleRequires -PowerShell ........Web", ""),
            (
                "#AnsibleRequires -PowerShell Ansible.ModuleUtils.AddType",
                "",
            ),
            ("#Requires -Module Ansible.ModuleUtils.Legacy", ""),
            (" #AnsibleRequires -PowerShell NET.Web", ""),
            ("#AnsibleRequires -PowerShell acme.net.Web", ""),
            (
                "#AnsibleRequires -PowerShell ansible_collections.acme.net.Web",
                "",
            ),
            ("#AnsibleRequires -OSVersion 10.0", ""),
        ] {
            let line = line.replace("NET", "ansible_collections.acme.net.plugins.module_utils");
            let found = imports(
                "plugins/modules/page.ps1",
                &format!("#!powershell\n{line}\n"),
            );
            let expected = expected.replace("NET", "acme.net.plugins.module_utils");
            let expected = (!expected.is_empty()).then(|| format!("{expected} 13"));
            assert_eq!(found, Vec::from_iter(expected), "{line}");
        }
    }

    #[test]
    fn namespaces_of_c_sharp_import_utilities() {
        for (line, is_import) in [
            ("using NET.Process;", true),
            ("USING NET.Process; \r", true),
            ("using  NET.Process;", false),
            ("    using NET.Process;", false),
            ("using NET.Process; // the rest", false),
            ("using P = NET.Process;", false),
            ("using Ansible.Process;", false),
            ("#AnsibleRequires -CSharpUtil NET.Process", false),
        ] {
            let line = line.replace("NET", "ansible_collections.acme.net.plugins.module_utils");
            let found = imports("plugins/module_utils/Page.cs", &format!("{line}\n"));
            let expected = is_import.then(|| "acme.net.plugins.module_utils.Process 0".to_owned());
            assert_eq!(found, Vec::from_iter(expected), "{line}");
        }
    }
}
