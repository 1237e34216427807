//! `pkgres explain`

use pkgres_checks::{ApiRule, Impact, RecordRule};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{did_you_mean, most_similar};
use pkgres_resolver::Locked;
use serde_json::json;

use crate::args::ExplainArgs;
use crate::commands::error_page;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::project::Project;
use crate::show::{self, counted};
use crate::solve_task::{Searched, SolveTask};

pub(super) fn run(args: &ExplainArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.list {
        list(output);
        return Ok(Exit::Done);
    }
    let subject = args.subject.to_string_lossy();
    if is_code(&subject) && !args.subject.exists() {
        return explain_code(&subject, output);
    }
    if let Some(rule) = Rule::find(&subject).filter(|_| !args.subject.exists()) {
        rule.explain(output);
        return Ok(Exit::Done);
    }
    if !args.subject.exists()
        && let Some(similar) = most_similar(&subject, Rule::ids())
    {
        let message = format!(
            "there is no rule, code or project `{}`",
            Escaped::shortened(&subject)
        );
        let finding = Diagnostic::error(Code::Usage, message);
        return Err(finding.hint(did_you_mean(similar)).into());
    }
    let project = Project::open(&args.subject, context)?;
    let mut task = SolveTask::of_project(&project, context)?;
    if let Some(lock) = project.lockfile(context)? {
        task.request.locked = Locked::from_lockfile(&lock);
    }
    let locations = std::mem::take(&mut task.searched);
    match task.search(context, output)?.0 {
        Searched::Conflict(conflict) => {
            if output.is_json() {
                output.json(&show::conflict_document(&conflict));
            } else {
                output.prose(&show::proof(&conflict, &locations));
                output.note(&format!(
                    "There is no resolution, for {}; `pkgres explain {}` explains the code",
                    counted(conflict.reasons.len(), "reason"),
                    conflict.code
                ));
            }
            Ok(Exit::Failed)
        }
        Searched::Solved(resolution) => {
            if output.is_json() {
                output.json(&json!({"schema_version": 1, "status": "resolved", "conflict": null}));
            } else {
                output.note(&format!(
                    "There is nothing to explain: {} resolved",
                    counted(resolution.len(), "package")
                ));
            }
            Ok(Exit::Done)
        }
    }
}

/// Lists all codes and rules, each with its title.
fn list(output: &mut Output) {
    let rules: Vec<Rule> = Rule::ids().filter_map(Rule::find).collect();
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.number());
    if output.is_json() {
        let codes = codes
            .iter()
            .map(|code| json!({"code": code.to_string(), "title": code.title()}));
        let rules = rules.iter().map(
            |rule| json!({"rule": rule.id, "impact": rule.impact.to_string(), "title": rule.title}),
        );
        output.json(&json!({
            "schema_version": 1,
            "codes": codes.collect::<Vec<_>>(),
            "rules": rules.collect::<Vec<_>>(),
        }));
        return;
    }
    let codes = codes.iter();
    let codes = codes.map(|code| (code.to_string(), code.title().to_owned()));
    let rules = rules.iter().map(|rule| {
        (
            rule.id.to_owned(),
            format!("{} ({})", rule.title, rule.impact),
        )
    });
    let groups: [Vec<(String, String)>; 2] = [codes.collect(), rules.collect()];
    for lines in &groups {
        let width = lines.iter().map(|(name, _)| name.len()).max();
        let width = width.unwrap_or_default();
        for (name, title) in lines {
            output.prose(&format!("{name:width$}  {title}\n"));
        }
    }
}

/// Whether a text looks like an error code, with or without its letters.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix("PK").or_else(|| text.strip_prefix("pk"));
    let digits = digits.unwrap_or(text);
    !digits.is_empty() && digits.chars().all(|character| character.is_ascii_digit())
}

/// A rule of compatibility.
struct Rule {
    id: &'static str,
    impact: Impact,
    title: &'static str,
    explanation: &'static str,
    page: &'static str,
}

impl Rule {
    /// The ids of all rules.
    fn ids() -> impl Iterator<Item = &'static str> {
        let classes = ApiRule::ALL.iter().map(|rule| rule.id());
        let others = RecordRule::ALL.iter().map(|rule| rule.id());
        // Rules of both are explained once.
        classes.chain(others.filter(|id| ApiRule::with_id(id).is_none()))
    }

    /// The rule with an id. If class packages and other ecosystems have the same rule, it is the one of class packages.
    fn find(id: &str) -> Option<Self> {
        if let Some(rule) = ApiRule::with_id(id) {
            return Some(Self {
                id: rule.id(),
                impact: rule.impact(),
                title: rule.title(),
                explanation: rule.explanation(),
                page: error_page::of_rule(rule),
            });
        }
        RecordRule::with_id(id).map(|rule| Self {
            id: rule.id(),
            impact: rule.impact(),
            title: rule.title(),
            explanation: rule.explanation(),
            page: error_page::of_record_rule(rule),
        })
    }

    fn explain(&self, output: &mut Output) {
        if output.is_json() {
            let lines: Vec<&str> = self.explanation.lines().map(str::trim).collect();
            output.json(&json!({
                "schema_version": 1,
                "rule": self.id,
                "impact": self.impact.to_string(),
                "title": self.title,
                "explanation": lines.join("\n").trim(),
                "page": self.page,
            }));
        } else {
            output.data(&error_page::as_text(self.page, output.data_width()));
        }
    }
}

fn explain_code(text: &str, output: &mut Output) -> Result<Exit> {
    let digits = text.trim_start_matches(|next: char| !next.is_ascii_digit());
    let number: Option<u16> = digits.parse().ok();
    let mut codes = Code::ALL.iter();
    let Some(code) = codes.find(|code| Some(code.number()) == number) else {
        let finding = Diagnostic::error(Code::Usage, format!("there is no error code {text}"));
        let known: Vec<String> = Code::ALL.iter().map(ToString::to_string).collect();
        let similar = most_similar(text, known.iter().map(String::as_str));
        return Err(match similar {
            Some(similar) => finding.hint(format!("did you mean {similar}?")).into(),
            None => finding
                .hint("`pkgres explain --list` lists all codes")
                .into(),
        });
    };
    let page = error_page::of(*code);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "code": code.to_string(),
            "title": code.title(),
            "explanation": error_page::meaning(*code),
            "page": page,
        }));
    } else {
        output.data(&error_page::as_text(page, output.data_width()));
    }
    Ok(Exit::Done)
}
