//! The metrics of a run in a file, as the textfile collector of Prometheus' node exporter reads it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pkgres_engine::{MetricLabels, RunRecord};
use pkgres_files::{FileError, RealFileSystem, write_cache_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::failure::{Failure, Result};
use crate::ticker::Ticker;

/// How often the file is written at most.
const PAUSE: Duration = Duration::from_secs(1);

/// A file with the metrics of a run, which is replaced whenever they have changed.
pub(super) struct MetricsFile {
    path: PathBuf,
    labels: MetricLabels,
    record: Arc<Mutex<RunRecord>>,
    ticker: Ticker,
}

impl MetricsFile {
    /// Writes the file, and keeps it up to date until this is [ended](Self::end).
    pub(super) fn start(
        path: &Path,
        target: String,
        record: &Arc<Mutex<RunRecord>>,
    ) -> Result<Self> {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let labels = MetricLabels {
            target,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.unwrap_or_default(),
        };
        // A file that cannot be written is known before anything is changed.
        check_folder(path)?;
        let mut written = text(record, &labels);
        write(path, &written)?;
        let ticker = {
            let (path, labels, record) = (path.to_owned(), labels.clone(), Arc::clone(record));
            Ticker::start(PAUSE, PAUSE, move || {
                let text = text(&record, &labels);
                // It is tried again, and the last attempt reports an error.
                if text != written && write(&path, &text).is_ok() {
                    written = text;
                }
            })
        };
        Ok(Self {
            path: path.to_owned(),
            labels,
            record: Arc::clone(record),
            ticker,
        })
    }

    /// Writes the file for the last time.
    pub(super) fn end(self) -> Result<()> {
        // Nothing else writes the file afterwards.
        drop(self.ticker);
        Ok(write(&self.path, &text(&self.record, &self.labels))?)
    }
}

fn text(record: &Mutex<RunRecord>, labels: &MetricLabels) -> String {
    let record = record.lock().unwrap_or_else(PoisonError::into_inner);
    record.prometheus(labels)
}

/// The collector does not read a folder that a typing error names, so none is made.
fn check_folder(path: &Path) -> Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let Some(folder) = folder.filter(|folder| !folder.is_dir()) else {
        return Ok(());
    };
    let (path, folder) = (path.to_string_lossy(), folder.to_string_lossy());
    let (path, folder) = (Escaped::new(&path), Escaped::new(&folder));
    let message = format!("cannot write the metrics to {path}: there is no folder {folder}");
    let finding = Diagnostic::error(Code::File, message);
    Err(Failure::from(
        finding.hint("make the folder, or correct `--metrics`"),
    ))
}

/// Replaces the file at once. It need not survive a crash of the machine.
fn write(path: &Path, text: &str) -> std::result::Result<(), FileError> {
    write_cache_file(&RealFileSystem, path, text.as_bytes())
}
