//! JSON Schemas in the dialects of providers.
//!
//! A provider refuses a request whose schema is outside of its dialect. So a schema that cannot be brought into the
//! dialect is not sent: the instruction has the schema anyway, and the reply is checked against the whole schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::words::has;
use crate::model::registry::SchemaDialect;

/// The values of `format` that providers accept. Derived schemas also have other values, such as `uint32`. The values
/// for Cohere come first.
const FORMATS: [&str; 9] =
    ["date", "date-time", "time", "uuid", "duration", "email", "hostname", "ipv4", "ipv6"];

/// Keywords that are sent as they are. Other keywords are omitted, such as `default` and `examples`, unless listed
/// below.
const KEPT: &str = "const description enum required title type";

/// Keywords that OpenAI alone accepts.
const LIMITS: &str = "exclusiveMaximum exclusiveMinimum maxItems maximum minItems minimum multipleOf pattern";

/// Keywords that cannot be omitted or replaced, so a schema with such a keyword is not sent.
const FOREIGN: &str = "allOf contains dependentRequired dependentSchemas else if not patternProperties prefixItems \
    propertyNames then unevaluatedItems unevaluatedProperties";

/// Anthropic's limits: properties that are not required, and properties with several types. Source:
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>
const OPTIONAL: usize = 24;
const UNIONS: usize = 16;

/// OpenAI's limits: properties, levels of nesting, values of enums, and bytes of the names and of these values. Source:
/// <https://platform.openai.com/docs/guides/structured-outputs>
const PROPERTIES: usize = 5000;
const LEVELS: usize = 10;
const VALUES: usize = 1000;
const BYTES: usize = 120_000;

/// The schema as sent to a provider with this dialect; `None` if the provider would refuse it.
pub(super) fn to_send(schema: &Json, dialect: SchemaDialect) -> Option<Json> {
    if dialect == SchemaDialect::Full {
        return Some(schema.clone());
    }
    // The root must be an object. Other types are described in the instruction instead.
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let sent = is_object.then(|| narrowed(schema, dialect)).flatten()?;
    let size = Size::of(&sent)?;
    let is_accepted = match dialect {
        SchemaDialect::Full => true,
        SchemaDialect::Anthropic => !size.is_recursive && size.optional <= OPTIONAL && size.unions <= UNIONS,
        // Cohere's documentation has no type with alternatives.
        SchemaDialect::Cohere => !size.is_recursive && size.unions == 0,
        SchemaDialect::OpenAi => {
            size.properties <= PROPERTIES
                && size.levels <= LEVELS
                && size.values <= VALUES
                && size.bytes <= BYTES
        }
    };
    is_accepted.then_some(sent)
}

/// The schema with the keywords of the dialect. Objects are closed, which means without other properties: Anthropic
/// and OpenAI require closed objects. OpenAI also requires all properties, and Cohere one property in each object.
fn narrowed(schema: &Json, dialect: SchemaDialect) -> Option<Json> {
    // `true` accepts everything, which no dialect expresses.
    let entries = schema.as_object()?;
    let is_object =
        entries.contains_key("properties") || entries.get("type").is_some_and(|kind| names(kind, "object"));
    let [is_choice, is_exclusive, is_reference] =
        ["anyOf", "oneOf", "$ref"].map(|word| entries.contains_key(word));
    // A closed object allows no alternatives beside it, and an empty schema accepts everything.
    if (is_object && (is_choice || is_exclusive || is_reference))
        || (is_choice && is_exclusive)
        || !entries.keys().any(|word| has("$ref anyOf const enum oneOf properties type", word))
    {
        return None;
    }
    // A reference stands alone: some providers refuse keywords beside a reference.
    if let Some(target) = entries.get("$ref") {
        return Some(json!({ "$ref": target }));
    }
    let mut kept = Map::new();
    for (word, value) in entries {
        let value = match (word.as_str(), value) {
            // These dialects cannot express a map.
            ("additionalProperties", Json::Bool(false)) => continue,
            ("additionalProperties", _) => return None,
            (word, _) if has(FOREIGN, word) => return None,
            // Names of properties are not keywords: a property may be called `format`.
            ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                let named =
                    named.iter().map(|(name, schema)| Some((name.clone(), narrowed(schema, dialect)?)));
                Json::Object(named.collect::<Option<_>>()?)
            }
            ("anyOf" | "oneOf", Json::Array(schemas)) => {
                schemas.iter().map(|schema| narrowed(schema, dialect)).collect::<Option<_>>()?
            }
            ("items", schema) => narrowed(schema, dialect)?,
            ("format", Json::String(format)) => {
                let accepted = FORMATS.iter().take(if dialect == SchemaDialect::Cohere { 4 } else { 9 });
                if !accepted.into_iter().any(|accepted| accepted == format) {
                    continue;
                }
                value.clone()
            }
            // The values of these keywords are data, as in `enum`.
            (word, _) if has(KEPT, word) => value.clone(),
            (word, _) if dialect == SchemaDialect::OpenAi && has(LIMITS, word) => value.clone(),
            _ => continue,
        };
        // Providers support `anyOf`, which accepts more.
        kept.insert(if word == "oneOf" { "anyOf".to_owned() } else { word.clone() }, value);
    }
    if is_object {
        close(&mut kept, dialect)?;
    }
    Some(Json::Object(kept))
}

/// Closes an object in the way of the dialect.
fn close(object: &mut Map<String, Json>, dialect: SchemaDialect) -> Option<()> {
    if dialect == SchemaDialect::Cohere {
        return list(object, "required").is_some_and(|names| !names.is_empty()).then_some(());
    }
    object.insert("additionalProperties".to_owned(), false.into());
    if dialect == SchemaDialect::OpenAi {
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        let names: Json = properties.as_object()?.keys().cloned().collect();
        object.insert("required".to_owned(), names);
    }
    Some(())
}

/// Whether a value of `type` names this type, perhaps as one of several.
fn names(kind: &Json, name: &str) -> bool {
    kind == name || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == name))
}

fn list<'s>(entries: &'s Map<String, Json>, word: &str) -> Option<&'s Vec<Json>> {
    entries.get(word)?.as_array()
}

/// The counts that providers limit in a schema. Each used definition counts once.
#[derive(Default)]
struct Size<'s> {
    properties: usize,
    optional: usize,
    unions: usize,
    values: usize,
    bytes: usize,
    levels: usize,
    is_recursive: bool,
    /// The levels of the definitions; `None` inside of the definition.
    definitions: BTreeMap<&'s str, Option<usize>>,
}

impl<'s> Size<'s> {
    /// The size of a schema; `None` if a reference has no target.
    fn of(root: &'s Json) -> Option<Self> {
        let mut size = Self::default();
        size.levels = size.follow("#", root)?;
        Some(size)
    }

    /// Counts the schema to which a reference leads, and returns its levels.
    fn follow(&mut self, target: &'s str, root: &'s Json) -> Option<usize> {
        if let Some(known) = self.definitions.get(target) {
            self.is_recursive |= known.is_none();
            return Some(known.unwrap_or_default());
        }
        self.definitions.insert(target, None);
        let levels = self.count(root.pointer(target.strip_prefix('#')?)?, root)?;
        self.definitions.insert(target, Some(levels));
        Some(levels)
    }

    /// Counts a schema, and returns the levels of nested objects and lists.
    fn count(&mut self, schema: &'s Json, root: &'s Json) -> Option<usize> {
        let entries = schema.as_object()?;
        if let Some(target) = entries.get("$ref") {
            return self.follow(target.as_str()?, root);
        }
        let choices = list(entries, "anyOf");
        self.unions += usize::from(choices.is_some() || list(entries, "type").is_some());
        for value in list(entries, "enum").into_iter().flatten().chain(entries.get("const")) {
            self.values += 1;
            self.bytes += value.as_str().map_or(0, str::len);
        }
        let item = entries.get("items");
        let properties = entries.get("properties").and_then(Json::as_object);
        let is_level = item.is_some() || properties.is_some();
        for name in properties.into_iter().flat_map(Map::keys) {
            self.properties += 1;
            self.optional += 1;
            self.bytes += name.len();
        }
        self.optional = self.optional.saturating_sub(list(entries, "required").map_or(0, Vec::len));
        let mut levels = 0;
        let choices = choices.into_iter().flatten();
        for schema in properties.into_iter().flat_map(Map::values).chain(item).chain(choices) {
            levels = self.count(schema, root)?.max(levels);
        }
        Some(levels + usize::from(is_level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: [SchemaDialect; 3] =
        [SchemaDialect::Anthropic, SchemaDialect::Cohere, SchemaDialect::OpenAi];

    fn object(properties: &Json, required: &[&str]) -> Json {
        json!({ "type": "object", "properties": properties, "required": required })
    }

    #[test]
    fn objects_are_closed_in_the_way_of_the_dialect() {
        let part = object(&json!({ "name": { "type": "string" }, "a": { "type": "null" } }), &["name"]);
        let mut schema =
            object(&json!({ "part": { "$ref": "#/$defs/Part", "description": "One." } }), &["part"]);
        schema["$defs"] = json!({ "Part": part });
        for dialect in NARROW {
            let sent = to_send(&schema, dialect).expect("an object");
            // Fields were sent in the order of the alphabet, so an answer came before its reasons.
            let is_openai = dialect == SchemaDialect::OpenAi;
            let names = sent["$defs"]["Part"]["required"].to_string();
            assert_eq!(names, if is_openai { r#"["name","a"]"# } else { r#"["name"]"# });
            let closed = (dialect != SchemaDialect::Cohere).then_some(&Json::Bool(false));
            assert_eq!(sent.get("additionalProperties"), closed);
            assert_eq!(sent["$defs"]["Part"].get("additionalProperties"), closed);
            // OpenAI refuses a description beside a reference.
            assert_eq!(sent["properties"]["part"], json!({ "$ref": "#/$defs/Part" }));
        }
        assert_eq!(to_send(&schema, SchemaDialect::Full), Some(schema));
        // OpenAI refuses an object without properties, and Cohere one without required properties.
        let empty = json!({ "type": "object" });
        let closed =
            json!({ "type": "object", "additionalProperties": false, "properties": {}, "required": [] });
        assert_eq!(to_send(&empty, SchemaDialect::OpenAi), Some(closed));
        assert_eq!(to_send(&empty, SchemaDialect::Cohere), None);
    }

    #[test]
    fn a_derived_schema_is_sent_without_refused_keywords() {
        // Schemas with `examples` and other annotations were refused by OpenAI and Anthropic.
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "examples": [{ "format": "2026-01-01" }],
            "minProperties": 1,
            "properties": {
                "format": { "type": "string", "minLength": 1, "format": "date", "default": "", "readOnly": true },
                "count": { "type": "integer", "format": "uint32", "minimum": 0, "deprecated": true },
                "mail": { "type": "string", "format": "email", "writeOnly": true, "$comment": "Never sent." },
                "many": { "type": "array", "items": { "$ref": "#/$defs/Deep" }, "maxItems": 3 },
            },
            "required": ["format", "count", "mail", "many"],
            "$defs": { "Deep": { "oneOf": [{ "const": 1 }, { "type": "string", "maxLength": 9 }] } },
        });
        let narrow = json!({
            "type": "object",
            "properties": {
                "format": { "type": "string", "format": "date" },
                "count": { "type": "integer" },
                "mail": { "type": "string", "format": "email" },
                "many": { "type": "array", "items": { "$ref": "#/$defs/Deep" } },
            },
            "required": ["format", "count", "mail", "many"],
            "additionalProperties": false,
            "$defs": { "Deep": { "anyOf": [{ "const": 1 }, { "type": "string" }] } },
        });
        assert_eq!(to_send(&schema, SchemaDialect::Anthropic).as_ref(), Some(&narrow));
        let mut openai = narrow.clone();
        openai["properties"]["count"]["minimum"] = 0.into();
        openai["properties"]["many"]["maxItems"] = 3.into();
        assert_eq!(to_send(&schema, SchemaDialect::OpenAi), Some(openai));
        assert_eq!(to_send(&schema, SchemaDialect::Cohere), None, "an alternative");
        let mut schema = schema;
        let mut cohere = narrow;
        for schema in [&mut schema, &mut cohere] {
            schema["$defs"]["Deep"] = json!({ "enum": ["a"] });
        }
        cohere["properties"]["mail"] = json!({ "type": "string" });
        cohere.as_object_mut().expect("an object").remove("additionalProperties");
        assert_eq!(to_send(&schema, SchemaDialect::Cohere), Some(cohere));
    }

    #[test]
    fn a_schema_that_would_be_refused_is_not_sent() {
        let text = json!({ "type": "string" });
        let tagged =
            json!({ "type": "object", "properties": { "a": text }, "required": ["a"], "oneOf": [text] });
        for schema in [
            json!({ "type": "array", "items": text }),
            text.clone(),
            json!(true),
            json!({}),
            json!({ "type": "object", "additionalProperties": text }),
            object(&json!({ "a": { "type": "object", "additionalProperties": true } }), &["a"]),
            object(&json!({ "a": { "type": "string", "not": { "const": "" } } }), &["a"]),
            json!({ "type": "object", "$defs": { "a": { "type": "array", "items": { "if": true } } } }),
            // A field of any JSON, which has no type: OpenAI refused it.
            object(&json!({ "a": true }), &["a"]),
            object(&json!({ "a": { "description": "Anything." } }), &["a"]),
            // A flattened enum: each alternative was closed against the fields of the other part.
            tagged.clone(),
            object(&json!({ "a": tagged }), &["a"]),
            object(&json!({ "a": { "$ref": "other.json" } }), &["a"]),
            object(&json!({ "a": { "$ref": "#/$defs/None" } }), &["a"]),
        ] {
            for dialect in NARROW {
                assert_eq!(to_send(&schema, dialect), None, "{schema}");
            }
            assert!(to_send(&schema, SchemaDialect::Full).is_some());
        }
    }

    /// An object with `count` properties of this schema, of which the first `required` ones are required.
    fn many(count: usize, required: usize, schema: &Json) -> Json {
        let names: Vec<String> = (0..count).map(|at| format!("n{at}")).collect();
        let properties: Map<String, Json> = names.iter().map(|name| (name.clone(), schema.clone())).collect();
        json!({ "type": "object", "properties": properties, "required": names[..required] })
    }

    #[test]
    fn recursive_and_large_schemas_are_sent_to_those_that_accept_them() {
        // Anthropic refused recursive types with the status 400, so such a column failed at each step.
        let next = json!({ "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] });
        let mut recursive = object(&json!({ "root": { "$ref": "#/$defs/Node" } }), &["root"]);
        recursive["$defs"] = json!({ "Node": object(&json!({ "next": next }), &["next"]) });
        let itself = object(&json!({ "all": { "type": "array", "items": { "$ref": "#" } } }), &["all"]);
        let text = json!({ "type": "string" });
        let union = json!({ "type": ["string", "null"] });
        let values = |count: usize| json!({ "enum": (0..count).collect::<Vec<_>>() });
        let nested = |levels: usize| (1..levels).fold(many(1, 1, &text), |inner, _| many(1, 1, &inner));
        let [anthropic, cohere, openai] = NARROW;
        for (schema, accepted) in [
            (recursive, vec![openai]),
            (itself, vec![openai]),
            (many(25, 1, &text), NARROW.to_vec()),
            (many(26, 1, &text), vec![cohere, openai]),
            (many(16, 16, &union), vec![anthropic, openai]),
            (many(17, 17, &union), vec![openai]),
            (many(5000, 5000, &text), NARROW.to_vec()),
            (many(5001, 5001, &text), vec![anthropic, cohere]),
            (nested(10), NARROW.to_vec()),
            (nested(11), vec![anthropic, cohere]),
            (many(2, 2, &values(500)), NARROW.to_vec()),
            (many(2, 2, &values(501)), vec![anthropic, cohere]),
            (many(1, 1, &json!({ "const": "x".repeat(120_000) })), vec![anthropic, cohere]),
        ] {
            let sent = NARROW.into_iter().filter(|dialect| to_send(&schema, *dialect).is_some());
            assert_eq!(sent.collect::<Vec<_>>(), accepted, "{:.200}", schema.to_string());
        }
    }
}
