//! Adds `-C FOLDER` and `--config FILE` of this run to the commands in hints, so that they work when pasted. Most code
//! that writes hints does not know them.

use std::borrow::Cow;

use pkgres_manifest::diagnostic::Diagnostic;

/// How a command in a hint begins.
const COMMAND: &str = "`pkgres ";

/// The findings with `-C` and `--config` in the commands of their hints, if this run has them. The values are quoted
/// for a shell.
pub(crate) fn in_folder<'findings>(
    findings: &'findings [Diagnostic],
    folder: Option<&str>,
    config: Option<&str>,
) -> Cow<'findings, [Diagnostic]> {
    if folder.is_none() && config.is_none() {
        return Cow::Borrowed(findings);
    }
    let mut findings = findings.to_vec();
    for hint in findings.iter_mut().flat_map(|finding| &mut finding.hints) {
        *hint = with_options(hint, folder, config);
    }
    Cow::Owned(findings)
}

/// A hint in which the commands without these options have them.
fn with_options(hint: &str, folder: Option<&str>, config: Option<&str>) -> String {
    let mut parts = hint.split(COMMAND);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        text.push_str(COMMAND);
        let command = rest.split('`').next().unwrap_or_default();
        if let Some(folder) = folder.filter(|_| !rest.starts_with("-C ")) {
            text.push_str(&format!("-C {folder} "));
        }
        if let Some(config) = config.filter(|_| !command.contains("--config ")) {
            text.push_str(&format!("--config {config} "));
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
            assert_eq!(with_options(hint, Some("'my app'"), None), expected);
        }
    }

    #[test]
    fn commands_in_hints_get_the_settings_file_once() {
        for (hint, expected) in [
            ("`pkgres lock`", "`pkgres --config c.toml lock`"),
            (
                "`pkgres --config c.toml lock`, or `pkgres tree`",
                "`pkgres --config c.toml lock`, or `pkgres --config c.toml tree`",
            ),
        ] {
            assert_eq!(with_options(hint, None, Some("c.toml")), expected);
        }
        assert_eq!(
            with_options("`pkgres lock`", Some("web"), Some("c.toml")),
            "`pkgres -C web --config c.toml lock`"
        );
    }
}
