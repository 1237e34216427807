//! `pkgres tree`

use crate::args::SolveArgs;
use crate::commands::solve::{Solved, solve};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show;

pub(crate) fn run(args: &SolveArgs, output: &mut Output) -> Result<Exit> {
    match solve(args, output)? {
        Solved::Yes(resolution, _) if output.is_json() => {
            output.json(&show::resolution_json(&resolution));
            Ok(Exit::Done)
        }
        Solved::Yes(resolution, core) => {
            output.data(&show::tree(&resolution, core.as_ref()));
            Ok(Exit::Done)
        }
        Solved::No(exit) => Ok(exit),
    }
}
