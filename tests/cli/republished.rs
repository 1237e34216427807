//! Models that were published twice, under one version and date and with other types.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pkgres_tests::opcua;
use serde_json::Value;

use crate::program::{pkgres, write};

/// The namespace whose nodes have no number of a namespace.
const UA: &str = "http://opcfoundation.org/UA/";

/// What identifies a release: the URI, the version and the date.
type Release = [String; 3];

/// The lines of each release with several contents, of which the types differ.
fn republished() -> Option<Vec<(Release, Vec<Value>)>> {
    let mut contents: BTreeMap<Release, Vec<Value>> = BTreeMap::new();
    for line in opcua::lines()? {
        let texts = ["uri", "version", "published"].map(|key| line[key].as_str());
        if let ([Some(uri), Some(version), Some(published)], true) =
            (texts, line["released"] == true)
        {
            let release = [uri, version, published].map(str::to_owned);
            contents.entry(release).or_default().push(line);
        }
    }
    contents.retain(|_, lines| lines.iter().any(|line| line["types"] != lines[0]["types"]));
    Some(contents.into_iter().collect())
}

fn model([uri, version, published]: &Release, element: &str) -> String {
    format!("{element} ModelUri=\"{uri}\" Version=\"{version}\" PublicationDate=\"{published}\"")
}

fn node_set(uri: &str, model: &str, nodes: &str) -> String {
    let namespaces = if uri == UA {
        String::new()
    } else {
        format!("<NamespaceUris><Uri>{uri}</Uri></NamespaceUris>")
    };
    format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">{namespaces}\
         <Models>{model}</Models>{nodes}</UANodeSet>\n"
    )
}

/// A NodeSet2 file with the types of a line. What they extend does not matter here.
fn file_of(release: &Release, line: &Value) -> String {
    let prefix = if release[0] == UA { "" } else { "ns=1;" };
    let mut nodes = String::new();
    for (id, one) in line["types"].as_object().expect("there are types") {
        let (kind, name) = (one[0].as_str(), one[1].as_str());
        let (kind, name) = (kind.expect("a kind"), name.expect("a name"));
        let _ = write!(
            nodes,
            "<UA{kind} NodeId=\"{prefix}{id}\" BrowseName=\"{name}\"/>"
        );
    }
    let model = format!("<{}/>", model(release, "Model"));
    node_set(&release[0], &model, &nodes)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn other_types_under_one_version_and_date_are_found() {
    let Some(republished) = republished() else {
        return;
    };
    assert_eq!(republished.len(), 2, "the corpus has two such releases");
    for (release, lines) in republished {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        std::fs::create_dir_all(folder.join("models")).expect("a folder");
        let own = "http://acme.example/Root/";
        let required = format!("<{}/>", model(&release, "RequiredModel"));
        let own_release = [own, "1.0", "2024-01-01T00:00:00Z"].map(str::to_owned);
        let root = format!("<{}>{required}</Model>", model(&own_release, "Model"));
        write(&folder.join("Root.NodeSet2.xml"), &node_set(own, &root, ""));
        let published = folder.join("models/Published.NodeSet2.xml");
        write(&published, &file_of(&release, &lines[0]));
        let command = |name: &str| {
            pkgres(
                folder,
                &[name, "Root.NodeSet2.xml", "--registry", "dir:models"],
            )
        };
        let locked = command("lock");
        let said = String::from_utf8_lossy(&locked.stderr).into_owned();
        assert!(locked.status.success(), "{said}");
        assert!(command("verify").status.success());

        let other = lines.iter().find(|line| line["types"] != lines[0]["types"]);
        let other = file_of(&release, other.expect("there is one"));
        write(&published, &other);
        let verified = command("verify");
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert_eq!(verified.status.code(), Some(4), "{said}");
        assert!(
            said.contains("PK0032") && said.contains(&release[0]),
            "{said}"
        );

        // The comparison of both says which types differ.
        write(
            &folder.join("Before.NodeSet2.xml"),
            &file_of(&release, &lines[0]),
        );
        write(&folder.join("After.NodeSet2.xml"), &other);
        let compared = pkgres(
            folder,
            &["semver", "Before.NodeSet2.xml", "After.NodeSet2.xml"],
        );
        let said = String::from_utf8_lossy(&compared.stderr).into_owned();
        assert_eq!(compared.status.code(), Some(1), "{said}");
        assert!(said.contains("has two contents"), "{said}");
    }
}
