//! Certificates, which may come from others: pseudo-Boolean problems with their proofs, and claims.

use std::collections::BTreeMap;

use pkgres_certificate::Claim;
use pkgres_proof_checker::{Conclusion, check};

use crate::property::is_safe;
use crate::seeds::texts;
use crate::target::Target;

/// The fuzz targets of certificates.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "pseudo_boolean_proof",
        run: proof,
        seeds: || texts(&PROOFS),
        words: &[
            "rup 1 x1 >= 1 : 1;\n",
            "rup >= 1;\n",
            "pol 1 2 +;\n",
            "pol 3 4 + 5 +;\n",
            "conclusion UNSAT : 5;\n",
            "conclusion SAT : x1 ~x2;\n",
            " ~x1",
            " -1 x2",
            " 9223372036854775807 x3",
            " >= 0",
            " + ",
            " : ",
            ";",
            "* comment\n",
            SEPARATOR,
        ],
        quick: 6_000,
    },
    Target {
        name: "certificate_claim",
        run: claim,
        seeds: || texts(&CLAIMS),
        words: &[
            "\"verdict\":\"none\"",
            "\"verdict\":\"reasons\"",
            "\"tiers\":\"first\"",
            "\"constraints\":[1,2]",
            "[18446744073709551615,18446744073709551615]",
            "\"model\":true",
            "\"version\":\"1\"",
            "\"versions\":[]",
            "\"moving\":[]",
        ],
        quick: 4_000,
    },
];

/// What separates a problem from its proof.
const SEPARATOR: &str = "====\n";

const PROOFS: [&str; 4] = [
    "* a problem\n1 x1 1 x2 >= 1 ;\n1 ~x1 >= 1 ;\n1 ~x2 >= 1 ;\n====\npseudo-Boolean proof version 3.0\nf 3;\n\
     rup 1 x2 >= 1 : 1 2;\nrup >= 1 : 4 3;\noutput NONE;\nconclusion UNSAT : 5;\nend pseudo-Boolean proof;\n",
    "1 x1 1 x2 >= 1 ;\n1 x1 1 ~x2 >= 1 ;\n1 ~x1 >= 1 ;\n====\npseudo-Boolean proof version 3.0\nf 3;\n\
     pol 1 2 + 3 + 3 +;\noutput NONE;\nconclusion UNSAT : 4;\nend pseudo-Boolean proof;\n",
    "2 a -3 b 1 c >= 1 ;\n1 ~a 1 b >= 1 ;\n====\npseudo-Boolean proof version 3.0\nf 2;\noutput NONE;\n\
     conclusion SAT : ~a ~b c;\nend pseudo-Boolean proof;\n",
    "3 x1 2 x2 1 x3 >= 4 ;\n-1 x1 -1 x2 >= -1 ;\n1 ~x3 >= 1 ;\n====\npseudo-Boolean proof version 3.0\nf 3;\n\
     rup 1 x1 >= 1;\nrup >= 1;\noutput NONE;\nconclusion UNSAT : 5;\nend pseudo-Boolean proof;\n",
];

const CLAIMS: [&str; 4] = [
    r#"{"schema_version":1,"claim":{"verdict":"none","tiers":"both","roots":[{"package":"a","version":"1"}]}}"#,
    r#"{"schema_version":1,"claim":{"verdict":"reasons","tiers":"first","roots":[],"reasons":[{"text":"a needs b","constraints":[1,2]},{"text":"b"}]}}"#,
    r#"{"schema_version":1,"claim":{"verdict":"better","tiers":"first","model":true,"roots":[],"releases":{"package":"a","versions":["1","2"]},"with":[{"package":"b","version":"3"}]}}"#,
    r#"{"schema_version":1,"claim":{"verdict":"stays","tiers":"first","roots":[],"releases":{"package":"a","version":"1"},"with":[],"moving":["c"]}}"#,
];

/// Verified conclusions are true, as trying every assignment of a small problem shows.
fn proof(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (problem, proof) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let verified = match check(problem, proof) {
        Ok(verified) => verified,
        Err(error) => return is_safe(&error),
    };
    if let Some(is_satisfiable) = is_satisfiable(problem) {
        let wanted = match verified.conclusion {
            Conclusion::Satisfiable => true,
            Conclusion::Unsatisfiable => false,
        };
        assert_eq!(is_satisfiable, wanted);
    }
}

/// Whether a problem has a solution, if it has few variables and small numbers.
fn is_satisfiable(problem: &str) -> Option<bool> {
    let lines = problem.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('*'));
    let mut variables = BTreeMap::new();
    let mut rows = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.strip_suffix(';')?.split_whitespace().collect();
        let (terms, degree) = words.split_at(words.len().checked_sub(2)?);
        let mut row = Vec::new();
        for term in terms.chunks(2) {
            let coefficient = i128::from(term[0].parse::<i32>().ok()?);
            let name = term[1].trim_start_matches('~');
            let next = variables.len();
            let variable = *variables.entry(name).or_insert(next);
            row.push((coefficient, variable, term[1] != name));
        }
        rows.push((row, i128::from(degree[1].parse::<i32>().ok()?)));
    }
    if variables.len() > 8 {
        return None;
    }
    let holds = |values: u32| {
        rows.iter().all(|(row, degree)| {
            let true_terms = row
                .iter()
                .filter(|(_, variable, is_negated)| (values >> variable & 1 == 1) != *is_negated);
            true_terms
                .map(|(coefficient, ..)| coefficient)
                .sum::<i128>()
                >= *degree
        })
    };
    Some((0..1_u32 << variables.len()).any(holds))
}

/// A claim is a sentence, and its reasons are numbered.
fn claim(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Claim::read(&text) {
        Ok(claim) => {
            assert!(!claim.sentence().is_empty());
            for (number, constraints) in claim.needed() {
                assert!(number <= claim.claimed_reasons().len());
                assert!(!constraints.is_empty());
            }
        }
        Err(error) => is_safe(&error),
    }
}
