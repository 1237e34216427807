//! Adds the `-C FOLDER` of this run to the commands in hints, so that they work when pasted. Most code that writes hints
//! does not know the folder.

use std::borrow::Cow;

use pkgres_manifest::diagnostic::Diagnostic;

/// How a command in a hint begins.
const COMMAND: &str = "`pkgres ";

/// The findings with `-C` in the commands of their hints, if this run has a folder, which is quoted for a shell.
pub(crate) fn in_folder<'findings>(
    findings: &'findings [Diagnostic],
    folder: Option<&str>,
) -> Cow<'findings, [Diagnostic]> {
    let Some(folder) = folder else {
        return Cow::Borrowed(findings);
    };
    let mut findings = findings.to_vec();
    for hint in findings.iter_mut().flat_map(|finding| &mut finding.hints) {
        *hint = with_folder(hint, folder);
    }
    Cow::Owned(findings)
}

/// A hint in which the commands without a folder have one.
fn with_folder(hint: &str, folder: &str) -> String {
    let mut parts = hint.split(COMMAND);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        text.push_str(COMMAND);
        if !rest.starts_with("-C ") {
            text.push_str(&format!("-C {folder} "));
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_hints_get_the_folder_once() {
        for (hint, expected) in [
            (
                "`pkgres lock` writes it",
                "`pkgres -C 'my app' lock` writes it",
            ),
            (
                "`pkgres -C web lock` writes it",
                "`pkgres -C web lock` writes it",
            ),
            (
                "`pkgres a`, or `pkgres b`",
                "`pkgres -C 'my app' a`, or `pkgres -C 'my app' b`",
            ),
            ("set `x` in pkgres.toml", "set `x` in pkgres.toml"),
        ] {
            assert_eq!(with_folder(hint, "'my app'"), expected);
        }
    }
}
