//! Shapes of texts with many addresses, whose credentials are hidden.
//!
//! Hiding allocates little, so `INSTRUCTIONS=1` says more about these than allocations.

use pkgres_manifest::diagnostic::without_credentials;

use crate::Shape;

fn hide(input: &[u8]) {
    let shown = without_credentials(std::str::from_utf8(input).expect("a shape is text"));
    assert!(
        shown.len() <= 4 * input.len(),
        "a short secret becomes `***`"
    );
}

/// All shapes of addresses. Each is a text that is repeated without blanks between, so that it could be one address.
pub(crate) fn shapes() -> Vec<Shape> {
    let texts = [
        ("separators", "://"),
        ("users", "https://me:a@"),
        ("open passwords", "https://me:a"),
        ("addresses in queries", "https://h/?to="),
        ("secrets in queries", "https://h/?token=a&"),
        ("parameters", "?token=a&b"),
        ("at signs", "@"),
    ];
    let shape = |(name, text): (&str, &'static str)| Shape {
        name: format!("credentials: {name}"),
        make: Box::new(move |size| {
            let start = "https://me:";
            [start, &text.repeat(size / text.len())]
                .concat()
                .into_bytes()
        }),
        read: hide,
        limit: 1 << 20,
    };
    texts.into_iter().map(shape).collect()
}
