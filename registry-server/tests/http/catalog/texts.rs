//! Texts that requests set in the catalog and elsewhere.

use pkgres_tests::archives::{archive, files};
use serde_json::{Value, json};

use super::{CATEGORIES, PACKAGES, filled, id};

/// Texts from requests are held to the rule for texts in manifests, and the message names the character.
#[test]
fn texts_cannot_act_on_a_terminal() {
    let served = filled();
    let new = id(&served.upload("{}", &archive("a.New", "1.0.0", &[])));
    let json_kind = "application/json";
    let patch_kind = "application/murano-packages-json-patch";
    let entry = format!("{PACKAGES}/{new}");
    let metadata = |body: Value| {
        let body = body.to_string();
        served.upload(&body, &archive("a.Next", "1.0.0", &[]))
    };
    let patch = |path: &str, value: Value| {
        let body = json!([{"op": "replace", "path": path, "value": value}]).to_string();
        served.catalog("PATCH", &entry, patch_kind, body.as_bytes())
    };
    let send = |method: &str, path: &str, body: Value| {
        served.catalog(method, path, json_kind, body.to_string().as_bytes())
    };
    let bundle = |url: &str| json!({"Packages": [{"Name": "a.New", "Url": url}]});
    let yank = "/v1/packages/a.New/versions/1.0.0/yank";
    let token = |note: &str| json!({"scopes": ["publish"], "note": note});
    for character in [
        "\u{202e}",
        "\u{200b}",
        "\u{1b}",
        "\0",
        "\u{85}",
        "\u{e0041}",
        "\n",
    ] {
        let text = &*format!("a{character}b");
        let mut answers = vec![
            metadata(json!({"name": text})),
            metadata(json!({"tags": [text]})),
            metadata(json!({"categories": [text]})),
            patch("/name", json!(text)),
            patch("/tags", json!([text])),
            patch("/categories", json!([text])),
            send("POST", CATEGORIES, json!({"name": text})),
            send("PUT", "/bundles/b.bundle", bundle(text)),
        ];
        if character != "\n" {
            answers.extend([
                metadata(json!({"description": text})),
                patch("/description", json!(text)),
                send("PUT", yank, json!({"reason": text})),
                send("POST", "/v1/tokens", token(text)),
            ]);
        }
        let escaped: String = character.chars().flat_map(char::escape_unicode).collect();
        let expected = format!("contains the character `{escaped}`");
        for (number, answer) in answers.iter().enumerate() {
            assert_eq!(answer.status, 400, "{number} {escaped}: {answer:?}");
            let body = answer.json();
            let detail = match body["errors"].get(0) {
                Some(error) => error["detail"].clone(),
                None => body["error"]["message"].clone(),
            };
            let detail = detail.as_str().expect("a text");
            assert!(detail.contains(&expected), "{number} {escaped}: {detail}");
        }
    }
    let lines = json!("one\r\n\ttwo");
    assert_eq!(
        patch("/description", lines.clone()).json()["description"],
        lines
    );
    assert_eq!(patch("/name", json!("Bücher \u{1f4da}")).status, 200);
    // What a manifest has can be removed, and is no obstacle.
    let tag = "";
    let manifest = format!(
        "Format: 1.4\nType: Library\nFullName: a.Tags\nVersion: 1.0.0\nTags: ['{tag}', b]\n"
    );
    let tags = id(&served.upload("{}", &files(&[("manifest.yaml", manifest.as_bytes())])));
    let change = |op: &str, value: &str| {
        let body = json!([{"op": op, "path": "/tags", "value": [value]}]).to_string();
        let tagged = format!("{PACKAGES}/{tags}");
        let answer = served.catalog("PATCH", &tagged, patch_kind, body.as_bytes());
        answer.json()["tags"].clone()
    };
    assert_eq!(change("add", "c"), json!([tag, "b", "c"]));
    assert_eq!(change("remove", tag), json!(["b", "c"]));
}
