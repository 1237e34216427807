//! Small values: versions, specs, names, digests, formats, paths.

use std::collections::HashSet;

use pkgres_manifest::{
    ArtifactDigest, ClassName, PackageFormat, PackageName, PackagePath, RegistryName,
    ReleaseSource, Spec, SupportedFormats, Version,
};

use crate::property::{is_safe, is_safe_line};
use crate::seeds::texts;
use crate::target::Target;

/// The fuzz targets of small values.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "version",
        run: version,
        seeds: || {
            texts(&[
                "1.2.3-rc.1+build.5",
                "1.10",
                "v1.2",
                "18446744073709551615.0.0-0",
                "1.2.3.4",
                "2024.01.02b3.post1.dev2",
                " =1!2.0a1",
            ])
        },
        words: &[
            ".",
            "-",
            "+",
            "0",
            "rc",
            "18446744073709551615",
            "post",
            "\u{661}",
        ],
        quick: 20_000,
    },
    Target {
        name: "spec",
        run: spec,
        seeds: || {
            texts(&[
                ">=1.2,<3 !=2.0.0-rc.1",
                "^1.2.3 || ~0.4",
                "1.2.x",
                "==1.0.0",
                ">=0.0.0-0",
                "*",
                "~>1.2",
                "1.2 - 2.0",
                "",
            ])
        },
        words: &[
            ">=",
            "<=",
            "<",
            ">",
            "!=",
            "==",
            "^",
            "~",
            "~>",
            "*",
            ",",
            "||",
            " - ",
            "x",
            "-0",
            "1.0.0-a",
            "18446744073709551615",
        ],
        quick: 10_000,
    },
    Target {
        name: "names",
        run: names,
        seeds: || {
            texts(&[
                "io.murano.applications.Web",
                "murano-plugin-networking-sfc",
                "con.x",
                "COM1 .txt",
                "LPT\u{b9}",
                "tree:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "MuranoPL/1.4",
                "Heat.HOT/1.0",
                "Classes/Web.yaml",
                "Resources/stra\u{df}e/\u{1e9e}.txt",
                "host",
            ])
        },
        words: &[
            ".", "/", "..", "-", "nul", "aux", "COM1", " ", "\u{200b}", "\u{301}", "tree:",
        ],
        quick: 20_000,
    },
];

/// A version is written as it reads, its order agrees with equality, and errors name a version.
fn version(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    // Two versions with a line break between them are compared.
    let mut read = Vec::new();
    for part in text.splitn(2, '\n') {
        match Version::parse(part) {
            Ok(version) => read.push(version),
            Err(error) => {
                is_safe(&error);
                if let Some(nearest) = error.nearest {
                    let again = Version::parse(&nearest.to_string());
                    assert_eq!(again.as_ref(), Ok(&nearest), "the nearest version is one");
                    read.push(nearest);
                }
            }
        }
    }
    for version in &read {
        let written = version.to_string();
        is_safe_line(&written);
        let again = Version::parse(&written).expect("a version reads as it is written");
        assert_eq!(again.to_string(), written);
        assert_eq!(&again, version);
        assert_eq!(again.build(), version.build());
        let spec = Spec::exactly(version);
        assert!(spec.matches(version), "{spec} is exactly {version}");
    }
    if let [one, other] = &read[..] {
        assert_eq!(one.cmp(other), other.cmp(one).reverse());
        assert_eq!(one == other, HashSet::from([one, other]).len() == 1);
        assert_eq!(Spec::exactly(one).matches(other), one == other);
    }
}

/// A spec means the same after it is written, and in its normal form, for any version.
fn spec(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (text, tried) = text.split_once('\n').unwrap_or((text, "1.2.3-rc.1"));
    let spec = match Spec::parse(text) {
        Ok(spec) => spec,
        Err(error) => return is_safe(&error),
    };
    let again = Spec::parse(spec.written()).expect("a spec reads as it is written");
    assert_eq!(again, spec);
    is_safe_line(&spec.written().replace('\t', " "));
    let normal = spec.normal_form();
    if let Ok(normal) = Spec::parse(&normal) {
        assert_eq!(normal.set(), spec.set(), "the normal form of {spec}");
    } else {
        let is_long = normal.len() > pkgres_manifest::MAX_SPEC_BYTES;
        let has_many = normal.split([',', ' ', '|']).count() > pkgres_manifest::MAX_SPEC_CLAUSES;
        assert!(is_long || has_many, "{normal} is the normal form of {spec}");
    }
    if let Ok(version) = Version::parse(tried) {
        assert_eq!(again.matches(&version), spec.matches(&version));
        assert_eq!(
            spec.matches(&version),
            spec.matches(&version.without_build())
        );
    }
}

/// Each name, digest, format and path reads as it is written, and the quick checks agree with the readers.
fn names(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match PackageName::parse(text) {
        Ok(name) => {
            assert_eq!(name.as_str(), text);
            is_safe_line(text);
            assert_eq!(PackageName::parse_own(text).is_ok(), !text.contains('-'));
            assert_eq!(name.as_class().is_some(), !text.contains('-'));
        }
        Err(error) => {
            is_safe(&error);
            assert!(!PackageName::is_name(text));
            assert!(!ClassName::is_name(text), "a class can be a package");
        }
    }
    if let Err(error) = ClassName::parse(text) {
        is_safe(&error);
    }
    match RegistryName::parse(text) {
        Ok(name) => is_safe(&name),
        Err(error) => is_safe(&error),
    }
    if let Ok(source) = ReleaseSource::parse(text) {
        assert_eq!(source.as_str(), text);
    }
    match ArtifactDigest::parse(text) {
        Ok(digest) => assert_eq!(digest.to_string(), text),
        Err(error) => is_safe(&error),
    }
    match PackageFormat::parse(text, &SupportedFormats::default()) {
        Ok(format) => {
            let again = PackageFormat::parse(&format.to_string(), &SupportedFormats::default());
            assert_eq!(again, Ok(format));
        }
        Err(error) => is_safe(&error),
    }
    match PackagePath::parse(text) {
        Ok(path) => {
            assert_eq!(path.as_str(), text);
            is_safe_line(text);
            assert!(!text.starts_with('/') && !text.contains('\\'));
            let mut parts = text.split('/');
            assert!(!parts.any(|part| matches!(part, "" | "." | "..")));
        }
        Err(error) => is_safe(&error),
    }
}
