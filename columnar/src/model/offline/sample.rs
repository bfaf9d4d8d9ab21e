//! Valid JSON for a schema.

use serde_json::{Map, Number, Value as Json, json};

/// The depth below which lists are empty and optional values are missing, because types may be recursive.
const DEEP: usize = 4;

/// A valid value for the JSON Schema of a type. Texts in the value are `text`, and a list of texts has the phrases of
/// `text`.
pub(super) fn sample(schema: &Json, text: &str) -> Json {
    SchemaSampler { root: schema, text }.of(schema, 0)
}

struct SchemaSampler<'s> {
    root: &'s Json,
    text: &'s str,
}

impl SchemaSampler<'_> {
    fn of(&self, schema: &Json, depth: usize) -> Json {
        // A reference to itself has no valid value, so any value may end the recursion.
        if depth > 4 * DEEP {
            return Json::Null;
        }
        if let Some(name) = schema.get("$ref").and_then(Json::as_str) {
            let named = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return named.map_or(Json::Null, |schema| self.of(schema, depth + 1));
        }
        if let Some(only) = schema.get("const").or_else(|| list(schema, "enum")?.first()) {
            return only.clone();
        }
        if let Some(choices) = ["anyOf", "oneOf", "allOf"].iter().find_map(|name| list(schema, name)) {
            // Deep inside, null ends a type that contains itself.
            let first =
                choices.iter().find(|choice| (choice.get("type") == Some(&json!("null"))) == (depth > DEEP));
            return first.or(choices.first()).map_or(Json::Null, |choice| self.of(choice, depth + 1));
        }
        match kind(schema, depth) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" | "number" => number(schema),
            "boolean" => Json::Bool(false),
            "null" => Json::Null,
            _ => self.text.into(),
        }
    }

    fn object(&self, schema: &Json, depth: usize) -> Json {
        let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
        let entries = properties.map(|(name, schema)| (name.clone(), self.of(schema, depth + 1)));
        Json::Object(entries.collect::<Map<_, _>>())
    }

    fn array(&self, schema: &Json, depth: usize) -> Json {
        if let Some(items) = list(schema, "prefixItems") {
            return items.iter().map(|item| self.of(item, depth + 1)).collect();
        }
        let least = schema.get("minItems").and_then(Json::as_u64);
        let least = least.and_then(|least| usize::try_from(least).ok()).unwrap_or(0);
        let most = schema.get("maxItems").and_then(Json::as_u64);
        let Some(item) = schema.get("items").filter(|_| depth <= DEEP || least > 0) else {
            return Json::Array(Vec::new());
        };
        let is_text = item.get("type").and_then(Json::as_str) == Some("string") && item.get("enum").is_none();
        // With bounds the number of phrases could be wrong.
        if is_text && least == 0 && most.is_none() {
            return self.text.split(", ").map(Json::from).collect();
        }
        (0..least.max(1)).map(|_| self.of(item, depth + 1)).collect()
    }
}

fn list<'s>(schema: &'s Json, name: &str) -> Option<&'s Vec<Json>> {
    schema.get(name)?.as_array()
}

/// The type of a schema; of several types, one that is not null.
fn kind(schema: &Json, depth: usize) -> &str {
    match schema.get("type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Json::as_str);
            kinds.find(|kind| (*kind == "null") == (depth > DEEP)).unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

/// The allowed number that is nearest to one.
fn number(schema: &Json) -> Json {
    let [least, most] = ["minimum", "maximum"].map(|name| schema.get(name).and_then(Json::as_f64));
    let number = 1.0_f64.max(least.unwrap_or(1.0)).min(most.unwrap_or(f64::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "bounds of integers are integers")]
    match kind(schema, 0) {
        "integer" => Json::from(number as i64),
        _ => Number::from_f64(number).map_or(Json::Null, Json::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sample_matches_its_schema() {
        let root = json!({ "$defs": { "Kind": { "enum": ["good", "bad"] } } });
        for (schema, expected) in [
            (json!({ "type": "string" }), json!("a b, c")),
            (json!({ "type": "integer", "minimum": 0, "maximum": 255 }), json!(1)),
            (json!({ "type": "integer", "minimum": 7 }), json!(7)),
            (json!({ "type": "number", "maximum": 0.5 }), json!(0.5)),
            (json!({ "type": "boolean" }), json!(false)),
            (json!({ "type": ["string", "null"] }), json!("a b, c")),
            (json!({ "const": "x" }), json!("x")),
            (json!({ "$ref": "#/$defs/Kind" }), json!("good")),
            (json!({ "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/Kind" }] }), json!("good")),
            (json!({ "type": "array", "items": { "type": "string" } }), json!(["a b", "c"])),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/Kind" } }), json!(["good"])),
            (json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2 }), json!([1, 1])),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "boolean" }, { "type": "null" }] }),
                json!([false, null]),
            ),
            (json!({ "type": "object", "properties": { "n": { "type": "integer" } } }), json!({ "n": 1 })),
            (json!(true), json!("a b, c")),
        ] {
            assert_eq!(SchemaSampler { root: &root, text: "a b, c" }.of(&schema, 0), expected, "{schema}");
        }
    }

    #[test]
    fn a_recursive_type_ends() {
        let tree = json!({
            "type": "object",
            "properties": {
                "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
                "all": { "type": "array", "items": { "$ref": "#" } },
            },
        });
        assert!(sample(&tree, "x").to_string().len() < 10_000);
        assert_eq!(sample(&json!({ "$ref": "#" }), "x"), Json::Null);
    }
}
