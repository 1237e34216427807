//! Writing the certificates of a verdict, for `--certificate`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_certificate::{
    Certificate, NotCertified, certify_impossible, certify_reasons, packages_of, unknown_packages,
};
use pkgres_files::{FolderWriter, RealFileSystem};
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_registry_client::{Answer, RegistrySet};
use pkgres_resolver::{Conflict, Derivation, Request, Supply};
use serde_json::json;

use crate::context::Context;
use crate::failure::Result;
use crate::output::Output;

/// The file that lists the certificates of a folder. It is written last.
pub(crate) const CLAIMS: &str = "claims.json";

/// The files of a certificate, by its name.
pub(crate) fn file_names(name: &str) -> [String; 3] {
    ["opb", "json", "pbp"].map(|end| format!("{name}.{end}"))
}

/// The files that show that a reason is needed, by the name of the certificate and the number of the reason.
pub(crate) fn without_names(name: &str, number: usize) -> [String; 2] {
    ["opb", "pbp"].map(|end| format!("{name}-without-{number}.{end}"))
}

/// A request whose verdict gets certificates.
pub(crate) struct Certified {
    folder: PathBuf,
    request: Request,
}

/// Certificates with their names.
#[derive(Default)]
struct Found(Vec<(String, Certificate)>);

impl Found {
    /// Adds a certificate, or reports why there is none.
    fn add(
        &mut self,
        name: &str,
        claim: &str,
        certificate: std::result::Result<Certificate, NotCertified>,
        output: &mut Output,
    ) {
        match certificate {
            Ok(certificate) => self.0.push((name.to_owned(), certificate)),
            Err(error) => output.note(&format!("No certificate {claim}: {error}")),
        }
    }
}

impl Certified {
    /// Prepares a request for certificates, if they are asked for.
    pub(crate) fn of(request: &mut Request, context: &Context) -> Option<Self> {
        let folder = context.certificate.clone()?;
        request.options.record_derivation = true;
        Some(Self {
            folder,
            request: request.clone(),
        })
    }

    /// Writes certificates of an answer, or reports why there are none.
    pub(crate) fn write(
        &self,
        answer: &Answer,
        derivation: Option<Box<Derivation>>,
        registries: &RegistrySet,
        output: &mut Output,
    ) -> Result<()> {
        let mut found = Found::default();
        match answer {
            Answer::Conflict(conflict) => {
                let none = self.none(derivation, registries)?;
                found.add("none", "that there is no resolution", none, output);
                let reasons = self.reasons(conflict, registries)?;
                let claim = "that the reasons suffice and all are needed";
                found.add("reasons", claim, reasons, output);
            }
            Answer::Solved(_) | Answer::GaveUp { .. } | Answer::Cancelled => {
                output.note("No certificate: only that there is no resolution has one");
            }
        }
        self.save(&found)
    }

    /// Writes the files of certificates.
    fn save(&self, found: &Found) -> Result<()> {
        if found.0.is_empty() {
            return Ok(());
        }
        let folder = FolderWriter::open(&RealFileSystem, &self.folder)?;
        for (name, certificate) in &found.0 {
            let texts = [&certificate.problem, &certificate.names, &certificate.proof];
            for (name, text) in file_names(name).iter().zip(texts) {
                folder.write(name, text.as_bytes())?;
            }
            for without in &certificate.without {
                let texts = [&without.problem, &without.proof];
                for (name, text) in without_names(name, without.number).iter().zip(texts) {
                    folder.write(name, text.as_bytes())?;
                }
            }
        }
        let names: Vec<&str> = found.0.iter().map(|(name, _)| name.as_str()).collect();
        let claims = json!({"schema_version": 1, "certificates": names});
        folder.write(CLAIMS, format!("{claims}\n").as_bytes())?;
        folder.finish()?;
        Ok(())
    }

    fn none(
        &self,
        derivation: Option<Box<Derivation>>,
        registries: &RegistrySet,
    ) -> Result<std::result::Result<Certificate, NotCertified>> {
        let Some(derivation) = derivation else {
            return Ok(Err(NotCertified::NoDerivation));
        };
        let mut records = Records::new();
        add_records(&packages_of(&derivation), registries, &mut records)?;
        Ok(certify_impossible(&self.request, &records, &derivation))
    }

    fn reasons(
        &self,
        conflict: &Conflict,
        registries: &RegistrySet,
    ) -> Result<std::result::Result<Certificate, NotCertified>> {
        let mut records = Records::new();
        loop {
            let unknown = unknown_packages(&self.request, &records, conflict);
            if unknown.is_empty() {
                return Ok(certify_reasons(&self.request, &records, conflict));
            }
            add_records(&unknown, registries, &mut records)?;
        }
    }
}

/// Releases in registries, by package.
type Records = BTreeMap<PackageName, Vec<IndexRecord>>;

/// Adds the releases of packages in registries.
fn add_records(
    packages: &[PackageName],
    registries: &RegistrySet,
    records: &mut Records,
) -> Result<()> {
    let supplies = registries.supply(packages)?;
    for (package, supply) in packages.iter().zip(supplies) {
        let of_package = match supply {
            Supply::Unknown => Vec::new(),
            Supply::Releases { records, .. } => records,
        };
        records.insert(package.clone(), of_package);
    }
    Ok(())
}
