//! Whether a value of a model meets the rules of a contract, such as `string` or `owned`.

use std::sync::Arc;

use super::made::{Became, Made, is_python_int, is_whole_number, made_by, unchanged};
use super::value_check::Visit;
use super::value_path::ValuePath;
use super::{
    ConstrainedObject, DescribedObject, Exclusions, ModelValue, ObjectId, UntypedPlace, ValueKind,
    ValueProblem,
};
use crate::class_file::{Literal, Rule};
use crate::diagnostic::Location;

impl<'a> Visit<'_, 'a> {
    /// What the rules make of a value, one after the other, up to the first that finds something wrong with it.
    pub(super) fn rules(
        &mut self,
        rules: &'a [Rule],
        value: Option<&'a ModelValue>,
        path: &ValuePath<'_>,
        exclusions: &Exclusions,
    ) -> Made<'a> {
        static NULL: ValueKind = ValueKind::Null;
        let kind = value.map_or(&NULL, |value| &value.kind);
        let location = value.map(|value| &value.location);
        // What the rules so far have made of the value.
        let mut became = Became::Nothing;
        let mut is_described = false;
        for rule in rules {
            match rule {
                Rule::Class(constraint) | Rule::Template(constraint)
                    if matches!(kind, ValueKind::Null) =>
                {
                    self.names_of_null(constraint, path);
                    continue;
                }
                Rule::Class(constraint) | Rule::Template(constraint)
                    if became.may_be_object() && Self::takes(rule, kind) =>
                {
                    became = Became::Object;
                    match (kind, value) {
                        (
                            ValueKind::Object(object)
                            | ValueKind::Reference(object)
                            | ValueKind::Repeated(object),
                            _,
                        ) => {
                            self.names_of_object(constraint, path);
                            self.found.objects.push(ConstrainedObject {
                                constraint,
                                object: *object,
                                path: path.written(),
                            });
                        }
                        (ValueKind::UntypedReference(place), _) => {
                            self.constrain_description(constraint, &place.location, path);
                        }
                        (ValueKind::Untyped(_) | ValueKind::Map(_), Some(value))
                            if is_described =>
                        {
                            self.constrain_description(constraint, &value.location, path);
                        }
                        (
                            ValueKind::Untyped(properties) | ValueKind::Map(properties),
                            Some(value),
                        ) => {
                            is_described = true;
                            if constraint.spec_of_described() != constraint.spec.as_ref() {
                                self.names(&constraint.class, path);
                            }
                            self.found.described.push(DescribedObject {
                                constraint,
                                properties,
                                path: path.written(),
                                location: &value.location,
                                exclusions: exclusions.and(constraint),
                            });
                        }
                        _ => {}
                    }
                    continue;
                }
                Rule::Unchecked(written) => {
                    self.found.not_checked.push(written);
                    continue;
                }
                _ => {}
            }
            match self.problem(rule, kind, became, value.is_none()) {
                Some(problem) => {
                    self.violated(problem, location, path);
                    return Made::Unknown;
                }
                None => became = became.by(rule),
            }
        }
        let may_be_anything =
            |rule: &Rule| matches!(rule, Rule::Unchecked(written) if !written.starts_with('.'));
        match (became, value) {
            _ if rules.iter().any(may_be_anything) => Made::Unknown,
            (_, None) => Made::Null,
            (Became::Nothing, Some(value)) => unchanged(value, exclusions).made,
            (became, Some(value)) => made_by(became, value, |place| self.holds_untyped(place)),
        }
    }

    /// Whether a rule for objects takes a value: text is no template, even if it is the id of an object.
    fn takes(rule: &Rule, kind: &ValueKind) -> bool {
        match kind {
            ValueKind::Object(_)
            | ValueKind::Repeated(_)
            | ValueKind::Untyped(_)
            | ValueKind::Map(_)
            | ValueKind::Null => true,
            ValueKind::Reference(_) | ValueKind::UntypedReference(_) => {
                matches!(rule, Rule::Class(_))
            }
            _ => false,
        }
    }

    /// What a rule finds wrong with a value. Rules convert it for those that come after them.
    fn problem(
        &self,
        rule: &Rule,
        kind: &ValueKind,
        became: Became,
        is_absent: bool,
    ) -> Option<ValueProblem> {
        if matches!(kind, ValueKind::Null) {
            return match rule {
                Rule::NotNull if is_absent => Some(ValueProblem::Absent),
                Rule::NotNull => Some(ValueProblem::Null),
                Rule::Equal(expected) if *expected != Literal::Null => {
                    Some(ValueProblem::NotEqual(expected.clone()))
                }
                _ => None,
            };
        }
        match rule {
            Rule::String if became == Became::Nothing && !is_textual(kind) => {
                Some(ValueProblem::NotText)
            }
            Rule::Int if !self.is_whole_number(kind, became) => Some(ValueProblem::NotInt),
            Rule::Class(constraint) => Some(ValueProblem::NotObject(constraint.class.clone())),
            Rule::Template(constraint) => Some(ValueProblem::NotTemplate(constraint.class.clone())),
            Rule::Owned | Rule::NotOwned if became != Became::Object => {
                Some(ValueProblem::NoObject)
            }
            Rule::Owned => match kind {
                ValueKind::Reference(object) | ValueKind::Repeated(object)
                    if !self.holds(*object) =>
                {
                    Some(ValueProblem::NotOwned)
                }
                ValueKind::UntypedReference(place) if !self.holds_untyped(place) => {
                    Some(ValueProblem::NotOwned)
                }
                _ => None,
            },
            Rule::NotOwned => match kind {
                ValueKind::Object(object)
                | ValueKind::Reference(object)
                | ValueKind::Repeated(object)
                    if self.holds(*object) =>
                {
                    Some(ValueProblem::Owned)
                }
                ValueKind::UntypedReference(place) if self.holds_untyped(place) => {
                    Some(ValueProblem::Owned)
                }
                // The mapping that describes an object is written right here.
                ValueKind::Untyped(_) | ValueKind::Map(_) => Some(ValueProblem::Owned),
                _ => None,
            },
            Rule::Equal(expected) if !self.is_equal(kind, expected) => {
                Some(ValueProblem::NotEqual(expected.clone()))
            }
            _ => None,
        }
    }

    fn is_equal(&self, kind: &ValueKind, expected: &Literal) -> bool {
        match (kind, expected) {
            (ValueKind::Bool(value), Literal::Bool(expected)) => value == expected,
            (ValueKind::Number(value), Literal::Number(expected)) => {
                value == expected || value.parse::<f64>() == expected.parse()
            }
            (ValueKind::Text(value), Literal::Text(expected)) => value == expected,
            (ValueKind::Reference(object), Literal::Text(expected)) => {
                self.model.object(*object).id.as_ref() == Some(expected)
            }
            _ => false,
        }
    }

    /// Whether an object is written inside the holder, or inside an object that is.
    pub(super) fn holds(&self, object: ObjectId) -> bool {
        let object = self.model.object(object);
        match self.holder.described {
            Some(described) => is_inside(&object.location, described),
            None => self.is_or_holds_holder(object.holder),
        }
    }

    /// The same of an object without `type`.
    fn holds_untyped(&self, place: &UntypedPlace) -> bool {
        match self.holder.described {
            Some(described) => {
                place.location != *described && is_inside(&place.location, described)
            }
            None => self.is_or_holds_holder(place.holder),
        }
    }

    /// Whether one of these is the holder: an object, and those around it.
    fn is_or_holds_holder(&self, object: Option<ObjectId>) -> bool {
        let holder = |object: &ObjectId| self.model.object(*object).holder;
        let mut holders = std::iter::successors(object, holder);
        holders.any(|holder| holder == self.holder.object)
    }

    /// Whether the engine can convert a value to an integer. It cuts fractions off, but only those of numbers.
    fn is_whole_number(&self, kind: &ValueKind, became: Became) -> bool {
        match (became, kind) {
            (Became::Object, _) => false,
            (Became::Number | Became::Bool, _) | (Became::Nothing, ValueKind::Bool(_)) => true,
            (Became::Nothing, ValueKind::Number(text)) => {
                is_whole_number(text) || text.parse::<f64>().is_ok_and(f64::is_finite)
            }
            (_, ValueKind::Number(text) | ValueKind::Text(text)) => is_python_int(text),
            (_, ValueKind::Reference(object)) => {
                let id = self.model.object(*object).id.as_deref();
                id.is_some_and(is_python_int)
            }
            _ => false,
        }
    }
}

/// Whether a place is inside another one.
fn is_inside(inner: &Location, outer: &Location) -> bool {
    let (inside, around) = (inner.span(), outer.span());
    Arc::ptr_eq(inner.source(), outer.source())
        && around.start <= inside.start
        && inside.end <= around.end
}

/// Whether the engine can convert a value to text: fractions are not.
fn is_textual(kind: &ValueKind) -> bool {
    match kind {
        ValueKind::Number(text) => is_whole_number(text),
        ValueKind::Bool(_)
        | ValueKind::Text(_)
        | ValueKind::Reference(_)
        | ValueKind::UntypedReference(_) => true,
        _ => false,
    }
}
