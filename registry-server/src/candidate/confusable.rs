//! Finds names that are easily confused with another package (typosquatting).
//!
//! Names are compared in lower case and without `_`. Two are similar if their Damerau–Levenshtein distance is at most
//! one: a character is inserted, deleted, replaced, or swapped with the next one. They are also similar if they look
//! alike in many fonts, such as `modem` and `modern`, or `Util` and `Uti1`.
//!
//! A comparison needs no memory and ends soon after the first difference, so a node can compare a new name with all names
//! that it knows: 100,000 take about three milliseconds.

use pkgres_manifest::PackageName;

/// Names with fewer characters than this are not compared: too many of them would be similar.
const MIN_LENGTH: usize = 5;

/// The limit of similar names in a result.
const MAX_SIMILAR: usize = 5;

/// The first few of the `known` names that are similar to `name`, without `name` itself.
pub(crate) fn similar_names<'known>(
    name: &PackageName,
    known: impl IntoIterator<Item = &'known PackageName>,
) -> Vec<&'known PackageName> {
    if letters(name.as_str().as_bytes()).count() < MIN_LENGTH {
        return Vec::new();
    }
    known
        .into_iter()
        .filter(|known| {
            let (one, two) = (name.as_str().as_bytes(), known.as_str().as_bytes());
            *known != name && (is_one_step(one, two) || skeleton(one).eq(skeleton(two)))
        })
        .take(MAX_SIMILAR)
        .collect()
}

/// The characters of a name that are compared.
fn letters(name: &[u8]) -> impl Iterator<Item = u8> + Clone {
    let bytes = name.iter().copied().filter(|byte| *byte != b'_');
    bytes.map(|byte| byte.to_ascii_lowercase())
}

/// The skeleton of a name: letters that look alike are the same in it, and two that look like one are this one. Names
/// are ASCII, so that no other letters can look alike.
fn skeleton(name: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = letters(name).peekable();
    std::iter::from_fn(move || {
        let letter = rest.next()?;
        let pair = match (letter, rest.peek()) {
            (b'r', Some(b'n')) => Some(b'm'),
            (b'v', Some(b'v')) => Some(b'w'),
            (b'c', Some(b'l' | b'1' | b'i')) => Some(b'd'),
            _ => None,
        };
        if pair.is_some() {
            rest.next();
            return pair;
        }
        Some(match letter {
            b'0' => b'o',
            b'1' | b'i' => b'l',
            b'2' => b'z',
            b'5' => b's',
            b'8' => b'b',
            letter => letter,
        })
    })
}

/// Whether the distance of two names is zero or one.
fn is_one_step(one: &[u8], two: &[u8]) -> bool {
    // Many names have a long common prefix, which is quick to skip.
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
    // After the first difference everything has to be equal.
    let is_replaced = || one.clone().eq(two.clone());
    let is_deleted = || one.clone().eq(b.into_iter().chain(two.clone()));
    let is_inserted = || a.into_iter().chain(one.clone()).eq(two.clone());
    let is_swapped = || {
        let (mut one, mut two) = (one.clone(), two.clone());
        one.next() == b && two.next() == a && one.eq(two)
    };
    is_replaced() || is_deleted() || is_inserted() || is_swapped()
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
                let found = similar_names(one, [two]);
                assert_eq!(found == [two], expected, "{one} {two}");
            }
        }
    }

    #[test]
    fn names_that_look_alike_are_similar() {
        for (one, two, expected) in [
            ("org.acme.Ba5e", "org.acme.Base", true),
            ("org.acme.Uti1s", "org.acrne.Utils", true),
            ("org.acme.c0ntro1", "org.acme.Control", true),
            ("org.acme.vvindow5", "org.acme.Windows", true),
            ("org.acme.Loader", "org.acme.Loacler", true),
            ("org.acme.Base64", "org.acme.Case46", false),
            ("org.acme.Rome", "org.acme.Nemo", false),
        ] {
            let (one, two) = (name(one), name(two));
            for (one, two) in [(&one, &two), (&two, &one)] {
                let found = similar_names(one, [two]);
                assert_eq!(found == [two], expected, "{one} {two}");
            }
        }
    }

    /// The definition of the distance, for all short texts of three letters.
    #[test]
    fn distances_agree_with_the_definition() {
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
    fn the_result_is_limited() {
        let known: Vec<PackageName> = (0..9).map(|at| name(&format!("org.acme.W{at}"))).collect();
        assert_eq!(
            similar_names(&name("org.acme.Wx"), &known).len(),
            MAX_SIMILAR
        );
    }
}
