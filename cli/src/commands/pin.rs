//! `pkgres pin`

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use pkgres_files::{Follow, RealFileSystem, read_file, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    CLASS_PACKAGES, IndexRecord, Lockfile, ObjectId, ObjectModel, PackageName, Pins, ReadOptions,
    Release, Version,
};
use pkgres_registry_client::{Answer, FinishedPlan, RegistrySet, drive, finish_plan};
use pkgres_resolver::{
    ContractScope, Fallback, Locked, ModelPlan, ModelRoot, PlannedModel, Request, Resolution,
    Resolver, Root, Substitution, WrongModel,
};
use serde_json::{Value, json};

use crate::args::PinArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::parse_lock;
use crate::output::Output;
use crate::show::{self, KeptBy, counted};
use crate::solve_task::SolveTask;
use crate::write_together::write_text;
use crate::yank_reasons::YankReasons;

pub(super) fn run(args: &PinArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let options = &context.read_options;
    let model = read_model(&args.model, options)?;
    let lock = match &args.lock {
        Some(path) => {
            let bytes = read_file(path, options.limits.lock_bytes, Follow::Links)?;
            Some(parse_lock(path, &bytes, context)?)
        }
        None => None,
    };
    let folder = args
        .model
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let registries = context.registries.for_root(folder)?;
    // Objects have classes of class packages.
    let class_packages = options.of_ecosystem(CLASS_PACKAGES.id());
    let mut registries = (context.registries).open(&registries, &class_packages)?;
    if let Some(workspace) = context.workspace()? {
        let overridden = context.registries.overriding_folders().collect();
        registries.push_front(Box::new(workspace.all_members(&overridden, options)?));
    }
    let input = PinInput {
        registries,
        host_releases: context.registries.host_releases(options)?,
        locked: preferences(lock.as_ref(), &model),
        fallback: match (args.fallback, args.allow_older) {
            (false, _) => Fallback::Never,
            (true, false) => Fallback::Newer,
            (true, true) => Fallback::Any,
        },
    };
    if args.check {
        return check::run(model, &args.model, input, context, output);
    }
    let pinned = pin(model, input, context, output)?;
    let text = pinned.model.with_pins(&pinned.pins, &options.limits)?;
    for substitution in &pinned.substitutions {
        output.note(&substitution_note(&pinned, substitution));
    }
    if !output.is_json() {
        output.notes(&pinned.notes);
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
        Some(path) if args.in_place => {
            let before = pinned.model.text();
            if text != before {
                write_text(path, before, &text)?;
            }
        }
        Some(path) => write_file(&RealFileSystem, path, text.as_bytes())?,
        None if output.is_json() => {}
        None => output.data(&text),
    }
    if output.is_json() {
        output.json(&pinned.to_json(target.is_none().then_some(&text)));
    }
    let objects = counted(pinned.pins.objects.len(), "object");
    let packages = counted(pinned.pins.packages.len(), "package");
    output.note(&format!("Pinned {objects} to {packages}"));
    Ok(Exit::Done)
}

/// The inputs of pinning.
pub(super) struct PinInput {
    pub(super) registries: RegistrySet,
    pub(super) host_releases: Vec<IndexRecord>,
    pub(super) locked: Locked,
    pub(super) fallback: Fallback,
}

/// A model and the versions of its objects.
pub(super) struct Pinned {
    pub(super) model: Arc<ObjectModel>,
    pub(super) pins: Pins,
    substitutions: Vec<Substitution>,
    /// What is worth knowing about the chosen releases.
    notes: Vec<String>,
}

impl Pinned {
    /// The versions of the objects as JSON, and the text of the model unless a file has it.
    pub(super) fn to_json(&self, text: Option<&str>) -> Value {
        let objects = self.pins.objects.iter();
        let objects = objects.map(
            |(
                number,
                Release {
                    name: package,
                    version,
                },
            )| {
                let object = self.model.object(*number);
                json!({
                    "id": object.id,
                    "class": object.class,
                    "package": package,
                    "version": version,
                })
            },
        );
        let substitutions = self.substitutions.iter().map(|substitution| {
            json!({
                "id": self.model.object(substitution.object).id,
                "package": substitution.package,
                "missing": substitution.missing,
                "version": self.pins.objects[&substitution.object].version,
            })
        });
        let mut document = json!({
            "schema_version": 1,
            "status": "pinned",
            "objects": objects.collect::<Vec<_>>(),
            "packages": self.pins.packages,
            "substitutions": substitutions.collect::<Vec<_>>(),
            "notes": self.notes,
        });
        if let Some(text) = text {
            document["model"] = json!(text);
        }
        document
    }
}

/// Reads a model from a file, or from stdin if the path is `-`.
pub(super) fn read_model(path: &Path, options: &ReadOptions) -> Result<ObjectModel> {
    let limit = options.limits.model_bytes;
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
        ("stdin".into(), bytes)
    } else {
        if path.is_dir() {
            let message = format!("{}: this is a folder", Escaped::path(&path));
            return Err(Diagnostic::error(Code::File, message)
                .hint("a file with an object model is expected, in YAML or JSON")
                .into());
        }
        (
            path.to_string_lossy(),
            read_file(path, limit, Follow::Links)?,
        )
    };
    let (model, _) = ObjectModel::read(&name, &bytes, &options.limits).into_result()?;
    Ok(model)
}

/// The preferences of the solver: the versions in a lockfile and in the fixation table of the model.
fn preferences(lock: Option<&Lockfile>, model: &ObjectModel) -> Locked {
    let mut locked = lock.map_or_else(Locked::default, Locked::preferring_releases_of);
    for (name, versions) in model.previous_versions() {
        let releases = versions
            .iter()
            .map(|version| Release::new(name.clone(), version.clone()));
        locked.preferred.extend(releases);
    }
    locked
}

/// The result of planning a model.
enum Plan {
    Planned(Box<Planned>),
    Wrong(Box<Unplanned>),
}

/// A model with objects that have no package, or a version that is gone.
struct Unplanned {
    model: Arc<ObjectModel>,
    wrong: WrongModel,
    request: Request,
    registries: RegistrySet,
}

/// A model whose objects have packages, ready to be solved.
struct Planned {
    model: Arc<ObjectModel>,
    root: ModelRoot,
    substitutions: Vec<Substitution>,
    request: Request,
    registries: RegistrySet,
}

impl Planned {
    fn find(model: ObjectModel, input: PinInput, context: &Context) -> Result<Plan> {
        let PinInput {
            registries,
            host_releases,
            locked,
            fallback,
        } = input;
        let model = Arc::new(model);
        let plan = ModelPlan::new(
            Arc::clone(&model),
            &locked,
            &host_releases,
            context.solve_options.clone(),
            fallback,
        );
        let planned = finish_plan(plan, &registries)?;
        let mut request = Request {
            roots: Vec::new(),
            core: context.core().cloned(),
            host_releases,
            locked,
            overrides: context.registries.overriding_specs(CLASS_PACKAGES)?,
            options: context.solve_options.clone(),
            update: None,
        };
        let mut planned = match planned {
            FinishedPlan::Planned(planned) => planned,
            FinishedPlan::Wrong(wrong) => {
                (request.locked.kept).extend(wrong.pinned.iter().cloned());
                return Ok(Plan::Wrong(Box::new(Unplanned {
                    model,
                    wrong,
                    request,
                    registries,
                })));
            }
        };
        // A pinned release can be chosen even if it was yanked since.
        (request.locked.kept).extend(planned.pinned.iter().cloned());
        planned.choose_replacements(|root| {
            let request = Request {
                roots: vec![Root::Model(root.clone())],
                ..request.clone()
            };
            let mut resolver = Resolver::new(request);
            let answer = drive(&mut resolver, &registries, &context.read_options)?;
            // Only a proof shows that less preferred versions are needed.
            Ok::<_, Failure>(!matches!(answer, Answer::Conflict(_)))
        })?;
        let PlannedModel {
            root,
            substitutions,
            ..
        } = planned;
        Ok(Plan::Planned(Box::new(Self {
            model,
            root,
            substitutions,
            request,
            registries,
        })))
    }

    /// The request to meet these contracts.
    fn request(&self, contracts: ContractScope) -> Request {
        Request {
            roots: vec![Root::Model(self.root.clone().with_contracts(contracts))],
            ..self.request.clone()
        }
    }

    /// Why a release is used that would not be chosen otherwise.
    fn kept_by(&self, pins: &Pins, name: &PackageName, version: &Version) -> KeptBy {
        let release = Release::new(name.clone(), version.clone());
        let replaced = self.substitutions.iter();
        let mut replaced = replaced.filter_map(|one| pins.objects.get(&one.object));
        let is_in_model = || {
            let mut known = self.model.previous_versions().iter();
            known.any(|(known, versions)| known == name && versions.contains(version))
        };
        if replaced.any(|replacement| *replacement == release) {
            KeptBy::Fallback
        } else if self.request.locked.kept.contains(&release) {
            KeptBy::Pin
        } else if is_in_model() {
            KeptBy::Model
        } else {
            KeptBy::Lockfile
        }
    }

    fn solved(self, resolution: &Resolution, registries: &RegistrySet) -> Pinned {
        let mut pins = Pins::default();
        for (number, bound) in resolution.roots()[0].requires.iter().enumerate() {
            pins.objects.insert(ObjectId(number), bound.release());
        }
        pins.packages = used_packages(resolution);
        let reasons = YankReasons::of_resolution(resolution, registries);
        let mut notes = show::unusual(resolution, &reasons, |name, version| {
            self.kept_by(&pins, name, version)
        });
        let locked = &self.request.locked;
        notes.extend(show::built_in(resolution, |name, version| {
            let mut known = locked.releases();
            known.any(|known| known == (name, version))
        }));
        Pinned {
            model: self.model,
            pins,
            substitutions: self.substitutions,
            notes,
        }
    }
}

/// Finds versions for the objects of a model. A conflict is reported and ends the command.
pub(super) fn pin(
    model: ObjectModel,
    input: PinInput,
    context: &Context,
    output: &mut Output,
) -> Result<Pinned> {
    let mut planned = match Planned::find(model, input, context)? {
        Plan::Planned(planned) => planned,
        Plan::Wrong(unplanned) => {
            return Err(Failure {
                findings: unplanned.wrong.findings,
                exit: Exit::Failed,
            });
        }
    };
    let request = planned.request(ContractScope::All);
    let registries = std::mem::take(&mut planned.registries);
    let task = SolveTask::new(registries, request);
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    Ok(planned.solved(&resolution, &registries))
}

/// The versions of each package in a resolution.
fn used_packages(resolution: &Resolution) -> BTreeMap<PackageName, BTreeSet<Version>> {
    let mut used: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
    for package in resolution.packages() {
        used.entry(package.name.clone())
            .or_default()
            .insert(package.version.clone());
    }
    used
}

/// The note about an object whose pinned version is gone.
fn substitution_note(pinned: &Pinned, substitution: &Substitution) -> String {
    let Release {
        version: replacement,
        ..
    } = &pinned.pins.objects[&substitution.object];
    format!(
        "the object {} was pinned to {} {}, which is gone; it is now pinned to {replacement}",
        pinned.model.shown(substitution.object),
        substitution.package,
        substitution.missing,
    )
}
