//! JSON Schemas in the dialects of providers.

use serde_json::{Map, Value as Json, json};

use crate::registry::SchemaDialect;

/// The values of `format` that providers accept. Derived schemas also have others, such as `uint32`.
const FORMATS: &[&str] =
    &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// Keywords that are omitted: the reply is checked against the whole schema anyway.
const LENGTHS: &[&str] = &["$schema", "maxLength", "minLength", "uniqueItems"];
const LIMITS: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxProperties",
    "maximum",
    "minItems",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
];

/// Keywords that cannot be omitted or replaced, so a schema with one of them is not sent.
const FOREIGN: &[&str] = &[
    "allOf",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords that may be beside a reference whose schema is put in its place.
const ANNOTATIONS: &[&str] = &["default", "description", "nullable", "title"];

/// The schema as it is sent to a provider with this dialect; `None` if the provider would refuse it.
pub(super) fn to_send(schema: &Json, dialect: SchemaDialect) -> Option<Json> {
    let schema = in_dialect(schema, dialect)?;
    Some(if dialect == SchemaDialect::Full { schema } else { closed(&schema, &schema, dialect, &[]) })
}

/// The schema with closed objects, which both dialects require: without other properties. OpenAI's also requires all
/// properties, and refuses keywords beside a reference. `open` has the references around this schema.
fn closed(schema: &Json, root: &Json, dialect: SchemaDialect, open: &[&str]) -> Json {
    let Json::Object(entries) = schema else {
        return schema.clone();
    };
    if dialect == SchemaDialect::OpenAi
        && let Some((target, inlined)) = inlined(entries, root)
    {
        if open.contains(&target) {
            return json!({ "$ref": target });
        }
        return closed(&inlined, root, dialect, &[open, &[target]].concat());
    }
    let inner = |schema: &Json| closed(schema, root, dialect, open);
    let mut kept: Map<String, Json> = Map::new();
    for (word, value) in entries {
        let value = match (word.as_str(), value) {
            ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                named.iter().map(|(name, schema)| (name.clone(), inner(schema))).collect()
            }
            ("anyOf" | "oneOf", Json::Array(schemas)) => schemas.iter().map(inner).collect(),
            ("items", schema) => inner(schema),
            _ => value.clone(),
        };
        kept.insert(word.clone(), value);
    }
    if kept.get("type").is_some_and(|kind| kind == "object") || kept.contains_key("properties") {
        kept.entry("additionalProperties").or_insert(false.into());
        if dialect == SchemaDialect::OpenAi
            && let Some(Json::Object(properties)) = kept.get("properties")
        {
            let names: Json = properties.keys().cloned().collect();
            kept.insert("required".to_owned(), names);
        }
    }
    Json::Object(kept)
}

/// The reference of a schema that has annotations beside it, and its target with them.
fn inlined<'s>(entries: &'s Map<String, Json>, root: &Json) -> Option<(&'s str, Json)> {
    let target = entries.get("$ref")?.as_str()?;
    let annotations = entries.iter().filter(|(word, _)| *word != "$ref");
    if entries.len() < 2 || !annotations.clone().all(|(word, _)| ANNOTATIONS.contains(&&**word)) {
        return None;
    }
    let mut inlined = root.pointer(target.strip_prefix('#')?)?.as_object()?.clone();
    inlined.extend(annotations.map(|(word, value)| (word.clone(), value.clone())));
    Some((target, Json::Object(inlined)))
}

/// The schema in a provider's dialect; `None` if the provider would refuse it.
fn in_dialect(schema: &Json, dialect: SchemaDialect) -> Option<Json> {
    if dialect == SchemaDialect::Full {
        return Some(schema.clone());
    }
    // The root must be an object. Other types are described in the instruction instead.
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object.then(|| narrowed(schema, dialect)).flatten()
}

fn narrowed(schema: &Json, dialect: SchemaDialect) -> Option<Json> {
    let Json::Object(entries) = schema else {
        return Some(schema.clone());
    };
    let left_out = |word: &str, value: &Json| {
        LENGTHS.contains(&word)
            || (dialect == SchemaDialect::Anthropic && LIMITS.contains(&word))
            || (word == "format" && !value.as_str().is_some_and(|format| FORMATS.contains(&format)))
    };
    let mut kept = Map::new();
    for (word, value) in entries.iter().filter(|(word, value)| !left_out(word, value)) {
        // These dialects allow no other properties, so they cannot express a map.
        if FOREIGN.contains(&&**word) || (word == "additionalProperties" && value != false) {
            return None;
        }
        let value = match (word.as_str(), value) {
            // Names of properties are not keywords: a property may be called `format`.
            ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                let named =
                    named.iter().map(|(name, schema)| Some((name.clone(), narrowed(schema, dialect)?)));
                Json::Object(named.collect::<Option<_>>()?)
            }
            ("anyOf" | "oneOf", Json::Array(schemas)) => {
                Json::Array(schemas.iter().map(|schema| narrowed(schema, dialect)).collect::<Option<_>>()?)
            }
            ("items", schema) => narrowed(schema, dialect)?,
            // Other values are data, such as those of `enum` and `const`, and stay as they are.
            _ => value.clone(),
        };
        // Providers support `anyOf`, which accepts more.
        let word = if word == "oneOf" && !entries.contains_key("anyOf") { "anyOf" } else { word };
        kept.insert(word.to_owned(), value);
    }
    Some(Json::Object(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_closed_in_the_way_of_the_dialect() {
        let node = json!({
            "type": "object",
            "description": "A node.",
            "properties": {
                "name": { "type": "string" },
                "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
                "twin": { "$ref": "#/$defs/Node", "description": "Never there." },
            },
            "required": ["name"],
        });
        let schema = json!({
            "type": "object",
            "properties": { "root": { "$ref": "#/$defs/Node", "description": "The first." } },
            "$defs": { "Node": node },
        });
        let reference = json!({ "$ref": "#/$defs/Node" });
        let closed_node = |description: &str, twin: Json| {
            let mut node = node.clone();
            node["description"] = description.into();
            node["additionalProperties"] = false.into();
            node["required"] = json!(["name", "next", "twin"]);
            node["properties"]["twin"] = twin;
            node
        };
        let inner = closed_node("Never there.", reference.clone());
        let sent = to_send(&schema, SchemaDialect::OpenAi).expect("an object");
        assert_eq!(sent["required"], json!(["root"]));
        assert_eq!(sent["additionalProperties"], json!(false));
        // A reference to the schema around it stays, without its annotations: it has no end.
        assert_eq!(sent["properties"]["root"], closed_node("The first.", reference));
        assert_eq!(sent["$defs"]["Node"], closed_node("A node.", inner));

        let sent = to_send(&schema, SchemaDialect::Anthropic).expect("an object");
        assert_eq!(sent["properties"], schema["properties"]);
        assert_eq!(sent["$defs"]["Node"]["required"], json!(["name"]));
        assert_eq!(sent["$defs"]["Node"]["additionalProperties"], json!(false));
        assert_eq!(sent.get("required"), None);
        assert_eq!(to_send(&schema, SchemaDialect::Full), Some(schema));
    }

    #[test]
    fn a_derived_schema_is_sent_without_refused_keywords() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "format": { "type": "string", "minLength": 1, "format": "date" },
                "count": { "type": "integer", "format": "uint32", "minimum": 0 },
                "many": { "type": "array", "items": { "$ref": "#/$defs/Deep" }, "maxItems": 3 },
            },
            "required": ["format"],
            "$defs": { "Deep": { "oneOf": [{ "type": "null" }, { "type": "string", "maxLength": 9 }] } },
        });
        let wide = |limit: Json, count: Json| {
            json!({
                "type": "object",
                "properties": {
                    "format": { "type": "string", "format": "date" },
                    "count": count,
                    "many": limit,
                },
                "required": ["format"],
                "$defs": { "Deep": { "anyOf": [{ "type": "null" }, { "type": "string" }] } },
            })
        };
        let items = json!({ "$ref": "#/$defs/Deep" });
        let openai = wide(
            json!({ "type": "array", "items": items, "maxItems": 3 }),
            json!({ "type": "integer", "minimum": 0 }),
        );
        assert_eq!(in_dialect(&schema, SchemaDialect::OpenAi), Some(openai));
        let anthropic = wide(json!({ "type": "array", "items": items }), json!({ "type": "integer" }));
        assert_eq!(in_dialect(&schema, SchemaDialect::Anthropic), Some(anthropic));
        assert_eq!(in_dialect(&schema, SchemaDialect::Full), Some(schema));
    }

    #[test]
    fn a_schema_that_would_be_refused_is_not_sent() {
        let deep = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        for schema in [
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "string" }),
            json!(true),
            json!({}),
            deep,
            json!({ "type": "object", "properties": { "a": { "type": "object", "additionalProperties": true } } }),
            json!({ "type": "object", "properties": { "a": { "not": { "type": "null" } } } }),
            json!({ "type": "object", "$defs": { "a": { "items": { "if": true } } } }),
        ] {
            assert_eq!(in_dialect(&schema, SchemaDialect::OpenAi), None, "{schema}");
            assert_eq!(in_dialect(&schema, SchemaDialect::Anthropic), None, "{schema}");
            assert!(in_dialect(&schema, SchemaDialect::Full).is_some());
        }
        let strict = json!({ "type": "object", "additionalProperties": false, "properties": {} });
        assert_eq!(in_dialect(&strict, SchemaDialect::OpenAi), Some(strict));
    }
}
