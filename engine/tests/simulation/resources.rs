//! The resources of simulated runs, beside files.

use std::path::{Path, PathBuf};

use pkgres_engine::{
    Change, Checked, Difference, EntryAttributes, Input, Probe, Resource, ResourceError, Target,
    ValueType, Values, Watching,
};

/// A service: a file that counts its starts.
#[derive(Debug)]
pub(crate) struct Unit(pub(crate) PathBuf);

impl Resource for Unit {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        if probe.entry(&self.0)?.is_some() && !input.refresh {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(Start(self.0.clone())))
    }

    /// As if what is to be watched were only known once it was started.
    fn watching(&self, probe: &dyn Probe) -> Watching {
        match probe.entry(&self.0) {
            Ok(Some(_)) => Watching::path(&self.0),
            _ => Watching::UntilInOrder(vec![self.0.clone()]),
        }
    }

    fn is_refreshable(&self) -> bool {
        true
    }
}

struct Start(PathBuf);

impl Change for Start {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("state", Some("down"), Some("up"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        Ok(target.write_file(&self.0, b"started", EntryAttributes::with_mode(0o644))?)
    }
}

/// A command that writes files, which causes events, and then fails; or that succeeds, but is only made after a change.
#[derive(Debug)]
pub(crate) struct Meddler {
    /// What it writes: its own file, and perhaps that of another resource.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) fails: bool,
}

impl Resource for Meddler {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, _: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        if !self.fails && !input.refresh {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(Meddle(self.paths.clone(), self.fails)))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.paths[0])
    }

    fn is_refreshable(&self) -> bool {
        !self.fails
    }
}

struct Meddle(Vec<PathBuf>, bool);

impl Change for Meddle {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("command", Some("not run"), Some("run"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        for path in &self.0 {
            target.write_file(path, b"meddled with", EntryAttributes::with_mode(0o644))?;
        }
        if self.1 {
            return Err(ResourceError::Invalid("it meddles".to_owned()));
        }
        Ok(())
    }
}

/// A file of others, whose content is sent.
#[derive(Debug)]
pub(crate) struct Source(pub(crate) PathBuf);

/// The content of a source: the file, or nothing.
pub(crate) fn source_content(bytes: Option<&Vec<u8>>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        String::from_utf8_lossy(bytes).into_owned()
    })
}

impl Resource for Source {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let path: &Path = &self.0;
        let bytes = match probe.entry(path)? {
            Some(_) => Some(probe.read(path, u64::MAX)?),
            None => None,
        };
        let values = [("content".to_owned(), source_content(bytes.as_ref()).into())];
        Ok(Checked::InOrder(Values::from(values)))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.0)
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        &[("content", ValueType::Text)]
    }
}
