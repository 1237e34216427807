//! Names that are easily taken for another one.
//!
//! Names are compared in lower case and without `_`. Two are similar if at most one character was
//! put in, left out, replaced, or swapped with the next one. Comparing needs no memory and stops soon
//! behind the first character that differs, so that all names that a node knows can be looked through:
//! a hundred thousand take about three milliseconds, and are only looked through for new packages.

use pkgres_manifest::PackageName;

/// Names with fewer characters than this are similar to no other: too many would be.
const SHORTEST: usize = 5;

/// How many similar names are told.
const TOLD: usize = 5;

/// The names among `known` that are easily taken for `name`, in their order; not `name` itself. At
/// most a handful.
pub(crate) fn similar<'known>(
    name: &PackageName,
    known: impl IntoIterator<Item = &'known PackageName>,
) -> Vec<&'known PackageName> {
    if letters(name.as_str().as_bytes()).count() < SHORTEST {
        return Vec::new();
    }
    known
        .into_iter()
        .filter(|known| {
            *known != name && is_one_step(name.as_str().as_bytes(), known.as_str().as_bytes())
        })
        .take(TOLD)
        .collect()
}

/// What is compared of a name.
fn letters(name: &[u8]) -> impl Iterator<Item = u8> + Clone {
    let bytes = name.iter().copied().filter(|byte| *byte != b'_');
    bytes.map(|byte| byte.to_ascii_lowercase())
}

/// Whether one becomes the other by one step at most: the distance of Damerau and Levenshtein is
/// nought or one.
fn is_one_step(one: &[u8], two: &[u8]) -> bool {
    // Many names begin alike.
    let both = one.iter().zip(two);
    let front = both.take_while(|(one, two)| one == two).count();
    let (mut one, mut two) = (letters(&one[front..]), letters(&two[front..]));
    let (a, b) = loop {
        match (one.next(), two.next()) {
            (None, None) => return true,
            (a, b) if a != b => break (a, b),
            _ => {}
        }
    };
    // Behind the first letter that differs nothing may.
    let is_replaced = || one.clone().eq(two.clone());
    let is_left_out = || one.clone().eq(b.into_iter().chain(two.clone()));
    let is_put_in = || a.into_iter().chain(one.clone()).eq(two.clone());
    let is_swapped = || {
        let (mut one, mut two) = (one.clone(), two.clone());
        one.next() == b && two.next() == a && one.eq(two)
    };
    is_replaced() || is_left_out() || is_put_in() || is_swapped()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PackageName {
        PackageName::parse(text).expect("a name")
    }

    #[test]
    fn one_step_makes_another_name() {
        for (one, two, expected) in [
            ("org.acme.Web", "org.acme.Webb", true),
            ("org.acme.Web", "org.acme.We", true),
            ("org.acme.Web", "rog.acme.Web", true),
            ("org.acme.Web", "org.acme.Wbe", true),
            ("org.acme.Web", "org.acne.Web", true),
            ("org.acme.Web", "orgacme.Web", true),
            ("org.acme.Web", "org.acme.WEB", true),
            ("org.acme.Web", "org.ac_me.W_e_b", true),
            ("org.acme.Web", "org.acme.W_eb2", true),
            ("org.acme.Web", "org.acme.Web", false),
            ("org.acme.Web", "org.acme.Web22", false),
            ("org.acme.Web", "org.acem.Wbe", false),
            ("org.acme.Web", "org.acme.bWe", false),
            ("org.acme.Web", "Web", false),
            ("a.B", "a.C", false),
        ] {
            let (one, two) = (name(one), name(two));
            for (one, two) in [(&one, &two), (&two, &one)] {
                let found = similar(one, [two]);
                assert_eq!(found == [two], expected, "{one} {two}");
            }
        }
    }

    /// The rule as it stands in books, for all short texts of three letters.
    #[test]
    fn one_step_is_what_the_books_say() {
        let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
        for length in 0..4 {
            let longest: Vec<Vec<u8>> = texts
                .iter()
                .filter(|text| text.len() == length)
                .cloned()
                .collect();
            for text in longest {
                texts.extend(b"abc".iter().map(|letter| [&text[..], &[*letter]].concat()));
            }
        }
        let steps = |text: &[u8]| {
            let mut found = std::collections::BTreeSet::from([text.to_vec()]);
            for at in 0..=text.len() {
                let (front, back) = text.split_at(at);
                for letter in b"abc" {
                    found.insert([front, &[*letter], back].concat());
                    if let [_, rest @ ..] = back {
                        found.insert([front, &[*letter], rest].concat());
                    }
                }
                if let [_, rest @ ..] = back {
                    found.insert([front, rest].concat());
                }
                if let [a, b, rest @ ..] = back {
                    found.insert([front, &[*b, *a], rest].concat());
                }
            }
            found
        };
        for one in &texts {
            let steps = steps(one);
            for two in &texts {
                assert_eq!(
                    is_one_step(one, two),
                    steps.contains(two),
                    "{one:?} {two:?}"
                );
            }
        }
    }

    #[test]
    fn only_a_few_are_told() {
        let known: Vec<PackageName> = (0..9).map(|at| name(&format!("org.acme.W{at}"))).collect();
        assert_eq!(similar(&name("org.acme.Wx"), &known).len(), TOLD);
    }
}
