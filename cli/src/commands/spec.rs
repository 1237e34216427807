//! `pkgres spec`

use std::io::{self, BufRead as _, Read as _};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Spec, Version};
use serde_json::{Map, Value, json};

use crate::args::SpecArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// The longest line of a batch, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

pub(crate) fn run(args: &SpecArgs, output: &mut Output) -> Result<Exit> {
    if args.batch {
        return batch(output);
    }
    let text = args.spec.as_deref().unwrap_or_default();
    let spec = Spec::parse(text).map_err(|error| {
        let mut finding = Diagnostic::error(Code::Spec, error.to_string());
        if let Some(suggestion) = error.suggestion {
            finding = finding.hint(format!("`{suggestion}` is a spec"));
        }
        finding
    })?;
    let mut versions = Vec::with_capacity(args.versions.len());
    for text in &args.versions {
        versions.push(Version::parse(text).map_err(|error| {
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
        }
    }
    Ok(if matches.iter().all(|matches| *matches) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Answers lines `{"spec":...,"version":...}`. A line that is no such object stops the batch,
/// because its answer could not be told from others.
fn batch(output: &mut Output) -> Result<Exit> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = input
            .by_ref()
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))?;
        if read == 0 {
            break;
        }
        if line.len() as u64 > MAX_LINE_BYTES {
            return Err(Failure::usage(format!(
                "stdin:{number}: more than the limit of {MAX_LINE_BYTES} bytes in a line"
            )));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut row: Map<String, Value> =
            serde_json::from_slice(line.trim_ascii()).map_err(|error| {
                // The reader counts lines in what it was given, which is one.
                let column = error.column();
                let error = error.to_string();
                let reason = error.split(" at line ").next().unwrap_or_default();
                let reason = Escaped::shortened(reason);
                Failure::usage(format!("stdin:{number}:{column}: {reason}"))
            })?;
        let (key, value) = answer(&row);
        row.insert(key.to_owned(), value);
        output.data(&format!("{}\n", Value::Object(row)));
    }
    Ok(Exit::Done)
}

fn answer(row: &Map<String, Value>) -> (&'static str, Value) {
    let spec = match row.get("spec") {
        None | Some(Value::Null) => "",
        Some(Value::String(spec)) => spec,
        Some(_) => return ("error", json!("`spec` is a text or null")),
    };
    let spec = match Spec::parse(spec) {
        Ok(spec) => spec,
        Err(error) => return ("error", json!(error.to_string())),
    };
    match row.get("version") {
        None | Some(Value::Null) => ("normal_form", json!(spec.normal_form())),
        Some(Value::String(version)) => match Version::parse(version) {
            Ok(version) => ("matches", json!(spec.matches(&version))),
            Err(error) => ("error", json!(error.to_string())),
        },
        Some(_) => ("error", json!("`version` is a text")),
    }
}
