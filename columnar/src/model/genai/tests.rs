use super::*;
use crate::registry::PROVIDERS;

#[test]
fn every_provider_of_the_registry_makes_a_model() {
    for provider in PROVIDERS {
        let name = format!("{}/some/model", provider.name);
        let model = Genai::new(&name).expect("a known provider");
        assert_eq!(model.name(), name);
        assert_eq!(&*model.model.model_name, "some/model");
        assert_eq!(model.model.adapter_kind.default_key_env_name(), provider.key_variable, "{name}");
    }
}

#[test]
fn the_error_for_a_name_without_provider_or_model_lists_the_providers() {
    for name in ["gpt-4o", "openia/gpt-4o", "openai/", "/gpt-4o", "", "genai_1/x", "vertex/x"] {
        let error = Genai::new(name).expect_err(name).to_string();
        assert!(error.contains("anthropic, cohere") && error.contains("ollama"), "{error}");
    }
}

#[test]
fn a_base_url_stays_out_of_debug_output() {
    let model = Genai::new("openai/x").expect("a provider");
    let model = model.base_url("http://me:secret@localhost/v1/");
    assert_eq!(format!("{model:?}"), r#"Genai { name: "openai/x", .. }"#);
}

#[test]
fn an_address_after_a_name_is_not_part_of_it() {
    let model = Genai::new("openai/x@http://me:secret@localhost/v1").expect("a provider");
    assert_eq!((model.name(), &*model.model.model_name), ("openai/x", "x"));
    assert!(model.has_address() && model.ready().is_ok(), "this machine needs no key");
    assert_eq!(format!("{model:?}"), r#"Genai { name: "openai/x", .. }"#);
    for name in ["openai@http://me:secret@h", "@http://me:secret@h", "x@https://me:secret@h/v1"] {
        let error = Genai::new(name).expect_err(name).to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
