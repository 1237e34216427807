//! "Did you mean" for class names, with a limit on the effort.

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, SuggestionEffort};

/// Suggestions from a set of known classes, which is computed when the first suggestion is needed.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    known: Option<Vec<ClassName>>,
    /// The suggestions so far, by the position of the class. A wrong name mostly occurs in several places.
    found: BTreeMap<ClassName, Option<usize>>,
}

impl Suggestions {
    /// The known class that is most similar to a name, unless the effort is used up.
    pub(crate) fn similar_to(
        &mut self,
        name: &ClassName,
        effort: &mut SuggestionEffort,
        known: impl FnOnce() -> Vec<ClassName>,
    ) -> Option<&ClassName> {
        let known = self.known.get_or_insert_with(known);
        let found = *self.found.entry(name.clone()).or_insert_with(|| {
            let texts = known.iter().map(ClassName::as_str);
            let similar = effort.most_similar_name(name.as_str(), texts)?;
            known.iter().position(|class| class.as_str() == similar)
        });
        found.map(|at| &known[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> ClassName {
        ClassName::parse(text).expect("a name")
    }

    #[test]
    fn known_classes_are_computed_once() {
        let mut suggestions = Suggestions::default();
        let mut effort = SuggestionEffort::default();
        let known = || vec![class("a.Server"), class("a.Client")];
        assert_eq!(
            suggestions.similar_to(&class("a.Servr"), &mut effort, known),
            Some(&class("a.Server"))
        );
        let not_again = || panic!("they are known");
        assert_eq!(
            suggestions.similar_to(&class("a.Clint"), &mut effort, not_again),
            Some(&class("a.Client"))
        );
        assert_eq!(
            suggestions.similar_to(&class("b.Banana"), &mut effort, not_again),
            None
        );
        assert_eq!(
            suggestions.similar_to(&class("a.Servr"), &mut effort, not_again),
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
        let mut effort = SuggestionEffort::default();
        let known = many("Known");
        let with_hint = many("Knwon")
            .iter()
            .filter(|name| {
                suggestions
                    .similar_to(name, &mut effort, || known.clone())
                    .is_some()
            })
            .count();
        assert!((1..10).contains(&with_hint), "{with_hint}");
    }
}
