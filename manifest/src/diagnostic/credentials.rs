//! Credentials in the addresses of a text, which are never shown.
//!
//! People write passwords and tokens into addresses, as in `https://me:secret@example.org/`. Messages quote such
//! addresses, and excerpts show the lines around them.

use std::borrow::Cow;
use std::ops::Range;

/// What is shown in place of credentials.
const HIDDEN: &str = "***";

/// What ends an address in a text.
const ENDS_ADDRESS: [char; 7] = ['"', '\'', '`', '<', '>', '{', '}'];

/// Parts of the names of query parameters whose values are secret.
const SECRET_PARAMETERS: [&str; 6] = ["token", "passw", "secret", "key", "sig", "auth"];

/// A text without the credentials in its addresses: `***` stands for users and passwords, and for the values of query
/// parameters such as `token`.
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

/// The places of credentials in the addresses of a text.
pub fn credentials(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let is_end =
            |character: char| character.is_whitespace() || ENDS_ADDRESS.contains(&character);
        let length = text[start..].find(is_end).unwrap_or(text.len() - start);
        let address = &text[start..start + length];
        let is_web = text[..at].ends_with("http") || text[..at].ends_with("https");
        let user = user_length(address, is_web);
        found.extend(user.map(|length| start..start + length));
        let before_host = user.unwrap_or_default();
        let Some(question) = address[before_host..].find('?') else {
            continue;
        };
        let query = before_host + question + 1;
        let values = secret_values(&address[query..]);
        found.extend(values.map(|value| start + query + value.start..start + query + value.end));
    }
    found.dedup_by(|next, one| next.start < one.end);
    found
}

/// The length of the user and password that an address begins with, after `://`. A user without a password counts only
/// on the web, where it is usually a token.
fn user_length(address: &str, is_web: bool) -> Option<usize> {
    let end = address.find(['/', '?', '#', ',']).unwrap_or(address.len());
    let host = &address[..end];
    if let Some(sign) = host.rfind('@') {
        let is_secret = if is_web {
            // A model is named by an address, and its release follows after an `@`.
            !host
                .split_once('@')
                .is_some_and(|(_, rest)| is_release(rest))
        } else {
            host[..sign].contains(':')
        };
        return is_secret.then_some(sign);
    }
    // A password with `/`, `?` or `#`: otherwise a port would follow the colon.
    let (_, port) = host.rsplit_once(':')?;
    let is_port = host.starts_with('[') || port.bytes().all(|byte| byte.is_ascii_digit());
    address.rfind('@').filter(|_| !is_port)
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
        let name_in_lower_case = name.to_ascii_lowercase();
        let is_secret = SECRET_PARAMETERS
            .iter()
            .any(|part| name_in_lower_case.contains(part));
        let value_at = at + name.len() + 1;
        (is_secret && !value.is_empty()).then_some(value_at..value_at + value.len())
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
