//! A custom kind of resource: a kernel setting, which takes effect when the machine boots.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use pkgres_engine::{
    Change, Checked, Definition, Difference, DriveOptions, EntryAttributes, GraphBuilder, Input,
    Kinds, Machine, Probe, Resource, ResourceError, Status, Target, Watching, drive,
};
use pkgres_manifest::{MetaParameters, ResourceDescription};

/// A setting such as `vm.swappiness`: the path of the file for it, and the content of that file.
#[derive(Debug, Clone)]
struct Sysctl(PathBuf, String);

impl Resource for Sysctl {
    fn definition(&self) -> String {
        let Self(path, wanted) = self;
        let definition = Definition::new("sysctl").with("path", path);
        definition.with("value", wanted).into_text()
    }

    /// Only reads: a probe cannot do anything else.
    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let Self(path, wanted) = self;
        let is = match probe.entry(path)? {
            Some(_) => Some(String::from_utf8_lossy(&probe.read(path, 4096)?).into_owned()),
            None => None,
        };
        if is.as_ref() == Some(wanted) {
            return Ok(Checked::in_order());
        }
        let difference = Difference::new("setting", is, Some(wanted));
        Ok(Checked::drift(Write(self.clone(), difference)))
    }

    /// With `--watch`, it is checked again as soon as this file changes.
    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.0)
    }
}

/// What a check found to be necessary, and what differs.
struct Write(Sysctl, Difference);

impl Change for Write {
    fn differences(&self) -> Vec<Difference> {
        vec![self.1.clone()]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let Self(Sysctl(path, text), _) = *self;
        let attributes = EntryAttributes::with_mode(0o644);
        Ok(target.write_file(&path, text.as_bytes(), attributes)?)
    }
}

/// Sets `vm.swappiness` on the machine whose root is a folder.
pub(crate) fn apply(root: &Path) -> Result<Status, Box<dyn std::error::Error>> {
    let kinds = Kinds::default().with("sysctl", |name, properties| {
        let value = properties.take_required_text("value")?;
        let path = Path::new("/etc/sysctl.d").join(format!("{name}.conf"));
        Ok(Sysctl(path, format!("{name} = {value}\n")))
    });
    // In a resources file: `- sysctl: vm.swappiness` with `value: 10`.
    let setting = ResourceDescription::new("sysctl:vm.swappiness".parse()?).with("value", "10");
    let read = kinds.read(&setting);
    let resource = read.map_err(|errors| errors[0].to_string())?;
    let mut graph = GraphBuilder::new();
    graph.add_shared(setting.id.value, resource, MetaParameters::default());
    let graph = graph.build().map_err(|errors| errors[0].clone())?;
    let machine = Arc::new(Machine::root_folder(root)?);
    let (_control, controlled) = mpsc::channel();
    Ok(drive(graph, machine, &DriveOptions::default(), controlled, |_| {}).status)
}

fn main() {
    let root = std::env::args_os().nth(1).expect("the root of a machine");
    apply(root.as_ref()).expect("the setting is valid");
}
