//! The paths of requirements that lead from a root to a package.

use pkgres_resolver::RequirementPath;
use serde_json::{Value, json};

/// Each path as indented lines below its root.
pub(crate) fn paths(paths: &[RequirementPath]) -> String {
    let mut text = String::new();
    for path in paths {
        text.push_str(&format!("{}\n", path.root));
        for (depth, step) in path.steps.iter().enumerate() {
            let indent = "    ".repeat(depth + 1);
            let (package, spec, version) = (&step.package, &step.spec, &step.version);
            let note = if step.is_override { " (override)" } else { "" };
            text.push_str(&format!(
                "{indent}requires {package} {spec}{note}: {version}\n"
            ));
        }
    }
    text
}

/// Each path as a JSON list, with the root as its first element.
pub(crate) fn paths_json(paths: &[RequirementPath]) -> Vec<Vec<Value>> {
    paths
        .iter()
        .map(|path| {
            let (name, version) = (path.root.name(), path.root.version());
            let root = json!({"package": name, "version": version, "spec": null});
            let steps = path.steps.iter().map(|step| {
                let mut step_json = json!({
                    "package": step.package,
                    "version": step.version,
                    "spec": step.spec.written(),
                });
                if step.is_override {
                    step_json["override"] = json!(true);
                }
                step_json
            });
            std::iter::once(root).chain(steps).collect()
        })
        .collect()
}
