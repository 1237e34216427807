//! Parses the addresses of machines that are reached by ssh.

use std::fmt;

/// A host and, optionally, a user and a port, which otherwise come from the configuration of `ssh`.
///
/// ```
/// use pkgres_engine::SshAddress;
///
/// let address = SshAddress::parse("admin@[2001:db8::1]:2222").expect("it is an address");
/// assert_eq!(address.to_string(), "ssh://admin@[2001:db8::1]:2222");
/// assert_eq!(SshAddress::parse("-oProxyCommand=id"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshAddress {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
}

impl SshAddress {
    /// Reads `[user@]host[:port]`; `None` if the text is something else. An IPv6 address is in brackets.
    ///
    /// Names have letters, digits and a few marks, and do not begin with a hyphen: ssh would read an option, and
    /// programs that its configuration names might read more.
    pub fn parse(text: &str) -> Option<Self> {
        let (user, rest) = match text.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, text),
        };
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']')?;
                let is_address = host.contains(':');
                let port = after.strip_prefix(':');
                if !is_address || (port.is_none() && !after.is_empty()) {
                    return None;
                }
                (host, port)
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let is_ipv6 = rest.starts_with('[');
        let is_host = is_name(host, if is_ipv6 { ":.%_-" } else { "._-" });
        if !is_host || !user.is_none_or(|user| is_name(user, "._-+@")) {
            return None;
        }
        let port = match port {
            Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
            None => None,
        };
        Some(Self {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
        })
    }
}

fn is_name(text: &str, marks: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || marks.contains(letter);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_part)
}

impl fmt::Display for SshAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(formatter, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(formatter, "[{}]", self.host)?;
        } else {
            formatter.write_str(&self.host)?;
        }
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_read() {
        for text in [
            "web",
            "web-1.example.org",
            "root@web:22",
            "a@b@web",
            "u@[::1]",
            "[fe80::1%eth0]:22",
        ] {
            let address = SshAddress::parse(text).expect(text);
            assert_eq!(address.to_string(), format!("ssh://{text}"));
        }
        for text in [
            "",
            "@web",
            "web:",
            "web:0",
            "web:70000",
            "web:22:22",
            "-web",
            "-u@web",
            "a b",
            "web/etc",
            "we$b",
            "u`id`@web",
            "[web]",
            "[::1]22",
            "::1",
            "web\n",
        ] {
            assert_eq!(SshAddress::parse(text), None, "{text}");
        }
    }
}
