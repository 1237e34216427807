//! How registries on the network are asked: what the environment and the user's files say.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pkgres_files::{Follow, read_file};
use pkgres_registry_client::HttpOptions;

use crate::args::NetworkArgs;
use crate::credentials;
use crate::environment::folder;
use crate::failure::Result;
use crate::place::Place;

/// The variable that names the folder of what was seen of registries. It is not that of the cache:
/// what is in it must not be removed lightly.
const STATE_VARIABLE: &str = "PKGRES_STATE";

/// The largest file of certificates, in bytes.
const MAX_CERTIFICATE_BYTES: u64 = 4 << 20;

/// How many threads read what registries have at most: more do not help.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

/// How a registry is asked.
pub(crate) fn options(
    args: &NetworkArgs,
    place: &Place,
    cache_folder: Option<PathBuf>,
) -> Result<HttpOptions> {
    let mut options = HttpOptions::new(jiff::Timestamp::now());
    options.threads = std::thread::available_parallelism()
        .map_or(NonZeroUsize::MIN, |threads| threads.min(MAX_THREADS));
    // What only matters on the network is not looked at for other registries.
    if place.location.address().is_none() {
        return Ok(options);
    }
    options.cache_folder = cache_folder;
    options.state_folder = folder(STATE_VARIABLE, "XDG_STATE_HOME", ".local/state");
    options.offline = args.offline;
    options.allow_plain_http = args.allow_http;
    options.system_proxy = true;
    options.key = place.key;
    for path in args.ca_files.iter().chain(&place.ca) {
        let bytes = read_file(path, MAX_CERTIFICATE_BYTES, Follow::Links)?;
        options.authorities.push(bytes);
    }
    options.credentials = credentials::sources(&place.location.name)?;
    Ok(options)
}
