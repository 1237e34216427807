//! The extra fields of local and central headers, of which few are allowed.

use super::zip_records::Fields;

/// The field of zip64: sizes and offsets that do not fit in 32 bits.
const ZIP64_FIELD: u16 = 0x0001;

/// The extra fields that do not change an entry, each with its greatest length.
const HARMLESS: [(u16, usize); 5] = [
    // NTFS: three timestamps.
    (0x000a, 32),
    // Flags and up to three timestamps.
    (0x5455, 13),
    // Two timestamps, user and group.
    (0x5855, 12),
    // User and group, of up to eight bytes.
    (0x7875, 19),
    // The mark of a jar.
    (0xcafe, 0),
];

/// The value of a 32-bit field whose real value is in the zip64 field.
const IN_ZIP64_FIELD: u32 = u32::MAX;

/// The real values of 32-bit fields of a header, from the fields themselves or from the zip64 field among
/// its extra fields. `fields` are in the order that the format gives them there.
///
/// The error continues a sentence that begins with the name of the entry.
pub(super) fn zip64_values<const COUNT: usize>(
    extra: &[u8],
    fields: [u32; COUNT],
) -> Result<[u64; COUNT], String> {
    let mut zip64_field = None;
    let mut seen = Vec::new();
    let mut rest = Fields::new(extra);
    while !rest.rest().is_empty() {
        let field = rest.u16().zip(rest.u16());
        let field = field.and_then(|(id, length)| Some((id, rest.take(length.into())?)));
        let Some((id, value)) = field else {
            return Err("has extra fields that are not well-formed".to_owned());
        };
        // This bounds the list as well: only six fields are allowed.
        if seen.contains(&id) {
            return Err(format!("has the extra field {id:#06x} twice"));
        }
        seen.push(id);
        if id == ZIP64_FIELD {
            zip64_field = Some(value);
        } else {
            match HARMLESS.iter().find(|(harmless, _)| *harmless == id) {
                Some((_, longest)) if value.len() <= *longest => {}
                Some(_) => return Err(format!("has an extra field {id:#06x} that is too long")),
                None => {
                    return Err(format!(
                        "has the extra field {id:#06x}, which is not allowed"
                    ));
                }
            }
        }
    }

    let mut zip64_values = zip64_field.map(Fields::new);
    if zip64_values.is_some() && !fields.contains(&IN_ZIP64_FIELD) {
        return Err("has zip64 values that no field refers to".to_owned());
    }
    let mut values = fields.map(u64::from);
    for value in values
        .iter_mut()
        .filter(|value| **value == u64::from(IN_ZIP64_FIELD))
    {
        *value = zip64_values
            .as_mut()
            .and_then(Fields::u64)
            .ok_or("lacks a zip64 value that a field refers to")?;
    }
    if zip64_values.is_some_and(|left| !left.rest().is_empty()) {
        return Err("has zip64 values that no field refers to".to_owned());
    }
    Ok(values)
}
