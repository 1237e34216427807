//! Settings files.

use std::path::Path;

use pkgres_formats::ALL;
use pkgres_settings::{
    DECLARED, Files, Kind, Overrides, SETTINGS_FILE, SettingValue, SettingsFile,
};

use crate::property::{are_safe, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz target of settings files.
pub(crate) const TARGETS: &[Target] = &[Target {
    name: "settings",
    run: settings,
    seeds: || {
        let mut seeds = files(|path| path.ends_with(SETTINGS_FILE));
        seeds.extend(texts(&SETTINGS));
        seeds
    },
    words: &[
        "registries = [",
        "[registries.",
        "location = \"dir:x\"\n",
        "namespaces = [\"org.*\"]\n",
        "[overrides]\n",
        "\"org.Db\" = \"7\"\n",
        " = { path = \"db\" }\n",
        "provide = [\"a\"]\n",
        "[workspace]\nmembers = [\"*\"]\n",
        "offline = true\n",
        "prefer = \"oldest\"\n",
        "max-steps = 1\n",
        "cache = \"c\"\n",
        "\"\"\"",
        "[[",
        "{",
        "\\u001b",
        "\u{feff}",
        "1979-05-27T07:32:00Z",
        "nan",
    ],
    quick: 6_000,
}];

const SETTINGS: [&str; 4] = [
    "registries = [\"dir:packages\", \"local=index:../index.ndjson\"]\noffline = false\nmax-steps = 1000\nprefer = 'oldest'\nprovide = [\"plugin.ndjson\"]\nrequired-version = \">=0.1\"\n",
    "[registries.acme]\nlocation = \"https://registry.example.org/\"\nnamespaces = [\"org.acme.*\"]\nkey = \"k\"\nca = \"ca.pem\"\n[registries.\"b.c\"]\nlocation = \"dir:x\"\n",
    "[overrides]\n\"org.acme.Db\" = \"7\"\n\"org.acme.Log\" = { path = \"log\" }\n\"http://a.example/\" = \"=1.0@2024-01-01\"\n[workspace]\nmembers = [\"apps/*\"]\none-solve = true\n",
    "cache = \"/tmp/x\"\ncolor = \"never\"\nquiet = true\n",
];

/// A settings file has only declared settings, in the file that may have them, and with values of their kinds.
fn settings(input: &[u8]) {
    for kind in [Files::Project, Files::User] {
        let file = match SettingsFile::parse(Path::new("project/pkgres.toml"), input, kind) {
            Ok(file) => file,
            Err(finding) => {
                are_safe(&[finding]);
                continue;
            }
        };
        for key in file.table.keys() {
            let declared = DECLARED.iter().find(|setting| setting.key == key);
            let declared = declared.expect("others are errors");
            assert!(declared.files == Files::Both || declared.files == kind);
            let value = file.value(key);
            match declared.kind {
                Kind::Flag => assert!(matches!(value, Some(SettingValue::Flag(_)))),
                Kind::Number => assert!(matches!(value, Some(SettingValue::Number(_)))),
                Kind::Choice(_) | Kind::Text => {
                    assert!(matches!(value, Some(SettingValue::Text(_))));
                }
                Kind::List | Kind::Table => {}
            }
            if let Some(value) = value {
                is_safe_line(&value.to_toml());
            }
        }
        if let Err(finding) = file.provided_files() {
            are_safe(&[finding]);
        }
        let overrides = match Overrides::of(&file) {
            Ok(overrides) => overrides,
            Err(finding) => {
                are_safe(&[finding]);
                continue;
            }
        };
        for format in ALL {
            match overrides.specs(format.ecosystem()) {
                Ok(specs) => {
                    for (name, spec) in &specs {
                        is_safe_line(name.as_str());
                        // Tabs can be blanks of a spec.
                        is_safe_line(&spec.written().replace('\t', " "));
                    }
                }
                Err(finding) => are_safe(&[finding]),
            }
        }
        if let Err(finding) = overrides.folders() {
            are_safe(&[finding]);
        }
    }
}
