//! The properties of a resource, and how a kind reads them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Location, SourceText, Span};
use crate::similar::{did_you_mean, most_similar};

/// The value of a property. Scalars are the text that was written: `0644` is the text 0644, not a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    /// A string, number or boolean.
    Text(String),
    /// A list.
    List(Vec<Located<PropertyValue>>),
    /// A mapping, in the order written.
    Mapping(Vec<(Located<String>, Located<PropertyValue>)>),
}

impl PropertyValue {
    /// A list that no file has.
    pub fn list(values: impl IntoIterator<Item = Self>) -> Self {
        let location = nowhere();
        let located = values.into_iter().map(|value| Located {
            value,
            location: location.clone(),
        });
        Self::List(located.collect())
    }

    /// A mapping that no file has.
    pub fn mapping(entries: impl IntoIterator<Item = (String, Self)>) -> Self {
        let location = nowhere();
        let located = entries.into_iter().map(|(key, value)| {
            let [key_location, location] = [location.clone(), location.clone()];
            let key = Located {
                value: key,
                location: key_location,
            };
            (key, Located { value, location })
        });
        Self::Mapping(located.collect())
    }

    /// The kind of value, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a scalar",
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

/// The place of values that no file has.
fn nowhere() -> Location {
    Location::new(&SourceText::new("", ""), Span::default())
}

impl From<&str> for PropertyValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for PropertyValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The properties of a resource in order. A kind takes the ones that it knows by name and type, and
/// [finishes](Self::finish): what is left then is unknown.
///
/// ```
/// use pkgres_manifest::{Properties, PropertyErrors, ResourceDescription};
///
/// struct Motd {
///     text: String,
///     lines: Option<u64>,
///     shout: bool,
/// }
///
/// fn read(mut properties: Properties) -> Result<Motd, PropertyErrors> {
///     let motd = Motd {
///         text: properties.take_required_text("text")?,
///         lines: properties.take_number("lines")?,
///         shout: properties.take_bool("shout")?.unwrap_or(false),
///     };
///     properties.finish()?;
///     Ok(motd)
/// }
///
/// let description = ResourceDescription::new("motd:/etc/motd".parse()?).with("text", "hello");
/// assert_eq!(read(description.properties).expect("it is valid").text, "hello");
///
/// let description = ResourceDescription::new("motd:/etc/motd".parse()?)
///     .with("text", "hello")
///     .with("shuot", "true");
/// let errors = read(description.properties).err().expect("a key is misspelt");
/// assert_eq!(
///     errors.to_string(),
///     "unknown property `shuot`; hint: did you mean `shout`?"
/// );
/// # Ok::<(), pkgres_manifest::ResourceIdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Where the resource is, which is where something is missing.
    owner: Location,
    /// The properties that were not taken yet.
    left: Vec<(Located<String>, Located<PropertyValue>)>,
    /// The properties that were taken, with the places of their values.
    taken: Vec<Located<String>>,
    /// The names that were asked for.
    known: Vec<String>,
    /// The properties whose values come from other resources when they are in order.
    received: Vec<String>,
}

/// A problem with a property.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct PropertyError {
    /// The property.
    pub key: String,
    /// One sentence that describes the problem.
    pub message: String,
    /// Its place.
    pub location: Location,
    /// A suggestion for a fix.
    pub hint: Option<String>,
}

impl fmt::Display for PropertyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl PropertyError {
    /// Returns the error with a suggestion for a fix.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<PropertyError> for Diagnostic {
    fn from(error: PropertyError) -> Self {
        let finding = Self::error(Code::Resource, error.message).at(error.location);
        match error.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }
}

/// The problems with the properties of a resource; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct PropertyErrors(Vec<PropertyError>);

impl PropertyErrors {
    /// The errors in the order of the properties.
    pub fn iter(&self) -> impl Iterator<Item = &PropertyError> {
        self.0.iter()
    }

    /// The errors as findings.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0.into_iter().map(Diagnostic::from).collect()
    }
}

impl From<PropertyError> for PropertyErrors {
    fn from(error: PropertyError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for PropertyErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { "\n" };
            write!(formatter, "{between}{error}")?;
        }
        Ok(())
    }
}

impl Properties {
    /// No properties of the resource at a place.
    pub(super) fn new(owner: Location) -> Self {
        Self {
            owner,
            left: Vec::new(),
            taken: Vec::new(),
            known: Vec::new(),
            received: Vec::new(),
        }
    }

    /// The properties, of which these get their values from other resources.
    #[must_use]
    pub fn with_received<'names>(mut self, names: impl IntoIterator<Item = &'names str>) -> Self {
        self.received.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Whether a property gets its value from another resource, so that it is not missing.
    pub fn is_received(&self, key: &str) -> bool {
        self.received.iter().any(|received| received == key)
    }

    pub(super) fn add(&mut self, key: Located<String>, value: Located<PropertyValue>) {
        self.left.push((key, value));
    }

    /// The place of the resource.
    pub(super) fn owner(&self) -> &Location {
        &self.owner
    }

    /// The properties that were not taken.
    pub(super) fn entries(&self) -> &[(Located<String>, Located<PropertyValue>)] {
        &self.left
    }

    /// The names of the properties that were not taken yet, in the order written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.left.iter().map(|(key, _)| key.value.as_str())
    }

    /// Takes a property of any type, with its place.
    pub fn take(&mut self, key: &str) -> Option<Located<PropertyValue>> {
        self.known.push(key.to_owned());
        let at = self.left.iter().position(|(name, _)| name.value == key)?;
        let (name, value) = self.left.remove(at);
        self.taken.push(Located {
            value: name.value,
            location: value.location.clone(),
        });
        Some(value)
    }

    /// Whether a property was there and is taken.
    pub fn has_taken(&self, key: &str) -> bool {
        self.taken.iter().any(|taken| taken.value == key)
    }

    /// Takes a string.
    pub fn take_text(&mut self, key: &str) -> Result<Option<String>, PropertyError> {
        match self.take(key).map(|value| value.value) {
            None => Ok(None),
            Some(PropertyValue::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(key, "text", &other)),
        }
    }

    /// Takes a string that must be there.
    pub fn take_required_text(&mut self, key: &str) -> Result<String, PropertyError> {
        self.take_text(key)?
            .ok_or_else(|| self.invalid(key, format!("the property `{key}` is missing")))
    }

    /// Takes `true` or `false`.
    pub fn take_bool(&mut self, key: &str) -> Result<Option<bool>, PropertyError> {
        let Some(text) = self.take_text(key)? else {
            return Ok(None);
        };
        match text.as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            other => {
                let other = Escaped::shortened(other);
                let message = format!("`{key}` must be `true` or `false`, not `{other}`");
                Err(self.invalid(key, message))
            }
        }
    }

    /// Takes an integer that is not negative.
    pub fn take_number(&mut self, key: &str) -> Result<Option<u64>, PropertyError> {
        let Some(text) = self.take_text(key)? else {
            return Ok(None);
        };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        number.map(Some).ok_or_else(|| {
            let text = Escaped::shortened(&text);
            let message = format!("`{key}` must be an integer of at least 0, not `{text}`");
            self.invalid(key, message)
        })
    }

    /// Takes a string that a type parses, such as a path or a mode.
    pub fn take_parsed<Value>(&mut self, key: &str) -> Result<Option<Value>, PropertyError>
    where
        Value: FromStr,
        Value::Err: fmt::Display,
    {
        let Some(text) = self.take_text(key)? else {
            return Ok(None);
        };
        let parsed = text.parse().map(Some);
        parsed.map_err(|error: Value::Err| {
            let error = error.to_string();
            self.invalid(key, format!("`{key}` is wrong: {}", Escaped::new(&error)))
        })
    }

    /// Takes a list of strings. A single string is a list of one.
    pub fn take_texts(&mut self, key: &str) -> Result<Option<Vec<String>>, PropertyError> {
        let items = match self.take(key).map(|value| value.value) {
            None => return Ok(None),
            Some(PropertyValue::Text(text)) => return Ok(Some(vec![text])),
            Some(PropertyValue::List(items)) => items,
            Some(other) => return Err(self.wrong_type(key, "a list of strings", &other)),
        };
        let texts = items.into_iter().map(|item| match item.value {
            PropertyValue::Text(text) => Ok(text),
            other => Err(PropertyError {
                location: item.location,
                ..self.wrong_type(key, "a list of strings", &other)
            }),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// Takes a mapping from names to strings, in the order written.
    pub fn take_text_mapping(
        &mut self,
        key: &str,
    ) -> Result<Option<Vec<(String, String)>>, PropertyError> {
        let entries = match self.take(key).map(|value| value.value) {
            None => return Ok(None),
            Some(PropertyValue::Mapping(entries)) => entries,
            Some(other) => return Err(self.wrong_type(key, "a mapping", &other)),
        };
        let texts = entries.into_iter().map(|(name, value)| match value.value {
            PropertyValue::Text(text) => Ok((name.value, text)),
            other => Err(PropertyError {
                location: value.location,
                ..self.wrong_type(key, "a mapping from names to strings", &other)
            }),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// Returns an error at the value of a property that was taken, or at the resource if the property is missing.
    pub fn invalid(&self, key: &str, message: impl Into<String>) -> PropertyError {
        let taken = self.taken.iter().find(|taken| taken.value == key);
        PropertyError {
            key: key.to_owned(),
            message: message.into(),
            location: taken.map_or(&self.owner, |taken| &taken.location).clone(),
            hint: None,
        }
    }

    fn wrong_type(&self, key: &str, expected: &str, found: &PropertyValue) -> PropertyError {
        let message = format!("`{key}` must be {expected}, not {}", found.kind());
        self.invalid(key, message)
    }

    /// Guesses which properties are misspelt; called after a kind has rejected its properties. Each guess is a
    /// property that was not taken, the similar name of a property that is missing, and the error about it. A guess is
    /// right if the kind then accepts the property [under this name](Self::renamed), or rejects something else.
    pub fn misspelt(&self) -> Vec<(String, String, PropertyError)> {
        let missing = || self.known.iter().filter(|name| !self.has_taken(name));
        let guesses = self.left.iter().filter_map(|(key, _)| {
            let similar = most_similar(&key.value, missing().map(String::as_str))?;
            let error = unknown(key, Some(similar));
            Some((key.value.clone(), similar.to_owned(), error))
        });
        guesses.collect()
    }

    /// The properties with another name for one of them.
    #[must_use]
    pub fn renamed(mut self, key: &str, name: &str) -> Self {
        for (own, _) in &mut self.left {
            if own.value == key {
                name.clone_into(&mut own.value);
            }
        }
        self
    }

    /// Ends the reading. Every property that was not taken is an error.
    pub fn finish(self) -> Result<(), PropertyErrors> {
        let known = || self.known.iter().map(String::as_str);
        let errors: Vec<PropertyError> = self
            .left
            .iter()
            .map(|(key, _)| unknown(key, most_similar(&key.value, known())))
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(PropertyErrors(errors))
        }
    }
}

/// The error for a property that no kind has asked for.
fn unknown(key: &Located<String>, similar: Option<&str>) -> PropertyError {
    PropertyError {
        message: format!("unknown property `{}`", Escaped::shortened(&key.value)),
        hint: similar.map(did_you_mean),
        location: key.location.clone(),
        key: key.value.clone(),
    }
}
