//! Writes the certificates of a verdict, for `--certificate`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pkgres_certificate::{
    Certificate, NotCertified, Question, certify_impossible, certify_model, certify_reasons,
    packages_of, packages_of_model, unknown_packages,
};
use pkgres_files::{FileError, FileSystem as _, FolderWriter, RealFileSystem};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions};
use pkgres_registry_client::{Answer, RegistrySet, drive_to_verdict};
use pkgres_resolver::{Conflict, Evidence, Request, Resolution, Root};
use serde_json::json;

use crate::context::Context;
use crate::failure::Result;
use crate::output::Output;

/// The file that lists the certificates of a folder. It is written last.
pub(crate) const CLAIMS: &str = "claims.json";

/// The files of a certificate, by its name and its position in the list: the problem, the names of its variables, and the
/// proof. Those of the first certificate, which is about the verdict as a whole, always have the same names.
pub(crate) fn file_names(position: usize, name: &str) -> [String; 3] {
    if position == 0 {
        return ["problem.opb", "names.json", "proof.pbp"].map(str::to_owned);
    }
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
        evidence: Evidence,
        registries: &RegistrySet,
        options: &ReadOptions,
        output: &mut Output,
    ) -> Result<()> {
        let mut found = Found::default();
        match answer {
            Answer::Conflict(conflict) => {
                let none = self.none(evidence, registries)?;
                found.add("none", "that there is no resolution", none, output);
                let claim = "that the reasons suffice and all are needed";
                let reasons = self.reasons(conflict, registries)?;
                found.add("reasons", claim, reasons, output);
            }
            Answer::Solved(resolution) => {
                let questions = self.questions(resolution).unwrap_or_else(|reason| {
                    output.note(&format!("No certificate: {reason}"));
                    Vec::new()
                });
                for (name, claim, question) in questions {
                    let certificate = question.refute(
                        |resolver| {
                            registries.attach_to(resolver)?;
                            drive_to_verdict(resolver, registries, options)
                        },
                        |packages| registries.supply(packages),
                    )?;
                    found.add(&name, claim, certificate, output);
                }
            }
            _ => {
                output.note("No certificate: there is no answer to certify");
            }
        }
        self.save(&found)
    }

    /// What makes a resolution as good as possible, as questions to be answered with "no", each with the name of the
    /// certificate and the claim. Otherwise why there is no such question.
    fn questions(
        &self,
        resolution: &Resolution,
    ) -> std::result::Result<Vec<(String, &'static str, Question)>, String> {
        if self.has_model() {
            return Err(NotCertified::Model.to_string());
        }
        let (name, claim, question) = if let Some(report) = resolution.update() {
            if !report.is_minimal {
                return Err(
                    "it is not proved that this changes as few packages as possible".to_owned(),
                );
            }
            let questions = Question::stays(&self.request, resolution);
            if questions.is_empty() {
                return Err("no other package changed".to_owned());
            }
            let claim = "that a changed package cannot stay";
            let questions = (1..).zip(questions);
            let questions =
                questions.map(|(number, question)| (format!("stays-{number}"), claim, question));
            return Ok(questions.collect());
        } else if !resolution.side_by_side().is_empty() {
            let claim = "that one release of each package is not enough";
            ("single", claim, Question::single(&self.request))
        } else if let Some(compromise) = resolution.first_compromise() {
            let question = Question::better(&self.request, &compromise);
            ("better", "that a better version is impossible", question)
        } else {
            return Err("every package has the version that is preferred".to_owned());
        };
        Ok(vec![(name.to_owned(), claim, question)])
    }

    /// Writes the files of certificates.
    fn save(&self, found: &Found) -> Result<()> {
        if found.0.is_empty() {
            // What an earlier run proved is not about this one.
            let claims = self.folder.join(CLAIMS);
            if claims.is_file() {
                let failed = |source| FileError::System {
                    action: "cannot remove",
                    path: claims.clone(),
                    source,
                };
                RealFileSystem.remove(&claims).map_err(failed)?;
            }
            return Ok(());
        }
        // Another run makes them again.
        let folder = FolderWriter::open(&RealFileSystem, &self.folder)?.volatile();
        for (position, (name, certificate)) in found.0.iter().enumerate() {
            let texts = [&certificate.problem, &certificate.names, &certificate.proof];
            for (name, text) in file_names(position, name).iter().zip(texts) {
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

    /// Why the search of a conflict kept no derivation.
    fn without_derivation(&self) -> NotCertified {
        if self.request.update.is_some() {
            NotCertified::Update
        } else {
            NotCertified::NoDerivation
        }
    }

    fn has_model(&self) -> bool {
        let mut roots = self.request.roots.iter();
        roots.any(|root| matches!(root, Root::Model(_)))
    }

    fn none(
        &self,
        evidence: Evidence,
        registries: &RegistrySet,
    ) -> Result<std::result::Result<Certificate, NotCertified>> {
        if self.has_model() {
            let mut records = Records::new();
            loop {
                let needed = packages_of_model(&self.request, &records);
                if needed.is_empty() {
                    let class_files = &evidence.class_files;
                    return Ok(certify_model(&self.request, &records, class_files));
                }
                add_records(&needed, registries, &mut records)?;
            }
        }
        let Some(derivation) = evidence.derivation else {
            return Ok(Err(self.without_derivation()));
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
        records.insert(package.clone(), supply.into_records());
    }
    Ok(())
}
