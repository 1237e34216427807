//! A custom validator: a machine must not have a swap file. It can only test this.

use std::path::Path;

use pkgres_engine::{
    ArgumentValues, CustomValidator, Machine, PreparedValidation, Probe, ValidationReport,
};
use pkgres_manifest::{ReadOptions, read_validation_file};

/// The validation file of a package.
const VALIDATION: &str = "validators:\n- no_swap: /swapfile\n";

/// The validator: what it gets from the file, the machine to read, and the arguments of the validation.
fn no_swap() -> CustomValidator {
    CustomValidator::new("no_swap").testing(|value, probe: &dyn Probe, _| {
        let path = value.as_scalar().map_or("/swapfile", |scalar| &scalar.text);
        match probe.entry(Path::new(path)) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(format!("there is a swap file {path}")),
            Err(error) => Err(error.to_string()),
        }
    })
}

/// Tests the machine whose root is a folder, or also brings about what is missing.
pub(crate) fn validate(
    root: &Path,
    reconciles: bool,
) -> Result<ValidationReport, Box<dyn std::error::Error>> {
    let mut options = ReadOptions::default();
    options.custom_validators.push("no_swap".to_owned());
    let read = read_validation_file("validate.yaml", VALIDATION.as_bytes(), &options);
    let (validation, _) = read.into_result().map_err(|errors| errors[0].to_string())?;
    let values = ArgumentValues::new(&validation, []).map_err(|errors| errors[0].to_string())?;
    let custom = [no_swap()];
    let prepared = PreparedValidation::new(&validation, &custom, |_| Ok(None))?;
    let machine = Machine::root_folder(root)?;
    Ok(if reconciles {
        prepared.reconcile(&machine, values)?
    } else {
        prepared.test(&machine, values)?
    })
}

fn main() {
    let root = std::env::args_os().nth(1).expect("the root of a machine");
    let report = validate(root.as_ref(), false).expect("the validation is valid");
    assert!(report.is_passed(), "{:?}", report.findings);
}
