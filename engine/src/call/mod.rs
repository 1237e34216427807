//! Calls a function of a class on a machine.
//!
//! A function is a script of the package that defines its method: `Resources/CLASS/FUNCTION`. It gets its arguments as
//! variables, and the properties of the object as JSON on standard input; its output is the returned value as JSON. The
//! interfaces of the class decide whether it may be called at all; [`ClassStubs`] knows them.

mod arguments;
mod failure;
mod script_variables;

pub use failure::CallFailure;

use std::collections::BTreeMap;
use std::time::Duration;

use pkgres_checks::{
    Answer, BoundPackages, CallError, CallWarning, ClassConformance, ClassStubs, DeclaredMethod,
    Strictness, class_conformance,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{
    Argument, ArgumentUsage, ClassName, Facts, ObjectId, ObjectModel, PackagePath, Release,
    did_you_mean, most_similar,
};
use serde_json::Value;

use crate::kinds::PackageFiles;
use crate::objects::{ObjectClasses, defaults, model_findings, release_of};
use crate::script::RunnableScript;
use crate::target::{Command, Output, Target, TargetError};
use arguments::ArgumentContracts;
use script_variables::is_variable;

/// The folder of a package with a folder of scripts for each class.
const SCRIPTS: &str = "Resources";

/// The longest time that a function runs, unless the caller says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// The callee: a function of a class, as a release sees it.
#[derive(Debug, Clone, Copy)]
pub struct CalledFunction<'call> {
    /// The releases with their classes.
    pub packages: &'call BoundPackages,
    /// A release that defines the class, or sees it.
    pub release: &'call Release,
    /// The class.
    pub class: &'call ClassName,
    /// The function.
    pub function: &'call str,
}

/// A call of a function, which was checked as far as no machine is needed for that.
pub struct FunctionCall<'call> {
    called: CalledFunction<'call>,
    conformance: ClassConformance<'call>,
    method: Option<DeclaredMethod<'call>>,
    values: BTreeMap<String, String>,
    object: Value,
    warnings: Vec<Diagnostic>,
    timeout: Duration,
}

impl<'call> FunctionCall<'call> {
    /// A call with values for its arguments. The function gets the properties of an object of a model or, without one,
    /// the defaults of the properties of its class.
    ///
    /// # Errors
    ///
    /// The release knows no such class, the function has no such argument, or a value does not satisfy its contract: that
    /// of an argument, or one in the model.
    pub fn new(
        called: CalledFunction<'call>,
        object: Option<(&'call ObjectModel, ObjectId)>,
        values: &[(String, String)],
    ) -> Result<Self, Vec<Diagnostic>> {
        let CalledFunction {
            packages,
            release,
            class,
            function,
        } = called;
        let Some(conformance) = class_conformance(packages, release, class) else {
            let Release { name, version } = release;
            let class = Escaped::shortened(class.as_str());
            let message = format!("{name} {version} knows no class `{class}`");
            return Err(vec![Diagnostic::error(Code::Call, message)]);
        };
        let mut call = Self {
            called,
            conformance,
            method: packages.method_of(release, class, function),
            values: BTreeMap::new(),
            object: match object {
                Some((model, object)) => ObjectClasses::new(packages).json(model, object),
                None => Value::Object(defaults(&packages.properties_of(release, class))),
            },
            warnings: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
        };
        let mut findings =
            object.map_or_else(Vec::new, |(model, _)| model_findings(packages, model));
        let declaring = match &call.method {
            Some(declared) => declared.release.clone(),
            None => release.clone(),
        };
        let contracts = ArgumentContracts::new(packages, declaring, class, object);
        for (name, value) in values {
            if let Err(errors) = call.set(name, value, &contracts) {
                findings.extend(errors);
            }
        }
        if findings.iter().any(Diagnostic::is_error) {
            return Err(findings);
        }
        call.warnings = findings;
        Ok(call)
    }

    /// The warnings about the values of the model.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Sets the longest time that the function may run, which is ten minutes otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The declaration of the function: in the class, or else in its interface.
    pub fn location(&self) -> Option<&Location> {
        if let Some(declared) = &self.method {
            return Some(&declared.method.name.location);
        }
        let mut functions = self.conformance.functions();
        let function = functions.find(|it| it.name == self.called.function)?;
        Some(&function.function?.name.location)
    }

    /// The names of the functions that the class has.
    pub fn known_functions(&self) -> Vec<&str> {
        self.conformance.functions().map(|it| it.name).collect()
    }

    /// The arguments that the function takes.
    fn arguments(&self) -> &[Argument] {
        if let Some(declared) = &self.method {
            return &declared.method.arguments;
        }
        let mut functions = self.conformance.functions();
        let function = functions.find(|it| it.name == self.called.function);
        let function = function.and_then(|it| it.function);
        function.map_or(&[], |function| &function.arguments)
    }

    /// Sets an argument.
    fn set(
        &mut self,
        name: &str,
        value: &str,
        contracts: &ArgumentContracts<'_>,
    ) -> Result<(), Vec<Diagnostic>> {
        let function = Escaped::shortened(self.called.function).to_string();
        let shown = Escaped::shortened(name).to_string();
        let error = |message: String| Err(vec![Diagnostic::error(Code::Call, message)]);
        if self.values.contains_key(name) {
            return error(format!("the argument `{shown}` has two values"));
        }
        let arguments = self.arguments();
        let is_named = |it: &&Argument| it.usage == ArgumentUsage::Standard;
        let found = arguments
            .iter()
            .filter(is_named)
            .find(|it| it.name.value == name);
        let takes_any = arguments.iter().any(|it| it.usage == ArgumentUsage::KwArgs);
        let is_known = !arguments.is_empty() || self.location().is_some();
        if found.is_none() && !takes_any && is_known {
            let names = arguments
                .iter()
                .filter(is_named)
                .map(|it| it.name.value.as_str());
            let similar = most_similar(name, names.clone());
            let message = format!("`{function}` has no argument `{shown}`");
            let finding = Diagnostic::error(Code::Call, message);
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            return Err(vec![match similar {
                Some(similar) => finding.hint(did_you_mean(similar)),
                None if names.is_empty() => finding,
                None => finding.hint(format!("its arguments are {}", names.join(", "))),
            }]);
        }
        if !is_variable(name) {
            return error(format!(
                "the argument `{shown}` cannot be a variable of a script"
            ));
        }
        if value.contains('\0') {
            return error(format!("the value of `{shown}` has a null byte"));
        }
        let problems = found.map(|it| contracts.problems(name, &it.contract.value, value));
        let problems = problems.into_iter().flatten();
        let errors: Vec<_> = problems
            .map(|problem| Diagnostic::error(Code::Call, problem))
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        self.values.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Calls the function on a machine with some facts, which decide whether it may be called there. With `reads_only`,
    /// the file systems of the machine are read-only meanwhile, if the machine can enforce that.
    ///
    /// # Errors
    ///
    /// The function may not be called on this machine, failed, or returned what its interface does not allow.
    pub fn run(
        &self,
        target: &dyn Target,
        facts: &Facts,
        files: &dyn PackageFiles,
        (strictness, reads_only): (Strictness, bool),
    ) -> Result<Answer, CallError<CallFailure>> {
        let stubs = ClassStubs::new(&self.conformance, facts, strictness);
        let mut answer = stubs.call(self.called.function, || {
            let command = self.command(files)?;
            let output = if reads_only {
                target.query(&command)
            } else {
                target.run(&command)
            };
            self.value_of(output)
        })?;
        if self.conformance.interfaces.is_empty() {
            // Without an interface, nothing says which methods to rely on.
            let is_deprecated = |it: &CallWarning| matches!(it, CallWarning::Deprecated { .. });
            answer.warnings.retain(|warning| !is_deprecated(warning));
        }
        Ok(answer)
    }

    /// The command that runs the function.
    fn command(&self, files: &dyn PackageFiles) -> Result<Command, CallFailure> {
        let function = self.called.function;
        let Some(DeclaredMethod {
            release,
            class,
            method,
            ..
        }) = &self.method
        else {
            let function = Escaped::shortened(function);
            let message = format!("no known class defines `{function}`");
            return Err(CallFailure::Unusable(message));
        };
        let variables = self.variables(&method.arguments)?;
        let path = format!("{SCRIPTS}/{class}/{}", method.name.value);
        let path =
            PackagePath::parse(&path).map_err(|error| CallFailure::Unusable(error.to_string()))?;
        let bytes = files
            .read(release, &path)
            .map_err(CallFailure::Unusable)?
            .ok_or_else(|| CallFailure::NoScript {
                package: release.name.clone(),
                version: release.version.clone(),
                path: path.clone(),
            })?;
        let script = RunnableScript::new(path.as_str(), &bytes)
            .map_err(|error| CallFailure::Unusable(error.to_string()))?;
        let mut command = script.command(path.as_str());
        for (name, value) in variables {
            command = command.variable(name, value);
        }
        Ok(command
            .variable("PKGRES_CLASS", self.called.class.as_str())
            .variable("PKGRES_FUNCTION", function)
            .input(self.object.to_string())
            .timeout(self.timeout))
    }

    /// The variables with the arguments. What is left out has the default of the method.
    fn variables(&self, arguments: &[Argument]) -> Result<BTreeMap<String, String>, CallFailure> {
        let mut variables = self.values.clone();
        let mut missing = Vec::new();
        for argument in arguments {
            let name = &argument.name.value;
            if argument.usage != ArgumentUsage::Standard || variables.contains_key(name) {
                continue;
            }
            if !is_variable(name) {
                let name = Escaped::shortened(name);
                let message = format!("the argument `{name}` cannot be a variable of a script");
                return Err(CallFailure::Unusable(message));
            }
            if !argument.has_default {
                missing.push(format!("`{}`", Escaped::shortened(name)));
                continue;
            }
            let default = argument.default.as_deref().unwrap_or_default();
            // Nothing here evaluates expressions: the script sees that there is no value.
            match serde_json::from_str(default).unwrap_or_default() {
                Value::Null => {}
                Value::String(text) if text.contains('$') => {}
                Value::String(text) => {
                    variables.insert(name.clone(), text);
                }
                other => {
                    variables.insert(name.clone(), other.to_string());
                }
            }
        }
        if missing.is_empty() {
            return Ok(variables);
        }
        let function = Escaped::shortened(self.called.function);
        let missing = missing.join(", ");
        let message = format!("`{function}` needs a value for {missing}");
        Err(CallFailure::Arguments(message))
    }

    /// The value that a script returned.
    fn value_of(&self, output: Result<Output, TargetError>) -> Result<Value, CallFailure> {
        let output = TargetError::unless_script_succeeded(self.called.function, output)?;
        let function = Escaped::shortened(self.called.function).to_string();
        if output.is_cut {
            return Err(CallFailure::OutputLimit { function });
        }
        let text = output.stdout.trim_ascii();
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(text).map_err(|error| CallFailure::NotJson {
            function,
            reason: error.to_string(),
        })
    }
}

/// Returns the objects of a model that have a function of a class: objects of the class and of classes that extend it.
pub fn callable_objects(
    packages: &BoundPackages,
    model: &ObjectModel,
    class: &ClassName,
) -> Vec<(ObjectId, Release)> {
    let objects = model.objects().iter().enumerate();
    let callable = objects.filter_map(|(at, object)| {
        let release: &Release = release_of(packages, object).ok().flatten()?;
        let lineage = packages.lineage(release, &object.class);
        let is_of_class = lineage.iter().any(|(_, ancestor)| ancestor == class);
        is_of_class.then(|| (ObjectId(at), release.clone()))
    });
    callable.collect()
}
