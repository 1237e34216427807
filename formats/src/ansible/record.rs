//! Index records of collections as lines of JSON.
//!
//! `{"ecosystem":"ansible","name","version","require":[[name,range]],"requires_ansible","classes":{path:{"extends", "uses"}},"moved":{path:path},"sha256","size","yanked","published"}`;
//! only name and version are mandatory. `require` may also be an object. `moved` has the plug-ins that
//! [have moved](super::moved), with what is used instead. A package that is required twice has to satisfy both ranges.
//! Unknown keys are skipped.
//!
//! In an [`IndexRecord`], `requires_ansible` is a requirement on [`ANSIBLE_CORE`].

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Ecosystem, IndexRecord, IndexedClass, Limits, NameError,
    PackageName, Requirement, Spec, SpecError, Version, VersionError, VersionSet, read_json,
};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::core_version::{ansible_core_version, requires_ansible};
use super::facts::moved_class;
use super::moved::moved_classes;
use super::name::{ANSIBLE_CORE, package_name};
use super::range;

/// Names, versions, ranges and index records of collections.
#[derive(Debug)]
struct CollectionNames;

/// The [`Ecosystem`] of collections.
pub const ECOSYSTEM: &dyn Ecosystem = &CollectionNames;

impl Ecosystem for CollectionNames {
    fn id(&self) -> &'static str {
        "ansible"
    }

    /// `MODULE` for the wildcard class `MODULE.*`, which defines all names of a module that is not known in full.
    fn first_name(&self, class: &ClassName) -> Option<ClassName> {
        ClassName::native(class.as_str().strip_suffix(".*")?).ok()
    }

    fn has_wildcard_classes(&self) -> bool {
        true
    }

    fn package_name(&self, text: &str) -> Result<PackageName, NameError> {
        package_name(text)
    }

    fn class_name(&self, text: &str) -> Result<ClassName, NameError> {
        ClassName::native(text)
    }

    fn version(&self, text: &str) -> Result<Version, VersionError> {
        let version = Version::parse(text)?;
        let numbers = text.split(['-', '+']).next().unwrap_or(text);
        if numbers.split('.').count() == 3 {
            Ok(version)
        } else {
            let reason = "a version of a collection has three numbers".to_owned();
            Err(VersionError::new(text, reason, Some(version)))
        }
    }

    fn host_version(&self, text: &str) -> Result<Version, VersionError> {
        ansible_core_version(text).ok_or_else(|| {
            let reason = format!("it is not a version of {ANSIBLE_CORE}");
            VersionError::new(text, reason, None)
        })
    }

    fn spec(&self, text: &str) -> Result<Spec, SpecError> {
        range::parse(text)
    }

    fn compatible_with(&self, version: &Version) -> Spec {
        range::compatible_with(version)
    }

    fn read_record(&self, line: &str, limits: &Limits) -> Result<IndexRecord, String> {
        read(line, limits)
    }

    fn write_record(&self, record: &IndexRecord) -> String {
        serde_json::to_string(&Written(record)).expect("texts, numbers and booleans are valid JSON")
    }
}

/// Reads a requirement: a range of a collection, or a specifier of `requires_ansible`.
pub(crate) fn requirement_spec(package: &PackageName, text: &str) -> Result<Spec, SpecError> {
    if package.as_str() == ANSIBLE_CORE {
        requires_ansible(text)
    } else {
        range::parse(text)
    }
}

/// Adds a requirement. If the package is required already, both ranges have to hold.
pub(crate) fn add_requirement(
    mut record: IndexRecord,
    package: PackageName,
    spec: Spec,
    location: Option<Location>,
) -> IndexRecord {
    record.requirements.change(|requirements| {
        let mut same = requirements.iter_mut();
        match same.find(|known| known.package == package) {
            Some(known) => known.spec = both(&known.spec, &spec),
            None => requirements.push(Requirement {
                package,
                spec,
                location,
            }),
        }
    });
    record
}

/// A warning if no version can match all that a record requires of a package. `places` are those that require it.
pub(crate) fn without_version<'place>(
    record: &IndexRecord,
    package: &PackageName,
    places: impl IntoIterator<Item = &'place Location>,
) -> Option<Diagnostic> {
    let mut requirements = record.requirements.iter();
    let required = requirements.find(|one| one.package == *package)?;
    if !required.spec.set().is_empty() {
        return None;
    }
    let shown = Escaped::shortened(required.spec.written());
    let message = format!("no version of `{package}` can match `{shown}`");
    let mut places: Vec<&Location> = places.into_iter().collect();
    let mut finding = Diagnostic::warning(Code::EmptySpec, message);
    finding = match places.pop() {
        Some(last) => finding.at(last.clone()),
        None => finding,
    };
    let both = if places.len() == 1 { "both" } else { "all" };
    for place in places {
        let text = format!("it is also required here, and {both} ranges hold");
        finding = finding.label(place.clone(), text);
    }
    Some(finding)
}

/// The requirements on one package that matter: those whose range does not follow from the others.
pub(crate) fn entries_that_matter(entries: Vec<Requirement>) -> Vec<Requirement> {
    // The versions that an entry and those before it allow.
    let mut so_far = VersionSet::all();
    let sets = entries.iter().map(|entry| {
        let before = so_far.clone();
        so_far = so_far.intersection(entry.spec.set());
        before
    });
    let before: Vec<VersionSet> = sets.collect();
    if so_far == VersionSet::all() {
        // None restricts anything: the first is as good as any.
        return entries.into_iter().take(1).collect();
    }
    let mut kept = VersionSet::all();
    let mut matter = Vec::new();
    for (entry, before) in entries.into_iter().zip(before).rev() {
        if before.intersection(&kept) != so_far {
            kept = kept.intersection(entry.spec.set());
            matter.push(entry);
        }
    }
    matter.reverse();
    matter
}

/// The range of the versions that match two ranges.
pub(crate) fn both(one: &Spec, two: &Spec) -> Spec {
    let is_any = |spec: &Spec| *spec.set() == VersionSet::all();
    if is_any(two) || one == two {
        return one.clone();
    }
    if is_any(one) {
        return two.clone();
    }
    let written = format!("{},{}", one.written(), two.written());
    let names_prerelease = one.names_prerelease() || two.names_prerelease();
    Spec::native(
        &written,
        one.set().intersection(two.set()),
        names_prerelease,
    )
}

#[derive(Deserialize)]
struct CollectionLine {
    name: String,
    version: String,
    #[serde(default)]
    require: Pairs,
    requires_ansible: Option<String>,
    classes: Option<BTreeMap<String, WrittenClass>>,
    #[serde(default)]
    moved: BTreeMap<String, String>,
    sha256: Option<String>,
    size: Option<u64>,
    yanked: Option<bool>,
    published: Option<String>,
}

#[derive(Deserialize, Serialize, Default)]
struct WrittenClass {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extends: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<String>,
}

/// Pairs of names and ranges, written as a list of pairs or as an object.
#[derive(Default)]
struct Pairs(Vec<(String, Option<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("requirements")
            }

            fn visit_unit<E>(self) -> Result<Pairs, E> {
                Ok(Pairs::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_element()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_any(PairsVisitor)
    }
}

fn read(line: &str, limits: &Limits) -> Result<IndexRecord, String> {
    if u64::try_from(line.len()).is_ok_and(|length| length > limits.index_line_bytes) {
        return Err(format!(
            "more than the limit of {} bytes in a line of an index",
            limits.index_line_bytes
        ));
    }
    if !line.trim_start().starts_with('{') {
        return Err("it is not an object".to_owned());
    }
    let line: CollectionLine = read_json(line.as_bytes()).map_err(|error| error.to_string())?;
    let name = package_name(&line.name).map_err(|error| invalid_name(&line.name, &error))?;
    let version = if name.as_str() == ANSIBLE_CORE {
        ECOSYSTEM.host_version(&line.version)
    } else {
        ECOSYSTEM.version(&line.version)
    };
    let version = version.map_err(|error| error.to_string())?;
    let mut record = IndexRecord::new(name, version);
    record.ecosystem = ECOSYSTEM;
    if line.require.0.len() > limits.requirements {
        return Err(Limits::exceeded("requirements", limits.requirements).message);
    }
    for (name, range) in line.require.0 {
        let package = package_name(&name).map_err(|error| invalid_name(&name, &error))?;
        if package == record.name {
            return Err("it requires itself".to_owned());
        }
        let spec = requirement_spec(&package, range.as_deref().unwrap_or("*"));
        let spec = spec.map_err(|error| error.to_string())?;
        record = add_requirement(record, package, spec, None);
    }
    if let Some(specifier) = line.requires_ansible {
        let spec = requires_ansible(&specifier).map_err(|error| error.to_string())?;
        let core = PackageName::native(ANSIBLE_CORE).expect("a native name");
        record = record.with_requirement(core, spec);
    }
    if let Some(classes) = line.classes {
        record = record.with_classes(indexed_classes(classes, line.moved)?);
    }
    record.digest = line
        .sha256
        .map(|digest| ArtifactDigest::parse(&digest))
        .transpose()
        .map_err(|error| error.to_string())?;
    record.size = line.size;
    record.yanked = line.yanked == Some(true);
    if let Some(published) = &line.published
        && published.parse::<jiff::Timestamp>().is_err()
    {
        let shown = Escaped::shortened(published);
        return Err(format!(
            "`{shown}` is not a time such as `2026-01-31T12:00:00Z`"
        ));
    }
    record.published = line.published;
    Ok(record)
}

/// The classes of a line, and those that have moved.
fn indexed_classes(
    classes: BTreeMap<String, WrittenClass>,
    moved: BTreeMap<String, String>,
) -> Result<Vec<IndexedClass>, String> {
    let class = |name: &str| ClassName::native(name).map_err(|error| invalid_name(name, &error));
    let mut indexed = Vec::with_capacity(classes.len() + moved.len());
    for (name, edges) in classes {
        let mut new = IndexedClass::new(class(&name)?);
        for parent in edges.extends {
            new.extends.push(class(&parent)?);
        }
        for used in edges.uses {
            new.uses.push(class(&used)?);
        }
        indexed.push(new);
    }
    // With one name for both, the class counts.
    for (name, target) in moved {
        indexed.push(moved_class(class(&name)?, class(&target)?));
    }
    Ok(indexed)
}

fn invalid_name(name: &str, error: &NameError) -> String {
    format!("`{}` is not a name: {error}", Escaped::shortened(name))
}

/// A record as it is written.
struct Written<'record>(&'record IndexRecord);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ecosystem", ECOSYSTEM.id())?;
        map.serialize_entry("name", &record.name)?;
        map.serialize_entry("version", &record.version)?;
        let (of_core, others): (Vec<_>, Vec<_>) = record
            .requirements
            .iter()
            .partition(|requirement| requirement.package.as_str() == ANSIBLE_CORE);
        if !others.is_empty() {
            let pairs: Vec<(&str, &str)> = others
                .iter()
                .map(|requirement| (requirement.package.as_str(), requirement.spec.written()))
                .collect();
            map.serialize_entry("require", &pairs)?;
        }
        if let Some(core) = of_core.first() {
            map.serialize_entry("requires_ansible", core.spec.written())?;
        }
        if let Some(classes) = &record.classes {
            let names = |names: &[ClassName]| names.iter().map(ToString::to_string).collect();
            let classes: BTreeMap<&str, WrittenClass> = classes
                .iter()
                .filter(|class| !class.internal)
                .map(|class| {
                    let edges = WrittenClass {
                        extends: names(&class.extends),
                        uses: names(&class.uses),
                    };
                    (class.name.as_str(), edges)
                })
                .collect();
            map.serialize_entry("classes", &classes)?;
            let moved = moved_classes(record);
            if !moved.is_empty() {
                let texts = |(name, target): (&ClassName, &ClassName)| {
                    (name.to_string(), target.to_string())
                };
                let moved: BTreeMap<String, String> = moved.into_iter().map(texts).collect();
                map.serialize_entry("moved", &moved)?;
            }
        }
        if let Some(digest) = &record.digest {
            map.serialize_entry("sha256", digest)?;
        }
        if let Some(size) = &record.size {
            map.serialize_entry("size", size)?;
        }
        if record.yanked {
            map.serialize_entry("yanked", &true)?;
        }
        if let Some(published) = &record.published {
            map.serialize_entry("published", published)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::IndexReader;
    use pkgres_manifest::diagnostic::{Location, SourceText};

    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let line = concat!(
            r#"{"ecosystem":"ansible","name":"acme.web","version":"1.2.0-rc.1","#,
            r#""require":[["acme.net",">=1.0.0,<2"],["acme.db","*"]],"requires_ansible":">=2.15","#,
            r#""classes":{"acme.web.plugins.modules.page":{"extends":["acme.net.plugins.module_utils.tcp"]},"#,
            r#""acme.web.plugins.modules.page.*":{}},"#,
            r#""moved":{"acme.web.plugins.modules.socket":"acme.tcp.plugins.modules.socket"},"#,
            r#""sha256":"abababababababababababababababababababababababababababababababab","size":12,"#,
            r#""yanked":true,"published":"2026-01-31T12:00:00Z"}"#
        );
        let record = read(line, &Limits::default()).expect(line);
        assert_eq!(record.requirements.len(), 3);
        assert_eq!(record.to_line(), line);
    }

    #[test]
    fn a_package_that_is_required_twice_has_to_satisfy_both_ranges() {
        let line = r#"{"name":"a.b","version":"1.0.0","require":[["a.c",">=1"],["a.d",null],["a.c","<2"]]}"#;
        let record = read(line, &Limits::default()).expect(line);
        let specs: Vec<&str> = record
            .requirements
            .iter()
            .map(|requirement| requirement.spec.written())
            .collect();
        assert_eq!(specs, [">=1,<2", "*"]);
    }

    #[test]
    fn a_bad_record_is_an_error_that_names_what_is_wrong() {
        for (line, expected) in [
            (r#"{"name":"a.b","version":"1.0"}"#, "three numbers"),
            (r#"{"name":"a-b.c","version":"1.0.0"}"#, "is not a name"),
            (
                r#"{"name":"a.b","version":"1.0.0","require":{"a.c":"1.x"}}"#,
                "1.x",
            ),
            (
                r#"{"name":"a.b","version":"1.0.0","require":{"a.b":"*"}}"#,
                "requires itself",
            ),
            (
                r#"{"name":"a.b","version":"1.0.0","requires_ansible":"2"}"#,
                "operator",
            ),
            (
                r#"{"name":"a.b","version":"1.0.0","published":"soon"}"#,
                "not a time",
            ),
            (r#"{"name":"a.b"}"#, "version"),
            ("[]", "not an object"),
        ] {
            let error = read(line, &Limits::default()).expect_err(line);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_long_value_is_shortened_in_the_message() {
        let value = "y".repeat(9_000);
        let line = format!(
            r#"{{"ecosystem":"ansible","name":"a.b","version":"1.0.0","classes":"{value}"}}"#
        );
        let mut reader = IndexReader::of_ecosystems(Limits::default(), crate::ECOSYSTEMS);
        let source = SourceText::new("index.ndjson", line.as_str());
        let read = reader.read_line(&line, &|span| Location::new(&source, span));
        let error = read.expect_err("classes are an object");
        assert!(
            error.message.contains("invalid type") && error.message.len() < 500,
            "{error}"
        );
    }
}
