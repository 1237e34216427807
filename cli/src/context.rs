//! The context of a run: the values of its arguments, environment and settings files, validated once.
//!
//! Commands take their own arguments and this. Shared values (registries, how packages are read, how versions are
//! chosen, the workspace) reach them only as the validated values here.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_formats::Format;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Package, PackageName, ReadOptions, Spec};
use pkgres_resolver::{Request, SolveOptions};

use crate::args::{Command, CoreArgs};
use crate::failure::{Failure, Result};
use crate::invocation::Invocation;
use crate::paths::canonical;
use crate::registries::RegistryOptions;
use crate::settings::Settings;
use crate::solve_options::solve_options;
use crate::workspace::{Workspace, no_workspace_with_members};

/// The validated values of a run, and its command line. The values are shared by the projects of a run.
#[derive(Clone)]
pub(crate) struct Context {
    /// The command line, for the commands that hints suggest.
    pub(crate) invocation: Invocation,
    values: Arc<Values>,
    /// The manifests that are about to be written, with which projects are solved.
    edited: Vec<Arc<EditedManifest>>,
    /// The settings that are about to be written.
    edited_settings: Arc<EditedSettings>,
}

/// Settings that are not on the disk yet, but with which projects are solved.
#[derive(Default)]
pub(crate) struct EditedSettings {
    /// New overrides, and `None` for a package that is no longer overridden.
    pub(crate) overrides: BTreeMap<PackageName, Option<Spec>>,
    /// New options for choosing versions.
    pub(crate) options: Option<SolveOptions>,
}

impl EditedSettings {
    /// Makes a request one with these settings.
    pub(crate) fn apply_to(&self, request: &mut Request) {
        for (package, spec) in &self.overrides {
            match spec {
                Some(spec) => request.overrides.insert(package.clone(), spec.clone()),
                None => request.overrides.remove(package),
            };
        }
        if let Some(options) = &self.options {
            request.options = options.clone();
        }
    }
}

/// A manifest with a text that is not on the disk yet.
struct EditedManifest {
    path: PathBuf,
    text: String,
    /// The workspace with the edited manifest, if it is that of a member.
    workspace: Option<Workspace>,
}

impl Deref for Context {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

/// The validated values that the code of several commands uses.
pub(crate) struct Values {
    pub(crate) settings: Settings,
    /// The options for reading packages, with the core library.
    pub(crate) read_options: ReadOptions,
    pub(crate) registries: RegistryOptions,
    /// The options for choosing versions.
    pub(crate) solve_options: SolveOptions,
    /// The format of the root, if the ecosystem is stated.
    pub(crate) ecosystem: Option<&'static dyn Format>,
    /// Whether uses exclude versions.
    pub(crate) strict_uses: bool,
    /// The folder for a certificate of the verdict.
    pub(crate) certificate: Option<PathBuf>,
    /// The workspace, or its error, which only commands that use it report.
    workspace: Result<Option<Workspace>>,
    /// The folders of the members that the command line names.
    pub(crate) members: Vec<PathBuf>,
}

impl Context {
    /// Validates the arguments that commands share.
    pub(crate) fn new(
        command: &Command,
        invocation: Invocation,
        settings: Settings,
    ) -> Result<Self> {
        let args = command.shared_args();
        let read_options = match args.core {
            Some(args) => ReadOptions::with_core(core_library(args, &settings)?),
            None => ReadOptions::default(),
        };
        let solve_options = match args.policy {
            Some(args) => solve_options(args, &settings)?,
            None => SolveOptions::default(),
        };
        let stated = args.policy.and_then(|args| args.ecosystem.as_deref());
        let ecosystem = stated.map(format_of).transpose()?;
        let uses_workspace = args.registry.is_some()
            || matches!(
                command,
                Command::Diff(_) | Command::Pack(_) | Command::Publish(_) | Command::Validate(_)
            );
        let workspace = if uses_workspace {
            Workspace::read(&settings.project, &read_options)
        } else {
            Ok(None)
        };
        let members = match command.members() {
            [] => Vec::new(),
            named => match &workspace {
                Ok(Some(workspace)) => workspace.members_named(named, &read_options)?,
                Ok(None) => return Err(no_workspace_with_members(named, &invocation)),
                Err(failure) => return Err(failure.clone()),
            },
        };
        let invocation = invocation.about(&members);
        let values = Values {
            members,
            registries: RegistryOptions::new(args.registry, args.network, &settings, &invocation)?,
            workspace,
            settings,
            read_options,
            solve_options,
            ecosystem,
            certificate: command.certificate().map(Path::to_owned),
            strict_uses: args.policy.is_some_and(|args| args.strict_uses),
        };
        Ok(Self {
            invocation,
            values: Arc::new(values),
            edited: Vec::new(),
            edited_settings: Arc::default(),
        })
    }

    /// The same context with the text of a manifest that is not written yet. `package` is the class package with it.
    pub(crate) fn with_edited(
        &self,
        path: &Path,
        text: &str,
        package: Option<&Arc<Package>>,
    ) -> Result<Self> {
        let workspace = self.workspace()?.zip(package);
        let edited = EditedManifest {
            path: canonical(path),
            text: text.to_owned(),
            workspace: workspace.map(|(workspace, package)| workspace.with_edited(package)),
        };
        let mut context = self.clone();
        context.edited.push(Arc::new(edited));
        Ok(context)
    }

    /// The same context with settings that are not written yet.
    pub(crate) fn with_settings(self, settings: EditedSettings) -> Self {
        Self {
            edited_settings: Arc::new(settings),
            ..self
        }
    }

    /// The settings that are about to be written.
    pub(crate) fn edited_settings(&self) -> &EditedSettings {
        &self.edited_settings
    }

    /// The text that a manifest is about to get, if it is being edited.
    pub(crate) fn edited_text(&self, manifest: &Path) -> Option<&str> {
        if self.edited.is_empty() {
            return None;
        }
        let path = manifest.canonicalize().ok()?;
        let edited = self.edited.iter().find(|edited| edited.path == path)?;
        Some(&edited.text)
    }

    /// The context for projects of a run that are solved together: hints name all of them, or the workspace.
    pub(crate) fn for_all(&self, projects: &[PathBuf]) -> Result<Self> {
        let invocation = if self.invocation.names_project() {
            self.invocation.clone()
        } else if self.workspace()?.is_some() {
            self.invocation.about_workspace()
        } else {
            self.invocation.clone().about(projects)
        };
        Ok(Self {
            invocation,
            ..self.clone()
        })
    }

    /// The context for one project of a run that names none: hints name the project.
    pub(crate) fn for_one(&self, project: &Path) -> Self {
        Self {
            invocation: self.invocation.about_only(project),
            ..self.clone()
        }
    }

    /// The core library, which every package requires, unless there is none.
    pub(crate) fn core(&self) -> Option<&PackageName> {
        self.read_options.core.as_ref()
    }

    /// The workspace of the project, if it has one. Only commands about projects read it.
    pub(crate) fn workspace(&self) -> Result<Option<&Workspace>> {
        // The last one has the changes of all of them.
        let mut edited = self.edited.iter().rev();
        if let Some(workspace) = edited.find_map(|edited| edited.workspace.as_ref()) {
            return Ok(Some(workspace));
        }
        match &self.workspace {
            Ok(workspace) => Ok(workspace.as_ref()),
            Err(failure) => Err(failure.clone()),
        }
    }
}

/// The format of an ecosystem that the command line names.
pub(crate) fn format_of(id: &str) -> Result<&'static dyn Format> {
    pkgres_formats::find(id).ok_or_else(|| {
        let ids = pkgres_formats::ALL
            .iter()
            .map(|known| known.ecosystem().id());
        let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
        Failure::usage(format!(
            "--ecosystem: `{}` is not one of {}",
            Escaped::shortened(id),
            ids.join(", ")
        ))
    })
}

/// The core library that the arguments name.
fn core_library(args: &CoreArgs, settings: &Settings) -> Result<Option<PackageName>> {
    if args.no_core_library {
        return Ok(None);
    }
    PackageName::parse(&args.core_library)
        .map(Some)
        .map_err(|error| {
            let from = settings.from("core-library");
            Failure::usage(format!("--core-library: {error}{from}"))
        })
}
