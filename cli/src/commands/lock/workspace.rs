//! `pkgres lock` on several projects.

use std::path::Path;

use serde_json::json;

use super::agreement::agree;
use super::proposal::Agreed;
use crate::args::LockArgs;
use crate::commands::several::Several;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::{registries, show};

/// Locks several projects, or checks their lockfiles: `each` does that with one, of which there may be
/// something that all agreed on.
pub(super) fn lock_all(
    args: &LockArgs,
    output: &mut Output,
    each: impl Fn(&Path, Option<&Agreed>, &mut Output) -> Result<Exit> + Sync,
) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let mut several = if args.workspace {
        Several::of_workspace(&options)?
    } else {
        Several::of(&args.manifest, false, &options)?
    };
    several.one_solve |= args.one_solve;
    let agreement = if several.one_solve {
        match agree(args, &several.manifests, output)? {
            Ok(agreement) => Some(agreement),
            Err(exit) => return Ok(exit),
        }
    } else {
        None
    };
    let releases = agreement.as_ref().map(|agreement| &agreement.releases);
    let each = |manifest: &Path, output: &mut Output| each(manifest, releases, output);
    let ended = several.each("Locking", each, output);
    let exit = ended.exit;
    let together = agreement.map(|agreement| agreement.resolution);
    if output.is_json() {
        let mut document = ended.document();
        if let Some(together) = together {
            document["side_by_side"] = json!(show::side_by_side_json(&together));
        }
        output.json(&document);
        return Ok(exit);
    }
    output.notes(
        together
            .iter()
            .flat_map(|together| show::side_by_side(together)),
    );
    output.note(&if args.check || args.locked {
        ended.looked_at("Checked")
    } else if args.dry_run {
        ended.looked_at("Looked at")
    } else {
        ended.changed("Locked")
    });
    Ok(exit)
}
