//! `pkgres call`

use std::sync::Arc;
use std::time::Duration;

use pkgres_checks::{Answer, BoundPackages, CallError, Strictness};
use pkgres_engine::{
    CallFailure, CalledFunction, Cancellable, FunctionCall, TargetError, callable_objects,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ClassName, ObjectId, ObjectModel, Release, did_you_mean, most_similar, most_similar_name,
};
use serde_json::json;

use super::prepared::locked_releases;
use super::release_files::ReleaseFiles;
use crate::args::CallArgs;
use crate::commands::pin::read_model;
use crate::commands::validate::{open_machine, report_interruption, target_failure};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::machine_facts::facts_of_machine;
use crate::output::Output;
use crate::show::diagnostics_json;
use crate::signals::cancelled_by_interrupts;

pub(in crate::commands) fn call(
    args: &CallArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let result = call_function(args, context, output);
    report_interruption(result, &args.target, "the function returned", output)
}

fn call_function(args: &CallArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let (project, bound) = locked_releases(&args.project.manifest, context, output)?;
    let files = Arc::new(ReleaseFiles::new(
        bound.folders(&project, context)?,
        bound.registries,
        bound.digests,
        context.read_options.clone(),
    ));
    files.require_all(&bound.packages, &bound.provided)?;
    let model = match &args.model {
        Some(path) => Some(read_model(path, &context.read_options)?),
        None => None,
    };
    let (object, release) = match &model {
        Some(model) => {
            let (object, release) = object_of(args, model, &bound.packages)?;
            (Some((model, object)), release)
        }
        None => (
            None,
            release_of_class(args, &bound.packages, &bound.release)?,
        ),
    };
    let called = CalledFunction {
        packages: &bound.packages,
        release: &release,
        class: object.map_or(&args.class, |(model, object)| &model.object(object).class),
        function: &args.function,
    };
    let call = FunctionCall::new(called, object, &args.arguments)?;
    let call = call.timeout(Duration::from_secs(args.timeout));
    let target = open_machine(&args.target, &args.ssh.options())?;
    let facts = facts_of_machine(&*target, &[]).map_err(target_failure)?;
    let cancellation = cancelled_by_interrupts();
    let is_asked_only = args.read_only && !target.enforces_read_only();
    let target = Cancellable::new(&*target, cancellation);
    let strictness = if args.strict {
        Strictness::Fail
    } else {
        Strictness::Warn
    };
    let answer = call
        .run(&target, &facts, &*files, (strictness, args.read_only))
        .map_err(|error| failure_of(error, &call))?;
    if is_asked_only {
        output.note("The function was only asked not to change anything: nothing here can stop it");
    }
    show(args, &called, (&answer, call.warnings()), output);
    Ok(Exit::Done)
}

/// Prints the value that a function returned. What a caller should know of it is a warning.
fn show(
    args: &CallArgs,
    called: &CalledFunction<'_>,
    (answer, of_model): (&Answer, &[Diagnostic]),
    output: &mut Output,
) {
    let warnings = answer.warnings.iter();
    let warnings = warnings.map(|warning| Diagnostic::warning(Code::Call, warning.to_string()));
    let warnings: Vec<Diagnostic> = of_model.iter().cloned().chain(warnings).collect();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "returned",
            "target": args.target.to_string(),
            "class": called.class,
            "function": called.function,
            "value": answer.value,
            "default": answer.is_default,
            "diagnostics": diagnostics_json(&warnings),
        }));
        return;
    }
    output.data(&format!("{}\n", answer.value));
    if answer.is_default {
        let function = Escaped::shortened(called.function);
        output.note(&format!(
            "`{function}` does not apply on this platform: this is the default of its interface"
        ));
    }
    output.findings(&warnings);
}

/// The object that the arguments mean, and the release that defines its class.
fn object_of(
    args: &CallArgs,
    model: &ObjectModel,
    packages: &BoundPackages,
) -> Result<(ObjectId, Release)> {
    let class = Escaped::shortened(args.class.as_str());
    let error = |message: String| Err(Failure::from(Diagnostic::error(Code::Call, message)));
    let objects = callable_objects(packages, model, &args.class);
    let ids = objects
        .iter()
        .filter_map(|(object, _)| model.object(*object).id.as_deref());
    let ids: Vec<&str> = ids.collect();
    let shown = || ids.iter().map(|id| format!("`{}`", Escaped::shortened(id)));
    if let Some(wanted) = &args.object {
        let has_id = |(object, _): &&(ObjectId, Release)| {
            model.object(*object).id.as_deref() == Some(wanted.as_str())
        };
        if let Some(found) = objects.iter().find(has_id) {
            return Ok(found.clone());
        }
        let wanted = Escaped::shortened(wanted).to_string();
        let message = format!("the model has no object `{wanted}` of the class `{class}`");
        let finding = Diagnostic::error(Code::Call, message);
        return Err(match most_similar(&wanted, ids.iter().copied()) {
            Some(similar) => finding.hint(did_you_mean(similar)).into(),
            None => finding.into(),
        });
    }
    match objects.as_slice() {
        [object] => Ok(object.clone()),
        [] => error(format!("the model has no object of the class `{class}`")),
        _ => {
            let shown: Vec<String> = shown().collect();
            let message = format!("the model has several objects of the class `{class}`");
            let hint = format!("name one with `--object`: {}", shown.join(", "));
            Err(Diagnostic::error(Code::Call, message).hint(hint).into())
        }
    }
}

/// The release that defines the class: the project sees it, or else a single locked package has it.
fn release_of_class(
    args: &CallArgs,
    packages: &BoundPackages,
    project: &Release,
) -> Result<Release> {
    if let Some((release, _)) = packages.lineage(project, &args.class).into_iter().next() {
        return Ok(release);
    }
    let bound = packages.releases.iter();
    let known = bound.filter_map(|(release, bound)| Some((release, bound.package.as_deref()?)));
    let known: Vec<_> = known.collect();
    let defining = known
        .iter()
        .filter(|(_, package)| package.exports(&args.class));
    let defining: Vec<&Release> = defining.map(|(release, _)| *release).collect();
    let class = Escaped::shortened(args.class.as_str());
    match defining.as_slice() {
        [release] => Ok((*release).clone()),
        [] => {
            let message = format!("no locked release defines the class `{class}`");
            let finding = Diagnostic::error(Code::Call, message);
            // The name may be that of a package.
            let mut packages = known.iter();
            let package =
                packages.find(|(Release { name, .. }, _)| name.as_str() == args.class.as_str());
            if let Some((_, package)) = package {
                let classes = package.classes.iter().flat_map(|classes| classes.keys());
                let classes: Vec<String> = classes.map(|name| format!("`{name}`")).collect();
                let hint = match classes.as_slice() {
                    [] => "it is a package, which has no classes".to_owned(),
                    [class] => format!("it is a package, whose class is {class}"),
                    _ => format!("it is a package, whose classes are {}", classes.join(", ")),
                };
                return Err(finding.hint(hint).into());
            }
            let classes = known
                .iter()
                .filter_map(|(_, package)| package.classes.as_ref());
            let names = classes.flat_map(|classes| classes.keys().map(ClassName::as_str));
            Err(match most_similar_name(args.class.as_str(), names) {
                Some(similar) => finding.hint(did_you_mean(similar)).into(),
                None => finding.into(),
            })
        }
        several => {
            let shown = several
                .iter()
                .map(|Release { name, version }| format!("{name} {version}"));
            let shown: Vec<String> = shown.collect();
            let message = format!(
                "several locked releases define the class `{class}`: {}",
                shown.join(", ")
            );
            let hint = "name an object of the class with `--model` and `--object`";
            Err(Diagnostic::error(Code::Call, message).hint(hint).into())
        }
    }
}

/// The failure of a call without an answer.
fn failure_of(error: CallError<CallFailure>, call: &FunctionCall<'_>) -> Failure {
    let message = error.to_string();
    let (exit, hint) = match error {
        CallError::Failed(CallFailure::Target(
            error @ (TargetError::Cancelled | TargetError::Connection { .. }),
        )) => return target_failure(error),
        CallError::Failed(failure) => match failure {
            CallFailure::NoScript { .. } | CallFailure::Unusable(_) => (Exit::Usage, None),
            CallFailure::Arguments(_) => (
                Exit::Usage,
                Some("pass the values after the function, as NAME=VALUE".to_owned()),
            ),
            _ => (Exit::Resource, None),
        },
        CallError::Interface(finding) => {
            return Failure {
                findings: vec![*finding],
                exit: Exit::Usage,
            };
        }
        CallError::Unknown { function, .. } => {
            // A method that the class has, and that nobody calls from outside.
            let internal =
                "functions have names of letters, digits and `_`, and do not begin with `_`";
            let hint = match most_similar(&function, call.known_functions()) {
                _ if call.location().is_some() => Some(internal.to_owned()),
                Some(similar) => Some(did_you_mean(similar)),
                None => None,
            };
            (Exit::Usage, hint)
        }
        _ => (Exit::Failed, None),
    };
    let mut finding = Diagnostic::error(Code::Call, message);
    if let Some(location) = call.location() {
        finding = finding.at(location.clone());
    }
    if let Some(hint) = hint {
        finding = finding.hint(hint);
    }
    Failure {
        findings: vec![finding],
        exit,
    }
}
