//! Reads the Galaxy servers that an `ansible.cfg` names.

/// The file in which `ansible-galaxy` finds its servers.
pub const CONFIGURATION_FILE: &str = "ansible.cfg";

/// The names and URLs of the servers in the `server_list` of an [`CONFIGURATION_FILE`], in its order of preference.
/// Mistakes in the file are left out.
///
/// ```
/// use pkgres_formats::ansible::configured_servers;
///
/// let text = "[galaxy]\nserver_list = hub\n[galaxy_server.hub]\nurl = https://hub.acme.example/\n";
/// let servers = configured_servers(text);
/// assert_eq!(servers, [("hub", "https://hub.acme.example/")]);
/// ```
pub fn configured_servers(text: &str) -> Vec<(&str, &str)> {
    let names = value(text, "galaxy", "server_list").unwrap_or_default();
    let names = names.split(',').map(str::trim);
    let servers = names.filter_map(|name| {
        let url = value(text, &format!("galaxy_server.{name}"), "url")?;
        (url.starts_with("https://") || url.starts_with("http://")).then_some((name, url))
    });
    servers.collect()
}

/// The value of a key in a section.
fn value<'text>(text: &'text str, section: &str, key: &str) -> Option<&'text str> {
    let mut is_here = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            is_here = name == section;
        } else if is_here
            && let Some((name, value)) = line.split_once(['=', ':'])
            && name.trim().eq_ignore_ascii_case(key)
        {
            // A comment begins with a semicolon behind a blank.
            return value.split(" ;").next().map(str::trim);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_those_of_the_list_in_its_order() {
        let text = "[galaxy_server.b]\nURL: http://b.example/ ; not c\n[galaxy_server.a]\n# url = no\nurl=https://a.example/x\n\
                    [galaxy_server.c]\nurl=c\n[galaxy_server.other]\nurl=https://other.example\n\
                    [galaxy]\ncache_dir = x\nserver_list = a, b,c , d\n";
        assert_eq!(
            configured_servers(text),
            [("a", "https://a.example/x"), ("b", "http://b.example/")]
        );
        assert_eq!(configured_servers(""), []);
        assert_eq!(configured_servers("[galaxy]\nserver_list=\n[\n=\n"), []);
        assert_eq!(
            configured_servers("server_list=a\n[galaxy_server.a]\nurl=https://a\n"),
            []
        );
    }
}
