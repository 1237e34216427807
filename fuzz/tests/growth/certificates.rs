//! Shapes of the files of certificates, which may come from others.

use pkgres_certificate::Claim;
use pkgres_proof_checker::check;

use super::documents::{many, numbered};
use crate::Shape;

/// The longest file of a certificate.
const LIMIT: usize = 1 << 30;

/// What separates a problem from its proof.
const SEPARATOR: &str = "====\n";

/// Checks a proof, and prints why it is wrong.
fn proof(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let (problem, proof) = text.split_once(SEPARATOR).expect("two files");
    if let Err(error) = check(problem, proof) {
        assert!(error.to_string().len() < 200);
    }
}

fn claim(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let claim = Claim::read(text).expect("a claim");
    assert!(!claim.sentence().is_empty());
    assert_eq!(claim.needed().count(), claim.claimed_reasons().len());
}

/// A problem with a long inequality, `x0` and `~x0`, and a proof whose steps are half of the bytes.
fn long_inequality(size: usize, steps: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut input = many(size / 2, "", |number| format!("1 x{number} "), ">= 1 ;\n");
    input.extend(b"1 x0 >= 1 ;\n1 ~x0 >= 1 ;\n");
    input.extend(SEPARATOR.as_bytes());
    input.extend(b"pseudo-Boolean proof version 3.0\nf 3;\n");
    input.extend(steps(size / 2));
    input
}

/// The sums of a long inequality reach the limit, so that the work for them does not depend on the size.
const SUMS: [(&str, &str, &str, &str); 1] = [("sums of one inequality", "", "pol 1 1 +;\n", "")];

/// Steps about a long inequality.
const STEPS: [(&str, &str, &str, &str); 4] = [
    ("an inequality named again", "pol", " 1", ";\n"),
    ("hints named again", "rup >= 1 : 2 3", " 1", ";\n"),
    ("steps that name inequalities", "", "rup >= 1 : 2 3;\n", ""),
    ("terms of one variable", "rup", " 1 x1", " >= 1;\n"),
];

/// All shapes of certificates.
pub(crate) fn shapes() -> Vec<Shape> {
    let of_steps =
        |(name, begin, step, end): (&str, &'static str, &'static str, &'static str)| Shape {
            name: format!("proof: {name}"),
            make: Box::new(move |size| {
                long_inequality(size, |size| many(size, begin, |_| step.to_owned(), end))
            }),
            read: proof,
            limit: LIMIT,
        };
    let of_claim =
        |(name, begin, part, end): (&str, &'static str, &'static str, &'static str)| Shape {
            name: format!("claim: {name}"),
            make: Box::new(move |size| many(size, begin, |number| numbered(part, number), end)),
            read: claim,
            limit: LIMIT,
        };
    let mut shapes: Vec<Shape> = STEPS.into_iter().chain(SUMS).map(of_steps).collect();
    shapes.push(Shape {
        name: "proof: a chain of implications".to_owned(),
        make: Box::new(implications),
        read: proof,
        limit: LIMIT,
    });
    shapes.extend(CLAIMS.map(of_claim));
    shapes
}

/// A chain of implications whose end comes first.
fn implications(size: usize) -> Vec<u8> {
    let length = size / 25;
    let mut input = format!("1 ~x{length} >= 1 ;\n");
    for number in (0..length).rev() {
        input.push_str(&format!("1 ~x{number} 1 x{} >= 1 ;\n", number + 1));
    }
    input.push_str("1 x0 >= 1 ;\n");
    input.push_str(SEPARATOR);
    let count = length + 2;
    input.push_str(&format!(
        "pseudo-Boolean proof version 3.0\nf {count};\nrup >= 1;\noutput NONE;\nconclusion UNSAT : {};\n\
         end pseudo-Boolean proof;\n",
        count + 1
    ));
    input.into_bytes()
}

const CLAIMS: [(&str, &str, &str, &str); 3] = [
    (
        "roots",
        r#"{"schema_version":1,"claim":{"verdict":"none","tiers":"both","roots":[{"package":"a","version":"1"}"#,
        r#",{"package":"a#","version":"1"}"#,
        "]}}",
    ),
    (
        "reasons",
        r#"{"schema_version":1,"claim":{"verdict":"reasons","tiers":"both","roots":[],"reasons":[{"text":"a","constraints":[1,1]}"#,
        r#",{"text":"a#","constraints":[1,9]}"#,
        "]}}",
    ),
    (
        "versions",
        r#"{"schema_version":1,"claim":{"verdict":"better","tiers":"first","roots":[],"with":[],"releases":{"package":"a","versions":["1""#,
        r#","1.#""#,
        "]}}}",
    ),
];
