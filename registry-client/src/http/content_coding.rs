//! Content codings of responses (RFC 9110, section 8.4).
//!
//! Documents are requested with gzip, and decoded here. Artifacts are requested as they are, and never decoded: some
//! servers send an archive that is a gzip file with `Content-Encoding: gzip`, though nobody compressed it on the way. The
//! digest is that of the file.

use std::io::Write as _;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use reqwest::header::{self, HeaderMap};

use super::error::{AttemptError, ErrorKind};
use super::request::Content;

/// The bytes that are decoded at once. Gzip makes at most a thousand times as many of them.
const PIECE: usize = 4 << 10;

/// Decodes a body in pieces.
pub(super) enum Decoder {
    Identity,
    Gzip {
        decoder: Box<MultiGzDecoder<Vec<u8>>>,
        /// Whether there was a byte: an empty body is no gzip file.
        has_begun: bool,
    },
}

impl Decoder {
    /// The decoder of a response with these headers.
    pub(super) fn of(headers: &HeaderMap, content: Content) -> Result<Self, AttemptError> {
        if content == Content::Artifact {
            return Ok(Self::Identity);
        }
        let values = headers.get_all(header::CONTENT_ENCODING).iter();
        let codings: Vec<String> = values
            .flat_map(|value| value.to_str().unwrap_or("?").split(','))
            .map(|coding| coding.trim().to_ascii_lowercase())
            .filter(|coding| !coding.is_empty() && coding != "identity")
            .collect();
        match codings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(Self::Identity),
            ["gzip" | "x-gzip"] => Ok(Self::Gzip {
                decoder: Box::new(MultiGzDecoder::new(Vec::new())),
                has_begun: false,
            }),
            _ => {
                let codings = codings.join(", ");
                let reason = format!("it is in the content coding `{codings}`, not in gzip");
                Err(AttemptError::new(ErrorKind::Malformed, reason))
            }
        }
    }

    /// Decodes the next piece, and passes on what it contains.
    pub(super) fn decode(
        &mut self,
        piece: Bytes,
        take: &mut impl FnMut(Bytes) -> Result<(), AttemptError>,
    ) -> Result<(), AttemptError> {
        let Self::Gzip { decoder, has_begun } = self else {
            return take(piece);
        };
        for part in piece.chunks(PIECE) {
            *has_begun = true;
            decoder.write_all(part).map_err(|_| not_gzip())?;
            let decoded = std::mem::take(decoder.get_mut());
            if !decoded.is_empty() {
                take(decoded.into())?;
            }
        }
        Ok(())
    }

    /// Passes on the rest, at the end of the body.
    pub(super) fn finish(
        self,
        take: &mut impl FnMut(Bytes) -> Result<(), AttemptError>,
    ) -> Result<(), AttemptError> {
        match self {
            Self::Gzip {
                decoder,
                has_begun: true,
            } => {
                let rest = decoder.finish().map_err(|_| not_gzip())?;
                take(rest.into())
            }
            _ => Ok(()),
        }
    }
}

/// The error of a compressed body that is damaged or cut off. Another attempt may succeed.
fn not_gzip() -> AttemptError {
    let reason = "the compressed answer is damaged, or ends too early";
    AttemptError::transient(ErrorKind::Malformed, reason)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("memory can be written");
        encoder.finish().expect("memory can be written")
    }

    /// What a body in pieces of some bytes contains.
    fn decoded(
        coding: &str,
        content: Content,
        body: &[u8],
        piece: usize,
    ) -> Result<Vec<u8>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, coding.parse().expect("a header"));
        let mut all = Vec::new();
        let mut take = |bytes: Bytes| {
            all.extend_from_slice(&bytes);
            Ok(())
        };
        let mut decode = || {
            let mut decoder = Decoder::of(&headers, content)?;
            for piece in body.chunks(piece) {
                decoder.decode(Bytes::copy_from_slice(piece), &mut take)?;
            }
            decoder.finish(&mut take)
        };
        decode().map_err(|error: AttemptError| error.reason)?;
        Ok(all)
    }

    #[test]
    fn documents_are_decoded_and_artifacts_are_not() {
        let text = b"{} and so on ".repeat(10_000);
        let body = compressed(&text);
        for piece in [1, 7, 100_000] {
            for coding in ["gzip", "x-gzip", "GZIP", "identity, gzip"] {
                let found = decoded(coding, Content::Document, &body, piece);
                assert_eq!(found.as_deref(), Ok(&*text), "{coding}");
            }
            let found = decoded("gzip", Content::Artifact, &body, piece);
            assert_eq!(found.as_deref(), Ok(&*body));
        }
        let two = [compressed(b"a"), compressed(b"b")].concat();
        assert_eq!(
            decoded("gzip", Content::Document, &two, 5).as_deref(),
            Ok(&b"ab"[..])
        );
        assert_eq!(
            decoded("gzip", Content::Document, b"", 1).as_deref(),
            Ok(&b""[..])
        );
        assert_eq!(
            decoded("", Content::Document, b"a", 1).as_deref(),
            Ok(&b"a"[..])
        );
    }

    #[test]
    fn damaged_and_unknown_codings_are_errors() {
        let body = compressed(b"content");
        let mut other = body.clone();
        // A digit of the checksum.
        let at = other.len() - 8;
        other[at] ^= 1;
        for broken in [&body[..body.len() - 1], &body[..5], b"{}", &other] {
            let error = decoded("gzip", Content::Document, broken, 3).expect_err("it is broken");
            assert!(error.contains("damaged"), "{error}");
        }
        for coding in ["br", "gzip, gzip", "deflate"] {
            let error = decoded(coding, Content::Document, &body, 3).expect_err("it is unknown");
            assert!(error.contains(coding), "{error}");
        }
    }
}
