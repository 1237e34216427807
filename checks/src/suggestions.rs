//! What was probably meant, of many classes.

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, most_similar_name};

/// How many pairs of letters are compared for all findings of a package. Names of real packages take
/// a thousandth of it. What is beyond is said without a hint, for a package with many wrong names
/// and many classes would otherwise take minutes.
const MOST_COMPARED: usize = 50_000_000;

/// The classes that may have been meant, which are looked for once there is something to say.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    known: Option<Known>,
    /// What was found for each name: a wrong name mostly stands in several places.
    found: BTreeMap<ClassName, Option<usize>>,
    compared: usize,
}

#[derive(Debug)]
struct Known {
    classes: Vec<ClassName>,
    /// How many letters there are in all names.
    letters: usize,
}

impl Suggestions {
    /// The class that a name is most similar to, if comparing it with all does not take too long.
    pub(crate) fn similar_to(
        &mut self,
        name: &ClassName,
        known: impl FnOnce() -> Vec<ClassName>,
    ) -> Option<&ClassName> {
        let known = self.known.get_or_insert_with(|| {
            let classes = known();
            let letters = classes.iter().map(|class| class.as_str().len()).sum();
            Known { classes, letters }
        });
        let found = if let Some(found) = self.found.get(name) {
            *found
        } else {
            let work = name.as_str().len().saturating_mul(known.letters);
            self.compared = self.compared.saturating_add(work);
            if self.compared > MOST_COMPARED {
                return None;
            }
            let texts = known.classes.iter().map(ClassName::as_str);
            let similar = most_similar_name(name.as_str(), texts);
            let is_similar = |class: &ClassName| Some(class.as_str()) == similar;
            let found = known.classes.iter().position(is_similar);
            self.found.insert(name.clone(), found);
            found
        };
        found.map(|at| &known.classes[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> ClassName {
        ClassName::parse(text).expect("a name")
    }

    #[test]
    fn known_classes_are_asked_for_once() {
        let mut suggestions = Suggestions::default();
        let known = || vec![class("a.Server"), class("a.Client")];
        assert_eq!(
            suggestions.similar_to(&class("a.Servr"), known),
            Some(&class("a.Server"))
        );
        let not_again = || panic!("they are known");
        assert_eq!(
            suggestions.similar_to(&class("a.Clint"), not_again),
            Some(&class("a.Client"))
        );
        assert_eq!(suggestions.similar_to(&class("b.Banana"), not_again), None);
        assert_eq!(
            suggestions.similar_to(&class("a.Servr"), not_again),
            Some(&class("a.Server"))
        );
    }

    #[test]
    fn many_wrong_names_are_not_compared_with_many_classes() {
        let many = |prefix: &str| -> Vec<ClassName> {
            let long = "x".repeat(40);
            (0..5_000)
                .map(|number| class(&format!("{long}.{prefix}{number}")))
                .collect()
        };
        let mut suggestions = Suggestions::default();
        let known = many("Known");
        let with_hint = many("Knwon")
            .iter()
            .filter(|name| suggestions.similar_to(name, || known.clone()).is_some())
            .count();
        assert!((1..10).contains(&with_hint), "{with_hint}");
    }
}
