//! netrc files, which have logins and passwords by host.
//!
//! They are read as curl reads them, and Python where curl does not differ: words are separated by white space, or stand
//! in double quotes, in which a backslash escapes. Case makes no difference in keywords and hosts.

use super::credential::{Credential, Secret};

/// The login and password of a host in the text of a file. A `user` is the only login that counts.
pub(super) fn find(
    text: &str,
    host: &str,
    user: Option<&str>,
) -> Result<Option<Credential>, OpenQuote> {
    Ok(chosen(&entries(text)?, host, user))
}

/// A quotation mark in a line that no other one closes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenQuote {
    /// The number of the line, from 1.
    pub(super) line: usize,
}

/// The entry of a machine, or of all others.
#[derive(Debug, Default)]
struct Entry {
    /// `None` in the entry for all machines without one of their own.
    machine: Option<String>,
    login: String,
    password: String,
}

/// The credential in the first entry of a host that has a password, or else in one for all hosts.
fn chosen(entries: &[Entry], host: &str, user: Option<&str>) -> Option<Credential> {
    // Files have IPv6 addresses without the brackets of URLs.
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_of_host = |entry: &&Entry| {
        entry.machine.as_ref().is_some_and(|machine| {
            let hosts = [Some(host), bare].into_iter().flatten();
            hosts
                .into_iter()
                .any(|host| machine.eq_ignore_ascii_case(host))
        })
    };
    let has_password =
        |entry: &&Entry| !entry.password.is_empty() && user.is_none_or(|user| entry.login == user);
    let mut usable = entries.iter().filter(has_password);
    let of_host = usable.clone().find(is_of_host);
    let entry = of_host.or_else(|| usable.find(|entry| entry.machine.is_none()))?;
    Some(Credential::Basic {
        user: entry.login.clone(),
        password: Secret::new(entry.password.clone()),
    })
}

/// The entries of a file, in their order.
fn entries(text: &str) -> Result<Vec<Entry>, OpenQuote> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut entries: Vec<Entry> = Vec::new();
    // The keyword whose value is the next word.
    let mut keyword = String::new();
    let mut is_in_macro = false;
    for (line, text) in text.lines().enumerate() {
        // A macro ends at an empty line.
        if text.trim().is_empty() {
            is_in_macro = false;
        }
        if is_in_macro {
            continue;
        }
        let mut rest = text;
        while let Some(word) = next_word(&mut rest).map_err(|()| OpenQuote { line: line + 1 })? {
            let value_of = std::mem::take(&mut keyword);
            match (value_of.as_str(), entries.last_mut()) {
                ("machine", _) => entries.push(Entry {
                    machine: Some(word),
                    ..Entry::default()
                }),
                ("login", Some(entry)) => entry.login = word,
                ("password", Some(entry)) => entry.password = word,
                ("", _) => match word.to_ascii_lowercase().as_str() {
                    comment if comment.starts_with('#') => break,
                    "macdef" => {
                        is_in_macro = true;
                        break;
                    }
                    "default" => entries.push(Entry::default()),
                    known @ ("machine" | "login" | "password" | "account") => {
                        known.clone_into(&mut keyword);
                    }
                    _ => {}
                },
                // The value of an account, which HTTP has no use for, or a login of no machine.
                _ => {}
            }
        }
    }
    Ok(entries)
}

/// Takes the next word of a line. The error is a quotation mark that is not closed.
fn next_word(rest: &mut &str) -> Result<Option<String>, ()> {
    let text = rest.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, after) = text.split_at(end);
        *rest = after;
        return Ok((!word.is_empty()).then(|| word.to_owned()));
    };
    let mut word = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next().ok_or(())? {
            '"' => break,
            '\\' => word.push(match characters.next().ok_or(())? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            other => word.push(other),
        }
    }
    *rest = characters.as_str();
    Ok(Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The login and password of a host, with a colon between.
    fn found(text: &str, host: &str) -> Option<String> {
        let entries = entries(text).expect("quotation marks are closed");
        match chosen(&entries, host, None)? {
            Credential::Basic { user, password } => Some(format!("{user}:{}", password.reveal())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_are_found_by_host() {
        let text = "# a comment\nmachine other.org login x password y\nmacdef init\nmachine \
                    example.org password no\n\nmachine example.org\n  login me password #secret # that is it\n\
                    default login anonymous password guest\n";
        assert_eq!(found(text, "other.org").as_deref(), Some("x:y"));
        assert_eq!(found(text, "example.org").as_deref(), Some("me:#secret"));
        assert_eq!(
            found(text, "example.com").as_deref(),
            Some("anonymous:guest")
        );
        assert_eq!(found("machine a login b", "a"), None);
        assert_eq!(found("", "a"), None);
    }

    #[test]
    fn words_are_read_as_curl_reads_them() {
        for (text, host, expected) in [
            (
                r#"machine a login "m e" password "p \"q\" \\ r""#,
                "a",
                r#"m e:p "q" \ r"#,
            ),
            (r#"machine "a" login"#, "a", ""),
            (r#"machine "a" login m password "\t\n""#, "a", "m:\t\n"),
            (r#"machine a login m password p"q\r"#, "a", r#"m:p"q\r"#),
            (r#"machine a login "" password p"#, "a", ":p"),
            (
                "MACHINE Example.ORG Login M Password P",
                "example.org",
                "M:P",
            ),
            ("machine ::1 login m password p", "[::1]", "m:p"),
            ("machine [::1] login m password p", "[::1]", "m:p"),
            ("\u{feff}machine a login m password p", "a", "m:p"),
            ("machine a\r\nlogin\r\n m\r\n\r\npassword p\r\n", "a", "m:p"),
            ("machine a login m account x password p", "a", "m:p"),
            ("machine a login m account password password p", "a", "m:p"),
            (
                "machine a login machine password default",
                "a",
                "machine:default",
            ),
            (
                "machine a login m\nmachine a login n password p",
                "a",
                "n:p",
            ),
            ("machine a password #p\n#machine b password p", "a", ":#p"),
            (
                "default login d password p\nmachine a login m password q",
                "a",
                "m:q",
            ),
        ] {
            let expected = Some(expected).filter(|expected| !expected.is_empty());
            assert_eq!(found(text, host).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_quotation_mark_has_to_be_closed() {
        for (text, line) in [
            ("machine a\nlogin m password \"p", 2),
            ("machine a login \"m\\\" password p", 1),
            ("machine \"a\\", 1),
        ] {
            let error = entries(text).err();
            assert_eq!(error, Some(OpenQuote { line }), "{text}");
        }
    }
}
