//! Errors of PostgreSQL in words.

/// An error with what it comes from: on its own it only says "db error".
pub(super) fn told(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
