//! `pkgres spec`

use std::io::{self, BufRead as _, BufReader, Read as _};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, Ecosystem};
use serde_json::{Map, Value, json};

use crate::args::SpecArgs;
use crate::context::format_of;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;

/// The size of the input buffer of a batch, in bytes.
const INPUT_BYTES: usize = 64 << 10;

/// The longest line of a batch, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &SpecArgs, output: &mut Output) -> Result<Exit> {
    let ecosystem = format_of(&args.ecosystem)?.ecosystem();
    if args.batch {
        return batch(ecosystem, output);
    }
    let text = args.spec.as_deref().unwrap_or_default();
    let spec = ecosystem.spec(text).map_err(|error| {
        let mut finding = Diagnostic::error(Code::Spec, error.to_string());
        if let Some(suggestion) = error.suggestion {
            finding = finding.hint(format!("`{suggestion}` is a valid spec"));
        } else if ecosystem == CLASS_PACKAGES {
            finding = finding
                .hint("a version such as `1.2`, a range such as `>=1.2,<2`, or `*` is expected");
        }
        finding
    })?;
    let mut versions = Vec::with_capacity(args.versions.len());
    for text in &args.versions {
        versions.push(ecosystem.version(text).map_err(|error| {
            let mut finding = Diagnostic::error(Code::Version, error.to_string());
            if let Some(nearest) = &error.nearest {
                finding = finding.hint(format!("the nearest version is {nearest}"));
            }
            finding
        })?);
    }
    let matches: Vec<bool> = versions
        .iter()
        .map(|version| spec.matches(version))
        .collect();
    if output.is_json() {
        let versions: Vec<Value> = versions
            .iter()
            .zip(&matches)
            .map(|(version, matches)| json!({"version": version, "matches": matches}))
            .collect();
        output.json(&json!({
            "schema_version": 1,
            "spec": spec.written(),
            "normal_form": spec.normal_form(),
            "empty": spec.set().is_empty(),
            "versions": versions,
        }));
    } else {
        output.data(&format!("{}\n", spec.normal_form()));
        for (version, matches) in versions.iter().zip(&matches) {
            output.data(&format!(
                "{version} {}\n",
                if *matches {
                    "matches"
                } else {
                    "does not match"
                }
            ));
        }
        if spec.set().is_empty() {
            output.note("no version matches this spec");
            if let Some(meant) = spec.probably_meant() {
                output.note(&format!("hint: write `{meant}`"));
            }
        }
    }
    Ok(if matches.iter().all(|matches| *matches) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Answers lines `{"spec":...,"version":...}`. The answer to a malformed line is an error with its position, and the
/// other lines are still answered.
///
/// Answers are flushed when no further line is buffered, so that a program can wait for an answer before it writes the
/// next line.
fn batch(ecosystem: &dyn Ecosystem, output: &mut Output) -> Result<Exit> {
    // Only a buffer of our own shows whether more input has arrived. It is larger than that of stdin, which therefore
    // stays empty.
    let mut input = BufReader::with_capacity(INPUT_BYTES, io::stdin().lock());
    let mut line = Vec::new();
    let mut malformed = 0_usize;
    for number in 1_u64.. {
        line.clear();
        if !input.buffer().contains(&b'\n') {
            output.flush();
        }
        if output.is_cut_off() {
            break;
        }
        let read = input
            .by_ref()
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| unreadable(&error))?;
        if read == 0 {
            break;
        }
        let row = if line.len() as u64 > MAX_LINE_BYTES {
            if line.last() != Some(&b'\n') {
                input
                    .skip_until(b'\n')
                    .map_err(|error| unreadable(&error))?;
            }
            let message = format!("more than the limit of {MAX_LINE_BYTES} bytes in a line");
            Err(Malformed::at(1, message, Map::new()))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            answered(ecosystem, &line)
        };
        let row = row.unwrap_or_else(|error| {
            malformed += 1;
            let mut row = error.row;
            let text = format!("stdin:{number}:{}: {}", error.column, error.message);
            row.insert("error".to_owned(), json!(text));
            row
        });
        output.data(&format!("{}\n", Value::Object(row)));
    }
    if malformed == 0 {
        return Ok(Exit::Done);
    }
    let lines = counted(malformed, "line");
    let message =
        format!("stdin: {lines} without `spec` and `version`; their answers have the positions");
    // A failure would print a second JSON document.
    output.findings(&[Diagnostic::error(Code::Usage, message)]);
    Ok(Exit::Usage)
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read stdin: {error}"))
}

/// A malformed line.
struct Malformed {
    /// The column of the error, in characters from 1.
    column: usize,
    message: String,
    /// The fields that are written back with the error.
    row: Map<String, Value>,
}

impl Malformed {
    fn at(column: usize, message: impl Into<String>, row: Map<String, Value>) -> Self {
        Self {
            column,
            message: message.into(),
            row,
        }
    }
}

/// The fields that an answer adds to a line, one at a time.
const ANSWERS: [&str; 3] = ["error", "matches", "normal_form"];

/// Parses a line and adds its answer.
fn answered(
    ecosystem: &dyn Ecosystem,
    line: &[u8],
) -> std::result::Result<Map<String, Value>, Malformed> {
    let line = line.trim_ascii_end();
    let start = line.len() - line.trim_ascii_start().len() + 1;
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        // The parser counts columns in bytes.
        let before = &line[..error.column().min(line.len())];
        let column = String::from_utf8_lossy(before).chars().count().max(1);
        let error = error.to_string();
        let reason = error.split(" at line ").next().unwrap_or_default();
        Malformed::at(column, Escaped::shortened(reason).to_string(), Map::new())
    })?;
    let Value::Object(mut row) = value else {
        let message = "an object with `spec` and `version` is expected";
        return Err(Malformed::at(start, message, Map::new()));
    };
    // What the line has of an earlier answer is not part of this one.
    row.retain(|key, _| !ANSWERS.contains(&key.as_str()));
    match answer(ecosystem, &row) {
        Ok((key, value)) => {
            row.insert(key.to_owned(), value);
            Ok(row)
        }
        Err(message) => Err(Malformed::at(start, message, row)),
    }
}

/// The answer to a row, or why it is malformed. An invalid spec or version is an answer.
fn answer(
    ecosystem: &dyn Ecosystem,
    row: &Map<String, Value>,
) -> std::result::Result<(&'static str, Value), &'static str> {
    let spec = match row.get("spec") {
        None => return Err("`spec` is missing"),
        Some(Value::Null) => "",
        Some(Value::String(spec)) => spec,
        Some(_) => return Err("`spec` must be a string or null"),
    };
    let version = match row.get("version") {
        None => return Err("`version` is missing"),
        Some(Value::Null) => None,
        Some(Value::String(version)) => Some(version),
        Some(_) => return Err("`version` must be a string or null"),
    };
    let spec = match ecosystem.spec(spec) {
        Ok(spec) => spec,
        Err(error) => return Ok(("error", json!(error.to_string()))),
    };
    Ok(match version.map(|version| ecosystem.version(version)) {
        None => ("normal_form", json!(spec.normal_form())),
        Some(Ok(version)) => ("matches", json!(spec.matches(&version))),
        Some(Err(error)) => ("error", json!(error.to_string())),
    })
}
