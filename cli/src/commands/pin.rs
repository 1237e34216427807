//! `pkgres pin`

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, check_fixations, check_model, check_pinned};
use pkgres_files::{Follow, RealFileSystem, read_file, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    IndexRecord, Lockfile, ObjectId, ObjectModel, PackageName, Pins, ReadOptions, Version,
};
use pkgres_registry_client::{RegistrySet, finish_plan};
use pkgres_resolver::{
    Fallback, Locked, ModelPlan, PlannedModel, Request, Resolution, Root, SolveOptions,
    Substitution,
};
use serde_json::json;

use crate::args::PinArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::problem::{Problem, Solved, solve_options};
use crate::project::parse_lock;
use crate::registries;
use crate::show::{self, counted};

pub(crate) fn run(args: &PinArgs, output: &mut Output) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let model = read_model(&args.model, &options)?;
    let lock = match &args.lock {
        Some(path) => {
            let bytes = read_file(path, options.limits.lock_bytes, Follow::Links)?;
            Some(parse_lock(path, &bytes, &options)?)
        }
        None => None,
    };
    let folder = args
        .model
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let setting = Setting {
        registries: registries::open(&args.registry, folder, &options)?,
        core: registries::core_library(&args.registry)?,
        provided: registries::provided(&args.registry, &options)?,
        locked: preferences(lock.as_ref(), &model),
        solve: solve_options(&args.policy)?,
        fallback: match (args.fallback, args.allow_older) {
            (false, _) => Fallback::Never,
            (true, false) => Fallback::Newer,
            (true, true) => Fallback::Any,
        },
        options,
    };
    if args.check {
        return check(model, setting, output);
    }
    let limits = setting.options.limits.clone();
    let pinned = match pin(model, setting, output)? {
        Ok(pinned) => pinned,
        Err(exit) => return Ok(exit),
    };
    let text = pinned.model.with_pins(&pinned.pins, &limits)?;
    for substitution in &pinned.substitutions {
        output.note(&say_substitution(&pinned.model, substitution));
    }
    let target = if args.in_place {
        Some(&args.model)
    } else {
        args.output.as_ref()
    };
    match target {
        Some(path) if args.in_place && path == Path::new("-") => {
            return Err(Failure::usage("`--in-place` needs a file"));
        }
        Some(path) => {
            if !args.in_place || text != pinned.model.text() {
                write_file(&RealFileSystem, path, text.as_bytes())?;
            }
        }
        None => output.data(&text),
    }
    let objects = counted(pinned.pins.objects.len(), "object");
    let packages = counted(pinned.pins.packages.len(), "package");
    output.note(&format!("Pinned {objects} to {packages}"));
    Ok(Exit::Done)
}

/// What a model is pinned with.
pub(crate) struct Setting {
    pub(crate) registries: RegistrySet,
    pub(crate) core: Option<PackageName>,
    pub(crate) provided: Vec<IndexRecord>,
    pub(crate) locked: Locked,
    pub(crate) solve: SolveOptions,
    pub(crate) fallback: Fallback,
    pub(crate) options: ReadOptions,
}

/// A model and the versions for it.
pub(crate) struct Pinned {
    pub(crate) model: Arc<ObjectModel>,
    pub(crate) pins: Pins,
    pub(crate) substitutions: Vec<Substitution>,
    resolution: Resolution,
    registries: RegistrySet,
}

/// Reads a model from a file, or from stdin if the path is `-`.
pub(crate) fn read_model(path: &Path, options: &ReadOptions) -> Result<ObjectModel> {
    let limit = options.limits.model_bytes;
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))?;
        ("stdin".into(), bytes)
    } else {
        (
            path.to_string_lossy(),
            read_file(path, limit, Follow::Links)?,
        )
    };
    let (model, _) = ObjectModel::read(&name, &bytes, &options.limits).into_result()?;
    Ok(model)
}

/// The versions of a lock and of the model's own table are preferred.
fn preferences(lock: Option<&Lockfile>, model: &ObjectModel) -> Locked {
    let mut locked = lock.map_or_else(Locked::default, Locked::preferring_releases_of);
    for (name, versions) in model.fixations() {
        let releases = versions
            .iter()
            .map(|version| (name.clone(), version.clone()));
        locked.preferred.extend(releases);
    }
    locked
}

/// Finds versions for the objects of a model. If there are none, it was said why, and the run ends
/// with the exit code.
pub(crate) fn pin(
    model: ObjectModel,
    mut setting: Setting,
    output: &mut Output,
) -> Result<std::result::Result<Pinned, Exit>> {
    let model = Arc::new(model);
    // What is pinned may be chosen whatever became of it since.
    for object in model.objects() {
        if let (Some(package), pkgres_manifest::VersionPin::Exact(version)) =
            (&object.package, &object.version)
        {
            setting
                .locked
                .kept
                .insert((package.clone(), version.clone()));
        }
    }
    let locked_packages: BTreeSet<PackageName> = setting
        .locked
        .preferred
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let plan = ModelPlan::new(
        Arc::clone(&model),
        locked_packages,
        &setting.provided,
        setting.fallback,
    );
    let planned = finish_plan(plan, &setting.registries)?;
    let PlannedModel {
        root,
        substitutions,
    } = planned.map_err(|findings| Failure {
        findings,
        exit: Exit::Failed,
    })?;
    let problem = Problem {
        accept_changed: false,
        root: None,
        shown_for: None,
        warnings: Vec::new(),
        searched: Vec::new(),
        registries: setting.registries,
        core: setting.core.clone(),
        request: Request {
            roots: vec![Root::Model(root)],
            core: setting.core,
            provided: setting.provided,
            locked: setting.locked,
            overrides: registries::overriding_specs()?,
            options: setting.solve,
            update: None,
        },
    };
    let (resolution, registries) = match problem.solve_with_registries(output)? {
        (Solved::Yes(resolution, _), registries) => (*resolution, registries),
        (Solved::No(exit), _) => return Ok(Err(exit)),
    };
    let mut pins = Pins::default();
    for (number, bound) in resolution.roots()[0].requires.iter().enumerate() {
        let pin = (bound.package.clone(), bound.version.clone());
        pins.objects.insert(ObjectId(number), pin);
    }
    pins.packages = used_packages(&resolution);
    Ok(Ok(Pinned {
        model,
        pins,
        substitutions,
        resolution,
        registries,
    }))
}

fn used_packages(resolution: &Resolution) -> BTreeMap<PackageName, BTreeSet<Version>> {
    let mut used: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
    for package in resolution.packages() {
        used.entry(package.name.clone())
            .or_default()
            .insert(package.version.clone());
    }
    used
}

pub(crate) fn say_substitution(model: &ObjectModel, substitution: &Substitution) -> String {
    format!(
        "the object {} was pinned to {} {}, which is gone; it gets {}",
        model.shown(substitution.object),
        substitution.package,
        substitution.gone,
        substitution.instead
    )
}

/// Checks a pinned model: that it is, that its versions are there and fit together, and that its
/// values fulfil the contracts.
fn check(model: ObjectModel, setting: Setting, output: &mut Output) -> Result<Exit> {
    let mut findings = check_pinned(&model);
    let options = setting.options.clone();
    let core = setting.core.clone();
    let mut not_checked = BTreeSet::new();
    let objects = model.objects().len();
    if findings.is_empty() {
        let pinned = match pin(model, setting, output)? {
            Ok(pinned) => pinned,
            Err(exit) => return Ok(exit),
        };
        let packages = bound_packages(&pinned, core.as_ref(), &options)?;
        let report = check_model(&pinned.model, &packages);
        findings.extend(report.findings);
        not_checked = report.not_checked;
        findings.extend(check_fixations(&pinned.model, &pinned.pins.packages));
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if errors == 0 { "passed" } else { "failed" },
            "objects": objects,
            "diagnostics": show::diagnostics_json(&findings),
            "not_checked": not_checked,
        }));
    } else {
        output.findings(&findings);
        for written in &not_checked {
            let shown = pkgres_manifest::diagnostic::Escaped::shortened(written);
            let message = format!("not checked: `{shown}`");
            output.note(&format!(
                "{}",
                Diagnostic::warning(Code::ContractNotChecked, message)
            ));
        }
        output.note(&format!(
            "Checked {}: {}",
            counted(objects, "object"),
            counted(errors, "error")
        ));
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The packages of a pinned model with their classes.
fn bound_packages(
    pinned: &Pinned,
    core: Option<&PackageName>,
    options: &ReadOptions,
) -> Result<BoundPackages> {
    let mut bound = BoundPackages {
        root_class: core.map(PackageName::root_class),
        ..BoundPackages::default()
    };
    for package in pinned.resolution.packages() {
        let classes = pinned
            .registries
            .package(&package.name, &package.version, options)?;
        let requires = package
            .requires
            .iter()
            .map(|bound| (bound.package.clone(), bound.version.clone()))
            .collect();
        bound.releases.insert(
            (package.name.clone(), package.version.clone()),
            BoundPackage {
                package: classes,
                requires,
            },
        );
    }
    Ok(bound)
}
