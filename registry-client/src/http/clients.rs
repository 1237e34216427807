//! HTTP clients with their certificates and proxies.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, redirect};
use url::Url;

use super::address::{is_loopback, shown};
use super::error::{AttemptError, ErrorKind};
use super::options::HttpOptions;
use super::redirect::require_web;

/// The timeout for connecting. [`NetworkLimits`](super::NetworkLimits) has those for responses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The clients of one registry, each made on first use: loading certificates takes time.
#[derive(Default)]
pub(super) struct Clients {
    /// For this machine, which no proxy is used for.
    local: ClientsBySecurity,
    /// For other machines.
    remote: ClientsBySecurity,
}

/// Clients that use the same proxy.
#[derive(Default)]
struct ClientsBySecurity {
    secure: OnceLock<Client>,
    /// For `http`, without certificates.
    plain: OnceLock<Client>,
}

impl Clients {
    /// The client for an address.
    pub(super) fn of(&self, url: &Url, options: &HttpOptions) -> Result<&Client, AttemptError> {
        require_web(url, "it refers to")?;
        let (is_plain, is_local) = (url.scheme() == "http", is_loopback(url));
        if is_plain && !options.allow_plain_http && !is_local {
            let reason = format!("{} is another machine", shown(url));
            return Err(AttemptError::new(ErrorKind::Plain, reason));
        }
        let kept = if is_local { &self.local } else { &self.remote };
        let kept = if is_plain { &kept.plain } else { &kept.secure };
        if let Some(client) = kept.get() {
            return Ok(client);
        }
        let client = build(options, is_plain, is_local)
            .map_err(|error| AttemptError::of_library(ErrorKind::Unreachable, error))?;
        Ok(kept.get_or_init(|| client))
    }
}

fn build(options: &HttpOptions, is_plain: bool, is_local: bool) -> Result<Client, reqwest::Error> {
    // The first to install a provider decides for the whole program; any is sufficient.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("pkgres/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        // `Transport` retries, and counts.
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_adaptive_window(true);
    if is_local || !options.system_proxy {
        builder = builder.no_proxy();
    }
    if is_plain {
        builder = builder.tls_certs_only([]);
    } else {
        for authority in &options.authorities {
            builder = builder.tls_certs_merge(reqwest::Certificate::from_pem_bundle(authority)?);
        }
    }
    builder.build()
}
