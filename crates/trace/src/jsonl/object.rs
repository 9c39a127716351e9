//! A JSON object as its fields, each with its raw text, so that integers stay exact.

use crate::error::{Problem, quoted};
use rustc_hash::FxHashSet;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The fields of an object, in the order of the text.
pub(super) struct Object<'a> {
    fields: Vec<Field<'a>>,
}

pub(super) struct Field<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) raw: &'a str,
    taken: bool,
}

/// Objects with more fields than this are searched for duplicates by a hash set.
const FEW: usize = 16;

impl<'a> Object<'a> {
    /// The object that `text` is; keys must differ.
    pub(super) fn parse(text: &'a str) -> Result<Object<'a>, Problem> {
        let object: Object<'a> = serde_json::from_str(text).map_err(|error| malformed(text, &error))?;
        match object.duplicate() {
            None => Ok(object),
            Some(key) => Err(Problem::new(format!("the key {} twice", quoted(key)), "each key once")),
        }
    }

    fn duplicate(&self) -> Option<&str> {
        if self.fields.len() <= FEW {
            let earlier = |index: usize| self.fields[..index].iter().any(|field| field.key == self.fields[index].key);
            return (1..self.fields.len()).find(|index| earlier(*index)).map(|index| &*self.fields[index].key);
        }
        let mut seen = FxHashSet::default();
        self.fields.iter().map(|field| &*field.key).find(|key| !seen.insert(*key))
    }

    /// The raw text of a field, which then counts as known.
    pub(super) fn take(&mut self, key: &str) -> Option<&'a str> {
        let field = self.fields.iter_mut().find(|field| field.key == key)?;
        field.taken = true;
        Some(field.raw)
    }

    /// All fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|field| (&*field.key, field.raw))
    }

    /// The fields that were not taken.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().filter(|field| !field.taken).map(|field| (&*field.key, field.raw))
    }
}

/// What is wrong with text that is no JSON object.
fn malformed(text: &str, error: &serde_json::Error) -> Problem {
    if error.is_data() {
        return Problem::new(quoted(text), "a JSON object");
    }
    let column = error.column();
    if error.is_eof() {
        return Problem::new(
            format!("a JSON object that breaks off at column {column}"),
            "a whole JSON object on the line",
        );
    }
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or(&message);
    Problem::new(format!("no JSON object at column {column} ({reason})"), "a JSON object")
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut fields = Vec::with_capacity(8);
        while let Some(Key(key)) = map.next_key()? {
            let raw: &'de RawValue = map.next_value()?;
            fields.push(Field { key, raw: raw.get(), taken: false });
        }
        Ok(Object { fields })
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(key.to_string())))
    }
}
