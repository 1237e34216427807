//! The extra fields of local and central headers.

use super::records::Fields;

/// Sizes and offsets that do not fit in 32 bits.
const LONG_FIELDS: u16 = 0x0001;

/// The extra fields that change nothing about an entry, and how long they can be.
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

/// What a 32-bit field says if its value stands in the extra fields.
const LONG: u32 = u32::MAX;

/// Reads the extra fields of a header, and the values of those of its 32-bit fields that stand in
/// there. `fields` are the ones for which this is possible, in the order of the format.
///
/// Fails with what is wrong, to be said after the name of the entry.
pub(super) fn long_values<const COUNT: usize>(
    extra: &[u8],
    fields: [u32; COUNT],
) -> Result<[u64; COUNT], String> {
    let mut long_fields = None;
    let mut seen = Vec::new();
    let mut rest = Fields::new(extra);
    while !rest.rest().is_empty() {
        let field = rest.u16().zip(rest.u16());
        let field = field.and_then(|(id, length)| Some((id, rest.take(length.into())?)));
        let Some((id, value)) = field else {
            return Err("has extra fields that are not well-formed".to_owned());
        };
        // Bounds the list as well: there are six.
        if seen.contains(&id) {
            return Err(format!("has the extra field {id:#06x} twice"));
        }
        seen.push(id);
        if id == LONG_FIELDS {
            long_fields = Some(value);
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

    let mut long_values = long_fields.map(Fields::new);
    if long_values.is_some() && !fields.contains(&LONG) {
        return Err("has zip64 values that no field refers to".to_owned());
    }
    let mut values = fields.map(u64::from);
    for value in values.iter_mut().filter(|value| **value == u64::from(LONG)) {
        *value = long_values
            .as_mut()
            .and_then(Fields::u64)
            .ok_or("lacks a zip64 value that a field refers to")?;
    }
    if long_values.is_some_and(|left| !left.rest().is_empty()) {
        return Err("has zip64 values that no field refers to".to_owned());
    }
    Ok(values)
}
