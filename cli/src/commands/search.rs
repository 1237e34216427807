//! `pkgres search`

use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::Escaped;
use serde_json::{Value, json};

use crate::args::SearchArgs;
use crate::commands::info::{Releases, releases_of, root_of};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::registries::title_of;
use crate::show::counted;

/// How many characters of a title are shown.
const TITLE_CHARACTERS: usize = 200;

pub(super) fn run(args: &SearchArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let configured = context
        .registries
        .for_root(root_of(&args.lookup.manifest))?;
    let options = &context.read_options;
    let registries = context.registries.open(&configured, options)?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut found = output.during("Searching", context.registries.activity(), || {
        // One more shows whether there are more.
        registries.search(&args.words, limit.saturating_add(1))
    })?;
    let is_cut_off = found.len() > limit;
    found.truncate(limit);
    let names: Vec<PackageName> = found.iter().map(|found| found.name.clone()).collect();
    let releases = releases_of(&names, &registries, context)?;
    let not_searched = registries.not_searched();
    let is_complete = !is_cut_off && not_searched.is_empty();
    output.registry_findings(&registries.take_findings());
    let newest = releases
        .iter()
        .map(|releases| releases.as_ref().and_then(Releases::newest));
    if output.is_json() {
        let packages = found.iter().zip(newest).map(|(found, newest)| {
            json!({
                "name": found.name,
                "title": found.title,
                "newest": newest.map(|record| &record.version),
            })
        });
        let packages: Vec<Value> = packages.collect();
        output.json(&json!({
            "schema_version": 1,
            "packages": packages,
            "is_complete": is_complete,
        }));
        return Ok(Exit::Done);
    }
    for (found, newest) in found.iter().zip(newest) {
        let mut line = found.name.to_string();
        if let Some(newest) = newest {
            line.push_str(&format!(" {}", newest.version));
        }
        if let Some(title) = &found.title {
            line.push_str(&format!("  {}", Escaped::within(title, TITLE_CHARACTERS)));
        }
        output.prose(&format!("{line}\n"));
    }
    for registry in &configured {
        let location = &registry.location;
        if not_searched.contains(&&location.name) {
            let title = title_of(location);
            output.note(&format!(
                "not searched: {title}, because the Galaxy API has no search by name"
            ));
        }
    }
    output.note(&match found.len() {
        0 => "No package matches".to_owned(),
        count if is_cut_off => format!(
            "The first {}; `--limit` shows more",
            counted(count, "package")
        ),
        count => counted(count, "package"),
    });
    Ok(Exit::Done)
}
