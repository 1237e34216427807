//! Guesses what users meant by a registry that cannot be parsed.

use std::path::Path;

use pkgres_manifest::most_similar;

/// Guesses which registry an invalid location was meant to name: it may lack the kind of a path or the scheme of a URL,
/// or misspell the kind.
pub(super) fn probably_meant(text: &str, base: &Path) -> Option<String> {
    let (name, text) = match text.split_once('=') {
        Some((name, text)) => (format!("{name}="), text),
        None => (String::new(), text),
    };
    if let Some(kind) = kind_of_path(text, base) {
        return Some(format!("{name}{kind}:{text}"));
    }
    let is_web = |text: &str| text.starts_with("https://") || text.starts_with("http://");
    if let Some((_, address)) = text.split_once(':').filter(|(_, rest)| is_web(rest)) {
        return Some(format!("{name}{address}"));
    }
    let Some((kind, rest)) = text.split_once(':') else {
        let host = text.split('/').next().unwrap_or_default();
        let is_host = host.split('.').count() > 2 && !host.split('.').any(str::is_empty);
        return is_host.then(|| format!("{name}https://{text}"));
    };
    if kind == "file" {
        let path = rest.trim_start_matches("//");
        let kind = kind_of_path(path, base)?;
        return Some(format!("{name}{kind}:{path}"));
    }
    let host = text.split(['/', ':']).next().unwrap_or_default();
    let port = rest.split('/').next().unwrap_or_default();
    if !port.is_empty() && port.parse::<u16>().is_ok() {
        let is_here = matches!(host, "localhost" | "127.0.0.1");
        let scheme = if is_here { "http" } else { "https" };
        return Some(format!("{name}{scheme}://{text}"));
    }
    let kind = if rest.starts_with("//") {
        "https"
    } else {
        most_similar(kind, ["dir", "index", "galaxy"])?
    };
    Some(format!("{name}{kind}:{rest}"))
}

/// The kind of registry that is at a path, if it exists.
fn kind_of_path(text: &str, base: &Path) -> Option<&'static str> {
    let path = base.join(text);
    if text.is_empty() {
        None
    } else if path.is_dir() {
        Some("dir")
    } else if path.is_file() {
        Some("index")
    } else {
        None
    }
}
