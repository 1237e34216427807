//! The encodings of NodeSet files: UTF-8, and those that other readers of XML accept as well.

use std::borrow::Cow;

/// The size of the largest file that is read, in bytes. The largest real one has 4 MB.
pub(super) const MAX_BYTES: u64 = 32 << 20;

/// What an XML declaration can need of the beginning of a file.
const DECLARATION_BYTES: usize = 200;

/// The text of a file in UTF-8: of UTF-16 with a byte order mark or a first `<`, and of ISO-8859-1 that is declared.
/// Anything else stays as it is, such as text in UTF-8, and text that is not what it says.
pub(super) fn in_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.len() as u64 > MAX_BYTES {
        return Cow::Borrowed(bytes);
    }
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => of_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => of_utf16(rest, u16::from_be_bytes),
        [b'<', 0, ..] => of_utf16(bytes, u16::from_le_bytes),
        [0, b'<', ..] => of_utf16(bytes, u16::from_be_bytes),
        _ if declares_latin1(bytes) => Some(bytes.iter().copied().map(char::from).collect()),
        _ => None,
    };
    text.map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
}

/// The text of UTF-16, which may end within a character, as the beginning of a file can.
fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units = bytes.chunks_exact(2).map(|two| unit([two[0], two[1]]));
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut characters = char::decode_utf16(units).peekable();
    while let Some(character) = characters.next() {
        match character {
            Ok(character) => text.push(character),
            Err(_) if characters.peek().is_none() => {}
            Err(_) => return None,
        }
    }
    Some(text)
}

fn declares_latin1(bytes: &[u8]) -> bool {
    declared(bytes).as_deref() == Some("iso-8859-1")
}

/// The encoding that an XML declaration names, in lower case.
pub(super) fn declared(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let end = memchr::memmem::find(head, b"?>").filter(|_| head.starts_with(b"<?xml"))?;
    let declaration = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
    let (_, stated) = declaration.split_once("encoding")?;
    let value = stated.trim_start_matches([' ', '\t', '\r', '\n', '=']);
    let quote = value
        .chars()
        .next()
        .filter(|next| matches!(next, '"' | '\''))?;
    let (name, _) = value[1..].split_once(quote)?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(&in_utf8(bytes)).into_owned()
    }

    #[test]
    fn declared_encodings_are_read() {
        let written = "<?xml version=\"1.0\"?><a>T\u{fc}r \u{1f527}</a>";
        assert_eq!(text(written.as_bytes()), written);
        let units = || written.encode_utf16();
        let little = units().flat_map(u16::to_le_bytes);
        let big = units().flat_map(u16::to_be_bytes);
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(little).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(big).collect();
        assert_eq!(text(&little), written);
        assert_eq!(text(&big), written);
        assert_eq!(text(&little[2..]), written);
        assert_eq!(text(&big[2..]), written);
        let cut = little.len() - 4 - "</a>".len() * 2 + 2;
        assert!(text(&little[..cut]).ends_with("T\u{fc}r "));
        let latin = b"<?xml version='1.0' encoding = 'ISO-8859-1'?><a>T\xfcr</a>";
        assert!(text(latin).ends_with("<a>T\u{fc}r</a>"));
    }

    #[test]
    fn anything_else_stays_as_it_is() {
        let lone = [0xff, 0xfe, 0x00, 0xd8, b'a', 0, b'b', 0];
        for bytes in [
            &b"<?xml version='1.0'?><a>T\xfcr</a>"[..],
            b"<a encoding='iso-8859-1'>T\xfcr?></a>",
            &lone,
            b"",
        ] {
            assert_eq!(in_utf8(bytes), Cow::Borrowed(bytes));
        }
    }
}
