//! `pkgres resolve`

use std::time::Instant;

use crate::args::ResolveArgs;
use crate::commands::solve::{Solved, solve};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::{self, counted};

pub(crate) fn run(args: &ResolveArgs, output: &mut Output) -> Result<Exit> {
    let start = Instant::now();
    let (resolution, core) = match solve(&args.solve, output)? {
        Solved::Yes(resolution, core) => (resolution, core),
        Solved::No(exit) => return Ok(exit),
    };
    if output.is_json() {
        output.json(&show::resolution_json(&resolution));
        return Ok(Exit::Done);
    }
    output.data(&show::tree(&resolution, core.as_ref()));
    for line in show::notes(&resolution) {
        output.note(&line);
    }
    let packages = counted(resolution.packages.len(), "package");
    output.note(&format!(
        "Resolved {packages} in {} ms",
        start.elapsed().as_millis()
    ));
    Ok(Exit::Done)
}
