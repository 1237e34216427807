//! Sources of credentials.
//!
//! The [`HttpOptions`](super::HttpOptions) name the sources. The first source that has a credential is used: the
//! token in the options, the token file, a helper, the address itself, a netrc file.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pkgres_files::{
    FileError, Follow, RealFileSystem, lock_file, make_folder, open_file, read_file,
    read_open_file, write_private_file,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, quoted};
use pkgres_manifest::read_json;

use super::address::Address;
use super::credential::{Credential, Secret, TokenExchange};
use super::netrc::{self, OpenQuote};

/// The limit of a file with credentials and of the output of a helper, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The limit of a token, in bytes.
const MAX_TOKEN_BYTES: usize = 8 << 10;

/// The sources of the credentials of a registry. By default there are none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CredentialSources {
    /// A token, for example from the environment.
    pub token: Option<Secret>,
    /// The server that exchanges that token, if it does not authenticate requests itself.
    pub exchange: Option<TokenExchange>,
    /// The file that `pkgres login` writes.
    pub token_file: Option<PathBuf>,
    /// A program and its arguments: it gets the address as its last argument and writes a token to its
    /// standard output.
    pub helper: Option<Vec<String>>,
    /// A netrc file.
    pub netrc: Option<PathBuf>,
}

/// The error for credentials that cannot be looked up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Other users can read the token file.
    #[error("{}: others can read the tokens in it", .0.display())]
    Readable(PathBuf),
    /// The token file is damaged.
    #[error("{}: not a file of tokens", .0.display())]
    Damaged(PathBuf),
    /// The helper wrote no token.
    #[error("the credential helper `{program}` {reason}")]
    Helper {
        /// The program.
        program: String,
        /// The cause.
        reason: String,
    },
    /// A netrc file has a quotation mark that is not closed.
    #[error("{}:{line}: a quotation mark is not closed", .path.display())]
    OpenQuote {
        /// The netrc file.
        path: PathBuf,
        /// The line of the quotation mark, from 1.
        line: usize,
    },
    /// The text is not a token.
    #[error("a token is one line of visible ASCII characters, and not empty")]
    NotAToken,
}

impl CredentialError {
    /// The error as a finding, with what repairs the file that it is about.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let finding = Diagnostic::error(Code::Denied, self.to_string());
        match self {
            Self::Readable(path) => finding.hint(format!(
                "`chmod 600 {}` hides them; whoever could read them may have copied them",
                quoted(path)
            )),
            Self::Damaged(path) => finding.hint(format!(
                "repair {}, or remove it and store the tokens again with `pkgres login`",
                Escaped::path(path)
            )),
            Self::File(_) | Self::Helper { .. } | Self::OpenQuote { .. } | Self::NotAToken => {
                finding
            }
        }
    }
}

/// Where a credential was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialOrigin {
    /// The token of [`CredentialSources::token`].
    Token,
    /// The file that `pkgres login` writes.
    TokenFile,
    /// The program of [`CredentialSources::helper`].
    Helper(String),
    /// The address of the registry.
    Address,
    /// A netrc file.
    Netrc(PathBuf),
}

impl CredentialSources {
    /// The credentials for an address and where they are from, if there are any.
    pub fn find(
        &self,
        address: &Address,
    ) -> Result<Option<(Credential, CredentialOrigin)>, CredentialError> {
        if let Some(token) = &self.token {
            let token = checked(token.reveal())?;
            let credential = with_exchange(token, self.exchange.as_ref());
            return Ok(Some((credential, CredentialOrigin::Token)));
        }
        if let Some(path) = &self.token_file {
            let file = TokenFile::read(path)?;
            if let Some(token) = file.token(address) {
                let credential = with_exchange(checked(token)?, file.exchange(address));
                return Ok(Some((credential, CredentialOrigin::TokenFile)));
            }
        }
        if let Some(helper) = &self.helper
            && let Some(token) = run_helper(helper, address)?
        {
            let program = helper.first().cloned().unwrap_or_default();
            let origin = CredentialOrigin::Helper(program);
            return Ok(Some((Credential::Token(token), origin)));
        }
        // An address may name a user, and leave the password to the netrc file.
        let user = match &address.credential {
            None => None,
            Some(Credential::Basic { user, password }) if password.reveal().is_empty() => {
                Some(user.as_str())
            }
            Some(credential) => return Ok(Some((credential.clone(), CredentialOrigin::Address))),
        };
        if let (Some(path), Some(host)) = (&self.netrc, address.url().host_str())
            && let Some(credential) = from_netrc(path, host, user)?
        {
            return Ok(Some((credential, CredentialOrigin::Netrc(path.clone()))));
        }
        let of_address = address.credential.clone();
        Ok(of_address.map(|credential| (credential, CredentialOrigin::Address)))
    }
}

/// The credential of a token.
fn with_exchange(token: Secret, exchange: Option<&TokenExchange>) -> Credential {
    match exchange.cloned() {
        Some(exchange) => Credential::Exchanged { token, exchange },
        None => Credential::Token(token),
    }
}

/// Checks that a token can be sent in a header.
pub(super) fn checked(text: &str) -> Result<Secret, CredentialError> {
    let text = text.trim();
    let is_token = !text.is_empty()
        && text.len() <= MAX_TOKEN_BYTES
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token {
        Ok(Secret::new(text.to_owned()))
    } else {
        Err(CredentialError::NotAToken)
    }
}

/// The tokens that `pkgres login` keeps, by address. Names of registries would be unsafe: a project chooses the
/// names of its registries, and could send a token elsewhere.
#[derive(Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TokenFile {
    tokens: BTreeMap<String, String>,
    /// Where tokens are exchanged. A project must not say so: the token would go where it wants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    exchanges: BTreeMap<String, TokenExchange>,
}

/// Shows the addresses without their tokens.
impl fmt::Debug for TokenFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.tokens.keys()).finish()
    }
}

impl TokenFile {
    /// Reads the file, which need not exist.
    ///
    /// # Errors
    ///
    /// Other users can read the file, or it is damaged.
    pub fn read(path: &Path) -> Result<Self, CredentialError> {
        let file = match open_file(path, MAX_FILE_BYTES, Follow::Links) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        // The file that is open is asked: another one can be at the path by now.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let metadata = file.metadata().map_err(|source| FileError::System {
                action: "cannot read",
                path: path.to_owned(),
                source,
            })?;
            if metadata.mode() & 0o077 != 0 {
                return Err(CredentialError::Readable(path.to_owned()));
            }
        }
        let bytes = read_open_file(file, path, MAX_FILE_BYTES)?;
        read_json(&bytes).map_err(|_| CredentialError::Damaged(path.to_owned()))
    }

    /// The addresses with a token, sorted.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.tokens.keys().map(String::as_str)
    }

    /// The token for an address.
    pub fn token(&self, address: &Address) -> Option<&str> {
        self.tokens.get(address.as_str()).map(String::as_str)
    }

    /// The server that exchanges the token for an address, if it is exchanged.
    pub fn exchange(&self, address: &Address) -> Option<&TokenExchange> {
        self.exchanges.get(address.as_str())
    }

    /// Sets where the token for an address is exchanged.
    pub fn set_exchange(&mut self, address: &Address, exchange: Option<TokenExchange>) {
        let key = address.as_str().to_owned();
        match exchange {
            Some(exchange) => self.exchanges.insert(key, exchange),
            None => self.exchanges.remove(&key),
        };
    }

    /// Adds or replaces a token.
    pub fn set(&mut self, address: &Address, token: &str) -> Result<(), CredentialError> {
        let token = checked(token)?;
        self.tokens
            .insert(address.as_str().to_owned(), token.reveal().to_owned());
        Ok(())
    }

    /// Removes a token; returns whether there was one.
    pub fn remove(&mut self, address: &Address) -> bool {
        self.exchanges.remove(address.as_str());
        self.tokens.remove(address.as_str()).is_some()
    }

    /// Changes the file, which need not exist. Only its owner can read it. Processes that change it at the same time
    /// do so one after the other, so that none undoes what another one did.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read); the change fails; or the file cannot be written.
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, CredentialError>,
    ) -> Result<T, CredentialError> {
        if let Some(folder) = path.parent() {
            make_folder(&RealFileSystem, folder)?;
        }
        let _alone = lock_file(&path.with_extension("lock"))?;
        let mut tokens = Self::read(path)?;
        let result = change(&mut tokens)?;
        let text = serde_json::to_string_pretty(&tokens).expect("texts are valid JSON");
        write_private_file(&RealFileSystem, path, format!("{text}\n").as_bytes())?;
        Ok(result)
    }
}

/// Runs a credential helper. An empty output means that it has no token.
fn run_helper(helper: &[String], address: &Address) -> Result<Option<Secret>, CredentialError> {
    let Some((program, arguments)) = helper.split_first() else {
        return Ok(None);
    };
    let failed = |reason: String| CredentialError::Helper {
        program: program.clone(),
        reason,
    };
    let not_run = |error: io::Error| failed(format!("cannot be run: {error}"));
    // It may ask the user for a password, so that it has no time limit.
    let mut child = Command::new(program)
        .args(arguments)
        .arg(address.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(not_run)?;
    let stdout = child.stdout.take().expect("it is a pipe");
    let mut bytes = Vec::new();
    let read = stdout.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    let is_too_long = bytes.len() as u64 > MAX_FILE_BYTES;
    if is_too_long || read.is_err() {
        child.kill().map_err(not_run)?;
    }
    let status = child.wait().map_err(not_run)?;
    read.map_err(not_run)?;
    if is_too_long {
        return Err(failed(format!(
            "wrote more than the limit of {MAX_FILE_BYTES} bytes"
        )));
    }
    if !status.success() {
        return Err(failed(format!("failed: {status}")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| failed("wrote something that is not text".to_owned()))?;
    match text.trim() {
        "" => Ok(None),
        token => checked(token).map(Some),
    }
}

/// Looks up a host in a netrc file, which need not exist.
fn from_netrc(
    path: &Path,
    host: &str,
    user: Option<&str>,
) -> Result<Option<Credential>, CredentialError> {
    let bytes = match read_file(path, MAX_FILE_BYTES, Follow::Links) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = netrc::find(&String::from_utf8_lossy(&bytes), host, user);
    found.map_err(|OpenQuote { line }| CredentialError::OpenQuote {
        path: path.to_owned(),
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).expect("an address")
    }

    #[test]
    fn changes_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("credentials.json");
        let addresses: Vec<Address> = (0..16)
            .map(|at| address(&format!("https://example.org/{at}")))
            .collect();
        std::thread::scope(|scope| {
            for one in &addresses {
                scope.spawn(|| {
                    TokenFile::change(&path, |file| file.set(one, "token")).expect("it is ours");
                });
            }
        });
        let file = TokenFile::read(&path).expect("it can be read");
        assert!(addresses.iter().all(|one| file.token(one).is_some()));
    }

    #[test]
    fn tokens_are_kept_for_an_address_and_from_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("in/credentials.json");
        assert_eq!(
            TokenFile::read(&path).expect("none yet"),
            TokenFile::default()
        );
        let home = address("https://example.org/a");
        TokenFile::change(&path, |file| {
            file.set(&home, " token-1\n")?;
            assert!(file.set(&home, "two\nlines").is_err());
            assert!(file.set(&home, "").is_err());
            assert_eq!(format!("{file:?}"), r#"{"https://example.org/a/"}"#);
            Ok(())
        })
        .expect("it can be written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
            let mode = std::fs::metadata(&path).expect("it is there").mode();
            assert_eq!(mode & 0o777, 0o600);
            let sources = CredentialSources {
                token_file: Some(path.clone()),
                ..CredentialSources::default()
            };
            let found = sources.find(&home).expect("it can be read");
            let token = Credential::Token(Secret::new("token-1".to_owned()));
            assert_eq!(found, Some((token, CredentialOrigin::TokenFile)));
            let other = sources.find(&address("https://example.org/b"));
            assert_eq!(other.expect("it can be read"), None);
            let open = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(&path, open).expect("it is ours");
            let error = sources.find(&home).expect_err("others can read it");
            assert!(matches!(error, CredentialError::Readable(_)), "{error}");
            let hints = error.to_diagnostic().hints;
            assert!(hints[0].starts_with("`chmod 600 /"), "{hints:?}");
        }
    }

    #[test]
    fn a_netrc_file_has_the_password_of_a_user_in_an_address() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let netrc = folder.path().join("netrc");
        let text =
            "machine example.org login you password y\nmachine example.org login me password m\n";
        write_private_file(&RealFileSystem, &netrc, text.as_bytes()).expect("it can be written");
        let sources = CredentialSources {
            netrc: Some(netrc),
            ..CredentialSources::default()
        };
        let found = |text: &str| {
            let found = sources.find(&address(text)).expect("it can be read");
            match found.expect("a credential") {
                (Credential::Basic { user, password }, origin) => {
                    let is_netrc = matches!(origin, CredentialOrigin::Netrc(_));
                    (format!("{user}:{}", password.reveal()), is_netrc)
                }
                other => panic!("{other:?}"),
            }
        };
        for (address, expected, is_netrc) in [
            ("https://example.org/", "you:y", true),
            ("https://me@example.org/", "me:m", true),
            ("https://me:other@example.org/", "me:other", false),
            ("https://nobody@example.org/", "nobody:", false),
        ] {
            assert_eq!(found(address), (expected.to_owned(), is_netrc), "{address}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_helper_gets_the_address() {
        let sources = |script: &str| CredentialSources {
            helper: Some(["sh", "-c", script, "helper"].map(str::to_owned).to_vec()),
            ..CredentialSources::default()
        };
        let home = address("https://example.org/");
        let found = sources("echo for-$1").find(&home).expect("it answers");
        let token = Secret::new("for-https://example.org/".to_owned());
        let origin = CredentialOrigin::Helper("sh".to_owned());
        assert_eq!(found, Some((Credential::Token(token), origin)));
        assert_eq!(sources("true").find(&home).expect("it answers"), None);
        assert!(sources("exit 3").find(&home).is_err());
        let endless = sources("yes").find(&home).expect_err("it never ends");
        assert!(
            endless.to_string().contains("more than the limit"),
            "{endless}"
        );
    }
}
