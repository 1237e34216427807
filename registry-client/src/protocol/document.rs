//! The documents of the index, which any web server can serve.

use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{ClassName, IndexReader, IndexRecord, PackageName, read_json};

use super::{Digest, Malformed};

/// The number of records for which memory is allocated in advance.
const MAX_RESERVED: usize = 1024;

/// All releases of one package: one index record per line, lowest version first.
///
/// ```
/// use pkgres_manifest::{IndexReader, IndexRecord, Limits, PackageName, Version};
/// use pkgres_registry_client::protocol::IndexDocument;
///
/// let name = PackageName::parse("org.acme.Db")?;
/// let release = |version| Ok::<_, Box<dyn std::error::Error>>(
///     IndexRecord::new(name.clone(), Version::parse(version)?));
/// let document = IndexDocument::render(&mut [release("2.0.0")?, release("1.10.0")?]);
/// assert!(document.bytes.starts_with(br#"{"name":"org.acme.Db","version":"1.10.0"}"#));
///
/// let mut reader = IndexReader::new(Limits::default());
/// let records = IndexDocument::parse("org.acme.Db", &document.bytes, &name, &mut reader)?;
/// assert_eq!(records[1].version.to_string(), "2.0.0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDocument {
    /// The body.
    pub bytes: Vec<u8>,
    /// Its digest.
    pub digest: Digest,
}

impl IndexDocument {
    /// Makes the document of the releases of one package, which are sorted by version.
    pub fn render(records: &mut [IndexRecord]) -> Self {
        records.sort_by(|one, two| one.version.cmp(&two.version));
        let mut bytes = Vec::new();
        for record in records {
            bytes.extend_from_slice(record.to_line().as_bytes());
            bytes.push(b'\n');
        }
        let digest = Digest::of(&bytes);
        Self { bytes, digest }
    }

    /// Reads a document. Each line must be about the package; `shown` is the name of the document in messages.
    pub fn parse(
        shown: &str,
        bytes: &[u8],
        package: &PackageName,
        reader: &mut IndexReader,
    ) -> Result<Vec<IndexRecord>, Diagnostic> {
        use pkgres_manifest::diagnostic::{Code, Escaped};

        let wrong = |message: String| Diagnostic::error(Code::IndexRecord, message);
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(Diagnostic::error(
                Code::Encoding,
                format!("{}: the text is not UTF-8", Escaped::new(shown)),
            ));
        };
        if !text.ends_with('\n') {
            return Err(wrong(format!(
                "{}: an index document ends with a line feed, this one was cut off or is empty",
                Escaped::new(shown)
            )));
        }
        let ends = memchr::memchr_iter(b'\n', bytes);
        let lines = ends.clone().count();
        let mut records: Vec<IndexRecord> = Vec::with_capacity(lines.min(MAX_RESERVED));
        let mut begin = 0;
        for (at, end) in ends.enumerate() {
            let line = &text[begin..end];
            let line = line.strip_suffix('\r').unwrap_or(line);
            begin = end + 1;
            // Only a message needs the text, which can be long, again.
            let locate =
                |span: Span| Location::new(&SourceText::from_line(shown, at + 1, line), span);
            let record = reader.read_line(line, &locate)?;
            if record.name != *package {
                let message = format!("the document of {package} has a record of {}", record.name);
                return Err(wrong(message).at(locate(Span::default())));
            }
            records.push(record);
        }
        Ok(records)
    }
}

/// The packages with a release that defines a class for others.
///
/// ```
/// use pkgres_registry_client::protocol::ClassDocument;
///
/// let text = br#"{"class":"org.acme.Web","packages":["org.acme.Web"]}"#;
/// let document = ClassDocument::parse(text)?;
/// assert_eq!(document.to_json().as_bytes(), text);
/// # Ok::<(), pkgres_registry_client::protocol::Malformed>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ClassDocument {
    /// The class.
    pub class: ClassName,
    /// The packages, sorted.
    pub packages: Vec<PackageName>,
}

impl ClassDocument {
    /// Reads the document.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        read_json(bytes).map_err(|error| Malformed::new("a class document", &error))
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names are valid JSON")
    }
}

/// A line of `names.ndjson`: the digest of an index document. The line, without its line feed, is
/// a leaf of the [`MerkleTree`](super::MerkleTree) of a snapshot.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::protocol::{Digest, NamesLine};
///
/// let line = NamesLine { name: PackageName::parse("org.acme.Db")?, sha256: Digest::of(b"") };
/// let all = NamesLine::parse_all(format!("{}\n", line.to_line()).as_bytes())?;
/// assert_eq!(all, [line]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamesLine {
    /// The package.
    pub name: PackageName,
    /// The digest of its index document.
    pub sha256: Digest,
}

impl NamesLine {
    /// The line, without a line feed.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("names and digests are valid JSON")
    }

    /// Reads all lines. Names must ascend, and each line must be as [`to_line`](Self::to_line) writes it, because its
    /// bytes are signed.
    pub fn parse_all(bytes: &[u8]) -> Result<Vec<Self>, Malformed> {
        let wrong = |reason: String| Malformed::new("a list of names", &reason);
        let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(wrong("it was cut off".to_owned()));
        }
        let mut all: Vec<Self> = Vec::new();
        // Not `lines`, which takes a carriage return away: that is no canonical form.
        for (at, line) in text.split_terminator('\n').enumerate() {
            let number = at + 1;
            let read: Self = read_json(line.as_bytes())
                .map_err(|error| wrong(format!("line {number}: {error}")))?;
            if read.to_line() != line {
                return Err(wrong(format!("line {number} is not in the canonical form")));
            }
            if all.last().is_some_and(|last| last.name >= read.name) {
                return Err(wrong(format!("line {number} is out of order")));
            }
            all.push(read);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Limits;

    use super::*;

    fn parse(text: &str) -> Result<Vec<IndexRecord>, Diagnostic> {
        let name = PackageName::parse("a.B").expect("a name");
        let mut reader = IndexReader::new(Limits::default());
        IndexDocument::parse("a.B", text.as_bytes(), &name, &mut reader)
    }

    #[test]
    fn a_document_is_about_one_package_and_ends() {
        let line = r#"{"name":"a.B","version":"1.0.0"}"#;
        assert_eq!(
            parse(&format!("{line}\n{line}\n")).map(|all| all.len()),
            Ok(2)
        );
        let other = r#"{"name":"a.C","version":"1.0.0"}"#;
        let error = parse(&format!("{line}\n{other}\n")).expect_err("it is another package");
        assert!(error.to_string().starts_with("a.B:2:1: "), "{error}");
        for bad in ["", line, "{}\n"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_ascend_and_are_written_in_one_way() {
        let line = |name: &str| {
            format!(
                "{{\"name\":\"{name}\",\"sha256\":\"{}\"}}\n",
                Digest::of(b"")
            )
        };
        let read = |text: &str| NamesLine::parse_all(text.as_bytes());
        assert_eq!(read("").map(|all| all.len()), Ok(0));
        assert_eq!(read(&(line("a") + &line("b"))).map(|all| all.len()), Ok(2));
        for bad in [
            line("b") + &line("a"),
            line("a") + &line("a"),
            line("a").trim_end().to_owned(),
            line("a").replace(',', ", "),
            line("a").replace('\n', "\r\n"),
            line("a").replace('}', ",\"more\":1}"),
            line("1"),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}
