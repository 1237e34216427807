//! Documents for other programs, checked by the validators of these programs.
//!
//! The validators are Python packages, `cyclonedx-python-lib[validation]` and `spdx-tools`, of the
//! interpreter in `PKGRES_PYTHON`, or else of `python3`. If they are missing, the tests report that and pass, unless
//! `PKGRES_REQUIRE_SERVICES` is set, as in `.ci/run`.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use pkgres_tests::skip;

const CYCLONEDX: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
errors = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(str(errors) if errors else 0)
";

const SPDX: &str = "
import json, sys
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
document = JsonLikeDictParser().parse(json.load(sys.stdin))
errors = validate_full_spdx_document(document, 'SPDX-2.3')
sys.exit(str([error.validation_message for error in errors]) if errors else 0)
";

fn pkgres(arguments: &[&str]) -> Output {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/views.in");
    Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts")
}

fn stdout(arguments: &[&str]) -> String {
    String::from_utf8(pkgres(arguments).stdout).expect("it is text")
}

/// Runs a Python program; `None` if its modules are not installed.
fn python(program: &str, input: &str) -> Option<Output> {
    let python = std::env::var_os("PKGRES_PYTHON").unwrap_or_else(|| "python3".into());
    let run = |program: &str| {
        let child = Command::new(&python)
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.ok()?;
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that stops reading reports why on stderr.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().ok()
    };
    let imports: String = program
        .lines()
        .filter(|line| line.contains("import"))
        .map(|line| format!("{line}\n"))
        .collect();
    if run(&imports).is_some_and(|output| output.status.success()) {
        return run(program);
    }
    skip::without_service("cyclonedx-python-lib[validation] or spdx-tools is not there");
    None
}

#[test]
fn validators_accept_bills_of_materials() {
    for (format, program) in [("cyclonedx", CYCLONEDX), ("spdx", SPDX)] {
        for arguments in [
            &["export", "app", "--format", format][..],
            &["export", "app", "--frozen", "--format", format],
            &[
                "export",
                "shared/root",
                "--no-core-library",
                "--format",
                format,
            ],
        ] {
            let document = stdout(arguments);
            assert!(document.len() > 500, "{arguments:?}");
            let Some(output) = python(program, &document) else {
                return;
            };
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{arguments:?}: {stderr}");
        }
        let wrong = stdout(&["export", "app", "--format", format])
            .replace("\"versionInfo\"", "\"versonInfo\"")
            .replace("\"bomFormat\"", "\"bomFromat\"")
            .replace("SPDXRef-Package", "SPDXRef Package");
        let output = python(program, &wrong).expect("it was there before");
        assert!(
            !output.status.success(),
            "{format}: the validator accepts anything"
        );
    }
}

#[test]
fn graphs_can_be_drawn() {
    let resolved = stdout(&[
        "graph",
        "shared/root",
        "--classes",
        "--no-core-library",
        "--format",
        "svg",
    ]);
    let clash = stdout(&["graph", "clash", "--format", "svg"]);
    for picture in [&resolved, &clash] {
        assert!(
            picture.contains("<svg") && picture.trim_end().ends_with("</svg>"),
            "{picture}"
        );
        // Specs contain `<` and `>`, which must be escaped.
        assert!(
            !picture.contains(">>=") && !picture.contains("<2"),
            "{picture}"
        );
    }
    let clashes = |picture: &str| picture.contains(r#"class="box package clash""#);
    assert!(!clashes(&resolved) && clashes(&clash), "{clash}");
    assert!(resolved.contains("<title>org.example.z.D "), "{resolved}");
    for title in [
        ">Packages and classes of the resolution of ",
        ">Why there is no resolution<",
    ] {
        let picture = [&resolved, &clash];
        let has_title = picture.iter().any(|picture| picture.contains(title));
        assert!(has_title, "{title}");
    }
    let png = pkgres(&["graph", "clash", "--format", "png"]);
    assert_eq!(png.status.code(), Some(1));
    assert!(png.stdout.starts_with(b"\x89PNG\r\n\x1a\n"), "{png:?}");
}
