//! What connections are made with: certificates, proxies and patience.

use std::cell::OnceCell;
use std::time::Duration;

use reqwest::{Client, redirect};
use url::Url;

use super::address::{is_loopback, shown};
use super::fault::{Fault, FaultKind, told};
use super::options::HttpOptions;

/// How long it may take to be connected, and how long nothing may arrive.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The clients of one registry, each made when it is needed first.
#[derive(Default)]
pub(super) struct Clients {
    secure: OnceCell<Client>,
    /// There is no need for certificates without `https`.
    plain: OnceCell<Client>,
}

impl Clients {
    /// The client for an address.
    pub(super) fn of(&self, url: &Url, options: &HttpOptions) -> Result<&Client, Fault> {
        let is_plain = match url.scheme() {
            "https" => false,
            "http" if options.allow_plain_http || is_loopback(url) => true,
            _ => {
                let reason = format!("{} is another machine", shown(url));
                return Err(Fault::new(FaultKind::Plain, reason));
            }
        };
        let kept = if is_plain { &self.plain } else { &self.secure };
        if let Some(client) = kept.get() {
            return Ok(client);
        }
        let client = build(options, is_plain, is_loopback(url))
            .map_err(|error| Fault::new(FaultKind::Unreachable, told(&error)))?;
        Ok(kept.get_or_init(|| client))
    }
}

fn build(options: &HttpOptions, is_plain: bool, is_local: bool) -> Result<Client, reqwest::Error> {
    // Whoever is first decides for the whole program; that somebody was is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("pkgres/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        // What did not work is sent again here, and counted.
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
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
