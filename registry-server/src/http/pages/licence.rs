//! Recognizes a licence from its text.

use super::text;
use crate::readme_and_licence::PackageText;

/// Texts that licences have, with their identifiers of SPDX. The first one whose texts all occur is taken.
const KNOWN: &[(&str, &[&str])] = &[
    ("Apache-2.0", &["apache license", "version 2.0"]),
    (
        "AGPL-3.0",
        &["gnu affero general public license", "version 3"],
    ),
    (
        "LGPL-3.0",
        &["gnu lesser general public license", "version 3"],
    ),
    (
        "LGPL-2.1",
        &["gnu lesser general public license", "version 2.1"],
    ),
    ("GPL-3.0", &["gnu general public license", "version 3"]),
    ("GPL-2.0", &["gnu general public license", "version 2"]),
    ("MPL-2.0", &["mozilla public license", "2.0"]),
    (
        "MIT",
        &[
            "permission is hereby granted, free of charge",
            "above copyright notice",
        ],
    ),
    (
        "ISC",
        &["permission to use, copy, modify, and/or distribute this software"],
    ),
    (
        "BSD-3-Clause",
        &[
            "redistribution and use in source and binary forms",
            "neither the name",
        ],
    ),
    (
        "BSD-2-Clause",
        &["redistribution and use in source and binary forms"],
    ),
    (
        "Unlicense",
        &["free and unencumbered software released into the public domain"],
    ),
];

/// How much of a text decides, in bytes: some licences mention others further down.
const START: usize = 4096;

/// The name of a licence: the identifier that the text states, that of a well-known text, or else the name of the file.
pub(super) fn name(licence: &PackageText) -> String {
    let stated = licence
        .text
        .lines()
        .find_map(|line| line.split_once("SPDX-License-Identifier:"));
    if let Some((_, identifier)) = stated {
        return text::beginning(identifier, 60);
    }
    let end = licence.text.floor_char_boundary(START);
    let words: Vec<&str> = licence.text[..end].split_whitespace().collect();
    let start = words.join(" ").to_lowercase();
    let known = KNOWN
        .iter()
        .find(|(_, parts)| parts.iter().all(|part| start.contains(part)));
    known
        .map_or(&*licence.file, |(identifier, _)| identifier)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_known_by_their_texts() {
        for (text, expected) in [
            (
                "  Apache License\n  Version 2.0, January 2004\n",
                "Apache-2.0",
            ),
            (
                "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007",
                "GPL-3.0",
            ),
            (
                "GNU Lesser General\nPublic License\nVersion 2.1",
                "LGPL-2.1",
            ),
            (
                "Permission is hereby granted, free\nof charge, to any person. The above copyright\nnotice and",
                "MIT",
            ),
            (
                "SPDX-License-Identifier: EUPL-1.2\nApache License Version 2.0",
                "EUPL-1.2",
            ),
            ("All rights reserved.", "LICENSE"),
            ("", "LICENSE"),
        ] {
            let licence = PackageText {
                file: "LICENSE".to_owned(),
                text: text.to_owned(),
                is_cut: false,
            };
            assert_eq!(name(&licence), expected, "{text}");
        }
    }
}
