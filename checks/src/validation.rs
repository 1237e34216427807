//! Checks validation files.
//!
//! Validators run one after the other, and most mistakes silently make them do less than their author intended: a
//! choice without a case skips all cases, and a script does not get a variable that is not an argument. These lints
//! find such mistakes without a machine to validate.

use std::collections::{HashMap, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located, Severity};
use pkgres_manifest::{
    ArgumentCase, ArgumentName, ArgumentValue, DISTRO_ARGUMENT, OsCase, OsName, RESERVED_NAMES,
    Script, Validation, ValidatorCheck, did_you_mean, most_similar,
};

/// Returns the findings on a validation. `has_script` returns whether there is a file for a script.
///
/// ```
/// use pkgres_checks::check_validation;
/// use pkgres_manifest::{ReadOptions, read_validation_file};
///
/// let text = b"validators:\n  - script: {install: {env_vars: [version]}}\n";
/// let (validation, _) = read_validation_file("validate.yaml", text, &ReadOptions::default())
///     .into_result()
///     .expect("the validation is valid");
/// let findings = check_validation(&validation, |_| true);
/// assert_eq!(
///     findings[0].message,
///     "`install` asks for `version`, which is not an argument"
/// );
/// ```
pub fn check_validation(
    validation: &Validation,
    has_script: impl FnMut(&Script) -> bool,
) -> Vec<Diagnostic> {
    let mut check = ValidationCheck {
        validation,
        has_script,
        assigned: HashMap::new(),
        cases: HashMap::new(),
        findings: Vec::new(),
    };
    check.collect();
    check.arguments();
    validation.visit(|validator| check.validator(&validator.check));
    check.choices();
    crate::in_order(check.findings)
}

/// The values that an argument can get while validators run; `None` if a script decides.
type Assigned<'validation> = Option<HashSet<&'validation ArgumentValue>>;

struct ValidationCheck<'validation, HasScript> {
    validation: &'validation Validation,
    has_script: HasScript,
    /// The arguments that validators give values to.
    assigned: HashMap<&'validation ArgumentName, Assigned<'validation>>,
    /// The decisions on each argument.
    cases: HashMap<&'validation ArgumentName, Vec<&'validation ArgumentCase>>,
    findings: Vec<Diagnostic>,
}

impl<'validation, HasScript: FnMut(&Script) -> bool> ValidationCheck<'validation, HasScript> {
    fn collect(&mut self) {
        let (assigned, cases) = (&mut self.assigned, &mut self.cases);
        self.validation.visit(|validator| match &validator.check {
            ValidatorCheck::ArgumentSet { argument, value } => {
                let values = assigned.entry(&argument.value);
                let values = values.or_insert_with(|| Some(HashSet::new()));
                if let Some(values) = values {
                    values.insert(&value.value);
                }
            }
            ValidatorCheck::Script(script) => {
                if let Some(output) = &script.output {
                    assigned.insert(&output.value, None);
                }
            }
            ValidatorCheck::ArgumentCase(case) => {
                cases.entry(&case.argument.value).or_default().push(case);
            }
            _ => {}
        });
    }

    fn arguments(&mut self) {
        for argument in &self.validation.arguments {
            if let Some(location) = &argument.hidden {
                let message = "the key `hidden` has no meaning in an argument".to_owned();
                let finding = Diagnostic::warning(Code::UnknownKey, message);
                self.findings.push(finding.at(location.clone()));
            }
            for value in argument.default.iter().chain(&argument.choices) {
                self.value(value);
            }
        }
    }

    /// Warns about a value that other YAML readers do not take for text.
    fn value(&mut self, value: &Located<ArgumentValue>) {
        if value.value.is_plain_text() {
            return;
        }
        let text = Escaped::shortened(value.value.as_str()).to_string();
        let message = format!("`{text}` is not text for every YAML reader");
        let finding = Diagnostic::warning(Code::ValueNotText, message)
            .at(value.location.clone())
            .hint(format!("write `\"{text}\"`"));
        self.findings.push(finding);
    }

    fn validator(&mut self, check: &'validation ValidatorCheck) {
        match check {
            ValidatorCheck::Script(script) => {
                let path = Escaped::shortened(script.path.value.as_str());
                for argument in &script.arguments {
                    let what = format!("`{path}` asks for");
                    self.use_of(argument, &what, false);
                }
                if let Some(output) = &script.output {
                    let what = format!("the output of `{path}` goes to");
                    self.assignment(output, &what);
                }
                self.script(script);
            }
            ValidatorCheck::CopyScript(script) => self.script(script),
            ValidatorCheck::ArgumentSet { argument, value } => {
                self.assignment(argument, "`argument_set` sets");
                self.value(value);
                self.choice(&argument.value, value);
            }
            ValidatorCheck::ArgumentCase(case) => {
                self.use_of(&case.argument, "`argument_case` depends on", true);
                for (value, _) in &case.cases {
                    self.value(value);
                }
                self.unreachable_values(case);
            }
            ValidatorCheck::OsCase(cases) => {
                self.unreachable_systems(cases);
                self.unknown_systems(cases);
            }
            _ => {}
        }
    }

    fn is_declared(&self, name: &ArgumentName) -> bool {
        self.validation.argument(name).is_some()
    }

    /// Reports a use of an argument that never has a value.
    fn use_of(&mut self, argument: &Located<ArgumentName>, what: &str, is_error: bool) {
        let name = &argument.value;
        let is_known = if is_error {
            name.as_str() == DISTRO_ARGUMENT
        } else {
            RESERVED_NAMES.contains(&name.as_str())
        };
        // Where it gets a value, there is a finding on that already.
        if !is_known && !self.is_declared(name) && !self.assigned.contains_key(name) {
            let finding = self.undeclared(argument, what);
            if is_error {
                finding.severity = Severity::Error;
            }
        }
    }

    fn assignment(&mut self, argument: &Located<ArgumentName>, what: &str) {
        if !self.is_declared(&argument.value) {
            self.undeclared(argument, what);
        }
    }

    /// Reports a value that the argument cannot have: a run would stop there, and may have changed something before.
    fn choice(&mut self, name: &ArgumentName, value: &Located<ArgumentValue>) {
        let Some(argument) = self.validation.argument(name) else {
            return;
        };
        let choices = || argument.choices.iter().map(|choice| choice.value.as_str());
        let text = value.value.as_str();
        if argument.choices.is_empty() || choices().any(|choice| choice == text) {
            return;
        }
        let message = format!("`{}` is not a choice of `{name}`", Escaped::shortened(text));
        let mut finding = Diagnostic::error(Code::Validation, message)
            .at(value.location.clone())
            .label(argument.name.location.clone(), "the argument");
        if let Some(similar) = most_similar(text, choices()) {
            let similar = Escaped::shortened(similar);
            finding = finding.hint(did_you_mean(similar));
        }
        self.findings.push(finding);
    }

    fn undeclared(&mut self, argument: &Located<ArgumentName>, what: &str) -> &mut Diagnostic {
        let name = argument.value.as_str();
        let arguments = &self.validation.arguments;
        let with_variable = arguments.iter().find(|declared| {
            let variable = declared.target_variable.as_ref();
            variable.is_some_and(|variable| variable.value.as_str() == name)
        });
        let names = arguments
            .iter()
            .map(|declared| declared.name.value.as_str());
        let hint = match with_variable {
            Some(declared) => Some(format!(
                "`{name}` is the variable of the argument `{}`: name the argument",
                declared.name.value
            )),
            None => most_similar(name, names).map(did_you_mean),
        };
        let message = format!("{what} `{name}`, which is not an argument");
        let mut finding = Diagnostic::warning(Code::UndeclaredArgument, message);
        finding.hints.extend(hint);
        self.findings.push(finding.at(argument.location.clone()));
        self.findings.last_mut().expect("it was pushed")
    }

    fn script(&mut self, script: &Script) {
        if script.inline.is_some() || (self.has_script)(script) {
            return;
        }
        let path = Escaped::shortened(script.path.value.as_str());
        let finding = Diagnostic::error(
            Code::ScriptMissing,
            format!("there is no script `{path}`"),
        )
        .at(script.path.location.clone())
        .hint("scripts are beside the validation file, or in the package's folder `Resources`");
        self.findings.push(finding);
    }

    /// Warns about values for which there is a case, but which the argument never has.
    fn unreachable_values(&mut self, case: &ArgumentCase) {
        let argument = self.validation.argument(&case.argument.value);
        let Some(argument) = argument.filter(|argument| !argument.choices.is_empty()) else {
            return;
        };
        let assigned = match self.assigned.get(&case.argument.value) {
            Some(None) => return,
            Some(Some(values)) => Some(values),
            None => None,
        };
        for (value, _) in &case.cases {
            let is_choice = argument.choices.iter().any(|it| it.value == value.value);
            if is_choice || assigned.is_some_and(|values| values.contains(&value.value)) {
                continue;
            }
            let text = Escaped::shortened(value.value.as_str());
            let message = format!("`{text}` is not a choice of `{}`", argument.name.value);
            let mut finding = Diagnostic::warning(Code::UnreachableCase, message)
                .at(value.location.clone())
                .label(argument.name.location.clone(), "the argument");
            let choices = argument.choices.iter().map(|choice| choice.value.as_str());
            if let Some(similar) = most_similar(value.value.as_str(), choices) {
                let similar = Escaped::shortened(similar);
                finding = finding.hint(did_you_mean(similar));
            }
            self.findings.push(finding);
        }
    }

    /// Warns about operating systems whose case comes after one that applies to them, too.
    fn unreachable_systems(&mut self, cases: &[OsCase]) {
        let mut earlier: HashMap<&str, &OsCase> = HashMap::with_capacity(cases.len());
        for case in cases {
            let os = &case.os.value;
            let family = os.family();
            let same = earlier.get(os.as_str());
            let wider = family.and_then(|family| earlier.get(family));
            let (first, hint) = match (same, wider) {
                (Some(first), _) => (first, "move its validators there".to_owned()),
                (None, Some(first)) => (
                    first,
                    format!("put `{os}` before `{}`, its family", first.os.value),
                ),
                (None, None) => {
                    earlier.insert(os.as_str(), case);
                    continue;
                }
            };
            let message = format!("the case `{os}` is never reached");
            let finding = Diagnostic::warning(Code::UnreachableCase, message)
                .at(case.os.location.clone())
                .label(first.os.location.clone(), "this case applies first")
                .hint(hint);
            self.findings.push(finding);
        }
    }

    /// Warns about operating systems that nobody knows: their cases are skipped everywhere.
    fn unknown_systems(&mut self, cases: &[OsCase]) {
        for os in cases.iter().map(|case| &case.os) {
            if os.value.is_known() {
                continue;
            }
            let message = format!("`{}` is not a known operating system", os.value);
            let hint = match most_similar(os.value.as_str(), OsName::known()) {
                Some(similar) => did_you_mean(similar),
                None => format!(
                    "the case counts where /etc/os-release has `ID={}`",
                    os.value
                ),
            };
            let finding = Diagnostic::warning(Code::UnreachableCase, message);
            self.findings
                .push(finding.at(os.location.clone()).hint(hint));
        }
    }

    /// Warns about choices for which a decision has no case.
    fn choices(&mut self) {
        for argument in &self.validation.arguments {
            let Some(decisions) = self.cases.get(&argument.name.value) else {
                continue;
            };
            let first_gaps = first_gaps(decisions);
            for choice in &argument.choices {
                let gap = first_gaps.get(&choice.value).copied().unwrap_or(0);
                let Some(decision) = decisions.get(gap) else {
                    continue;
                };
                let text = Escaped::shortened(choice.value.as_str());
                let message = format!("the choice `{text}` has no case");
                let finding = Diagnostic::warning(Code::ChoiceWithoutCase, message)
                    .at(choice.location.clone())
                    .label(
                        decision.argument.location.clone(),
                        "the cases depend on this argument",
                    )
                    .hint(format!("if nothing has to be done, add `{text}: []`"));
                self.findings.push(finding);
            }
        }
    }
}

/// The index of the first decision that has no case for a value, by value; the number of decisions if all have one.
fn first_gaps<'validation>(
    decisions: &[&'validation ArgumentCase],
) -> HashMap<&'validation ArgumentValue, usize> {
    let mut gaps = HashMap::new();
    for (index, decision) in decisions.iter().enumerate() {
        for (value, _) in &decision.cases {
            let gap = gaps.entry(&value.value).or_insert(0);
            if *gap == index {
                *gap += 1;
            }
        }
    }
    gaps
}
