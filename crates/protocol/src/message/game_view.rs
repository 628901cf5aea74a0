use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

/// What a player sees of a game, by name. An object on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameView(pub Vec<(Cow<'static, str>, ViewValue)>);

/// A value of a view.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ViewValue {
    Flag(bool),
    Number(i64),
    Text(SmolStr),
    List(Vec<ViewValue>),
    /// Null: not known yet.
    Unknown,
}

impl GameView {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<ViewValue>) -> Self {
        self.0.push((Cow::Borrowed(name), value.into()));
        self
    }

    pub fn get(&self, name: &str) -> Option<&ViewValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl From<bool> for ViewValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u32> for ViewValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<i32> for ViewValue {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for ViewValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<ViewValue>> From<Option<T>> for ViewValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}

impl<T: Into<ViewValue>> FromIterator<T> for ViewValue {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl Serialize for GameView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for GameView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = GameView;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with what the player sees")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<GameView, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, ViewValue>()? {
                    fields.push((Cow::Owned(name), value));
                }
                Ok(GameView(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl JsonSchema for GameView {
    fn schema_name() -> Cow<'static, str> {
        "GameView".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": true })
    }
    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_written_as_an_object_and_read_back() {
        let view = GameView::default()
            .with("card", "K")
            .with("pot", 3)
            .with("public", None::<&str>)
            .with("moves", ["bet", "call"].into_iter().collect::<ViewValue>())
            .with("due", true);
        let text = r#"{"card":"K","pot":3,"public":null,"moves":["bet","call"],"due":true}"#;
        assert_eq!(serde_json::to_string(&view).unwrap(), text);
        assert_eq!(serde_json::from_str::<GameView>(text).unwrap(), view);
        assert_eq!(view.get("pot"), Some(&ViewValue::Number(3)));
    }
}
