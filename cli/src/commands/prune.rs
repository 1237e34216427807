//! `pkgres prune`

use pkgres_engine::{remove_unused_archives, unused_archives};
use pkgres_manifest::diagnostic::Escaped;
use serde_json::json;

use super::validate::{open_machine, target_failure};
use crate::args::PruneArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::counted;

pub(super) fn run(args: &PruneArgs, output: &mut Output) -> Result<Exit> {
    let machine = open_machine(&args.target, &args.ssh.options())?;
    let unused = if args.dry_run {
        unused_archives(&*machine)
    } else {
        remove_unused_archives(&*machine)
    };
    let unused = unused.map_err(target_failure)?;
    let paths: Vec<_> = unused.iter().map(|path| path.to_string_lossy()).collect();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if args.dry_run { "would_prune" } else { "pruned" },
            "target": args.target.to_string(),
            "archives": paths,
        }));
    } else {
        for path in &paths {
            output.data(&format!("{}\n", Escaped::new(path)));
        }
    }
    let count = counted(paths.len(), "unpacked archive");
    output.note(&match (paths.len(), args.dry_run) {
        (0, _) => "There are no unused archives".to_owned(),
        (_, true) => format!("Would remove {count}; nothing was removed"),
        (_, false) => format!("Removed {count}"),
    });
    Ok(Exit::Done)
}
