//! `pkgres export`

use jiff::Timestamp;
use pkgres_registry_client::{Maker, cyclonedx, spdx};

use crate::args::{ExportArgs, Format};
use crate::context::Context;
use crate::environment::variable;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;
use crate::solve::solve;

pub(super) fn run(args: &ExportArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let created = created()?.to_string();
    let maker = Maker {
        name: "pkgres",
        version: env!("CARGO_PKG_VERSION"),
        created: &created,
    };
    let resolution = solve(&args.solve, context, output)?;
    let (document, name) = match output.format {
        Format::Spdx => (spdx(&resolution, maker), "SPDX 2.3"),
        _ => (cyclonedx(&resolution, maker), "CycloneDX 1.6"),
    };
    output.json(&document);
    output.note(&format!(
        "Exported {} as {name}",
        counted(resolution.len(), "package")
    ));
    Ok(Exit::Done)
}

/// The creation time of the document, to the second: `SOURCE_DATE_EPOCH` for reproducible builds, or else now.
fn created() -> Result<Timestamp> {
    let fixed = variable("SOURCE_DATE_EPOCH");
    let Some(fixed) = fixed else {
        let now = Timestamp::now().as_second();
        return Ok(Timestamp::from_second(now).expect("the current time is in range"));
    };
    let seconds = fixed.to_str().and_then(|text| text.parse().ok());
    seconds
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .ok_or_else(|| Failure::usage("SOURCE_DATE_EPOCH is not a number of seconds"))
}
