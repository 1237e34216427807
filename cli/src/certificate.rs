//! Writing the certificate of a verdict, for `--certificate`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_certificate::{NotCertified, certify_impossible, packages_of};
use pkgres_files::{RealFileSystem, make_folder, write_file};
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{Derivation, Request, Supply};

use crate::context::Context;
use crate::failure::Result;
use crate::output::Output;

/// The problem and the names of its variables are read before the proof, so the proof is written last.
pub(crate) const PROBLEM: &str = "problem.opb";
pub(crate) const NAMES: &str = "names.json";
pub(crate) const PROOF: &str = "proof.pbp";

/// A request whose verdict gets a certificate.
pub(crate) struct Certified {
    folder: PathBuf,
    request: Request,
}

impl Certified {
    /// Prepares a request for a certificate, if one is asked for.
    pub(crate) fn of(request: &mut Request, context: &Context) -> Option<Self> {
        let folder = context.certificate.clone()?;
        request.options.record_derivation = true;
        Some(Self {
            folder,
            request: request.clone(),
        })
    }

    /// Writes the certificate, or reports why there is none.
    pub(crate) fn write(
        &self,
        is_conflict: bool,
        derivation: Option<Box<Derivation>>,
        registries: &RegistrySet,
        output: &mut Output,
    ) -> Result<()> {
        if !is_conflict {
            output.note("No certificate: only that there is no resolution has one");
            return Ok(());
        }
        let certificate = match derivation {
            Some(derivation) => {
                let records = records(&packages_of(&derivation), registries)?;
                certify_impossible(&self.request, &records, &derivation)
            }
            None => Err(NotCertified::NoDerivation),
        };
        let certificate = match certificate {
            Ok(certificate) => certificate,
            Err(error) => {
                output.note(&format!("No certificate: {error}"));
                return Ok(());
            }
        };
        let system = RealFileSystem;
        make_folder(&system, &self.folder)?;
        for (name, text) in [
            (PROBLEM, &certificate.problem),
            (NAMES, &certificate.names),
            (PROOF, &certificate.proof),
        ] {
            write_file(&system, &self.folder.join(name), text.as_bytes())?;
        }
        Ok(())
    }
}

/// The releases of packages in registries.
fn records(
    packages: &[PackageName],
    registries: &RegistrySet,
) -> Result<BTreeMap<PackageName, Vec<IndexRecord>>> {
    let supplies = registries.supply(packages)?;
    let supplies = packages.iter().zip(supplies);
    let records = supplies.filter_map(|(package, supply)| match supply {
        Supply::Unknown => None,
        Supply::Releases { records, .. } => Some((package.clone(), records)),
    });
    Ok(records.collect())
}
