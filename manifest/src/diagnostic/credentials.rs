//! Credentials in the addresses of a text, which are never shown.
//!
//! People write passwords and tokens into addresses, as in `https://me:secret@example.org/`. Messages quote such
//! addresses, and excerpts show the lines around them.

use std::borrow::Cow;
use std::ops::Range;

/// What is shown in place of credentials.
const HIDDEN: &str = "***";

/// What ends an address in a text, besides blanks. A password can have `'`, `{` and `}`.
const ENDS_ADDRESS: [char; 4] = ['"', '`', '<', '>'];

/// The separator after the scheme of an address.
const AFTER_SCHEME: &str = "://";

/// Words in the names of query parameters whose values are secret.
const SECRET_WORDS: [&str; 13] = [
    "apikey",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "key",
    "pass",
    "passwd",
    "password",
    "secret",
    "sig",
    "signature",
    "token",
];

/// Ends of such words that have no separator before them, as in `accessToken`.
const SECRET_ENDINGS: [&str; 7] = [
    "apikey",
    "credential",
    "passwd",
    "password",
    "secret",
    "signature",
    "token",
];

/// Hides the credentials in the addresses of a text: users, passwords, and the values of query parameters such as `token`
/// become `***`.
///
/// ```
/// use pkgres_manifest::diagnostic::without_credentials;
///
/// let text = "source: https://me:secret@example.org/";
/// assert_eq!(without_credentials(text), "source: https://***@example.org/");
/// ```
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut after = 0;
    for found in credentials(text) {
        shown.push_str(&text[after..found.start]);
        shown.push_str(HIDDEN);
        after = found.end;
    }
    if after == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[after..]);
    Cow::Owned(shown)
}

/// The places of credentials in the addresses of a text, in ascending order. Takes time linear in the text.
pub fn credentials(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut marks = text.match_indices(AFTER_SCHEME).peekable();
    let (mut is_in_query, mut is_in_password) = (false, false);
    while let Some((at, mark)) = marks.next() {
        let start = at + mark.len();
        // An address in the query of another one is looked at by itself.
        let next = marks.peek().map_or(text.len(), |(next, _)| *next);
        let run = &text[start..next];
        let is_end =
            |character: char| character.is_whitespace() || ENDS_ADDRESS.contains(&character);
        let end = run.find(is_end);
        let address = &run[..end.unwrap_or(run.len())];
        let is_cut = end.is_none() && next < text.len();
        let user = user_length(address, is_web(&text[..at]) || is_in_password, is_cut);
        is_in_password = is_cut && user == Some(address.len());
        found.extend(user.map(|length| start..start + length));
        let before_host = user.unwrap_or_default();
        // The query of an address goes on behind another address in it.
        let begins_query = if is_in_query { ['?', '&'] } else { ['?'; 2] };
        let question = address[before_host..].find(begins_query);
        is_in_query = is_cut && (is_in_query || question.is_some());
        let Some(question) = question else {
            continue;
        };
        let query = before_host + question + 1;
        let values = secret_values(&address[query..]);
        found.extend(values.map(|value| start + query + value.start..start + query + value.end));
    }
    found
}

/// Whether the scheme at the end of a text is one of the web.
fn is_web(before: &str) -> bool {
    ["http", "https"].iter().any(|scheme| {
        let at = before.len().checked_sub(scheme.len());
        at.and_then(|at| before.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(scheme))
    })
}

/// The length of the user and password that an address begins with, after `://`. A user without a password counts only
/// on the web, where it is usually a token. An address that is cut goes on with another `://`.
fn user_length(address: &str, is_web: bool, is_cut: bool) -> Option<usize> {
    let end = address.find(['/', '?', '#', ',']).unwrap_or(address.len());
    let host = &address[..end];
    if let Some(sign) = host.rfind('@') {
        let user = &host[..sign];
        let is_secret = if user.contains(':') {
            true
        } else if is_web {
            // A model is named by an address, and its release follows after an `@`.
            let (_, rest) = host.split_once('@').unwrap_or_default();
            !is_release(rest)
        } else {
            false
        };
        return is_secret.then_some(sign);
    }
    // A password with `/`, `?` or `#`: otherwise a port would follow the colon.
    let (_, port) = host.rsplit_once(':')?;
    if host.starts_with('[') || port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let sign = address.rfind('@');
    sign.or_else(|| is_cut.then_some(address.len()))
}

/// Whether a text is a version with a date, such as `1.04@2020-01-01`, and not the number of a host.
fn is_release(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_digit() || "@.:+-TZ".contains(character);
    let host = text.split(':').next().unwrap_or_default();
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(is_part)
        && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// The places of secret values in a query.
fn secret_values(query: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    query.split(['&', '#']).filter_map(move |pair| {
        let at = start;
        start += pair.len() + 1;
        let (name, value) = pair.split_once('=')?;
        let value_at = at + name.len() + 1;
        (is_secret_name(name) && !value.is_empty()).then_some(value_at..value_at + value.len())
    })
}

/// Whether a query parameter of a name has a secret value.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|character: char| !character.is_ascii_alphanumeric());
    words.any(|word| {
        SECRET_WORDS.contains(&word) || SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown) in [
            ("https://me:secret@host/x", "https://***@host/x"),
            ("a=https://token@host,dir:x@y", "a=https://***@host,dir:x@y"),
            (
                "git+https://me:a@b@host.example",
                "git+https://***@host.example",
            ),
            ("`http://me:a/b?c@host` b@c", "`http://***@host` b@c"),
            ("https://token@127.0.0.1:80/", "https://***@127.0.0.1:80/"),
            ("postgres://me:secret@host/x", "postgres://***@host/x"),
            (
                "https://host/x?a=1&private_token=secret&b=2 https://t@h",
                "https://host/x?a=1&private_token=***&b=2 https://***@h",
            ),
            (
                "https://host/?accessToken=a",
                "https://host/?accessToken=***",
            ),
            ("'https://me:it's{a}@host/'", "'https://***@host/'"),
            ("HTTPS://token@host/", "HTTPS://***@host/"),
            ("https://me:secret@10.1/", "https://***@10.1/"),
            ("https://me:a://b@host/", "https://***://***@host/"),
            (
                "https://x/?to=https://me:secret@y/&token=t",
                "https://x/?to=https://***@y/&token=***",
            ),
        ] {
            assert_eq!(without_credentials(text), shown);
            assert_eq!(without_credentials(shown), shown);
        }
    }

    #[test]
    fn everything_else_is_shown() {
        for text in [
            "plain",
            "a@b",
            "https://host:8080/a@b",
            "https://host/?since=3&limit=1",
            "https://host/?author=bob&keywords=net&design=1",
            "http://[::1]/a@b",
            "ssh://root@web1:22",
            "http://acme.example@1.04@2020-01-01",
            "http://acme.example/@1.04@2020-01-01T12:00:00Z",
            "://",
        ] {
            assert_eq!(without_credentials(text), text);
        }
    }
}
