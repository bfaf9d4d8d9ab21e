use super::*;

#[test]
fn every_listed_provider_makes_a_model() {
    for provider in PROVIDERS {
        let name = format!("{provider}/some/model");
        let model = Genai::new(&name).expect("a listed provider");
        assert_eq!(model.name(), name);
        assert_eq!(&*model.model.model_name, "some/model");
        let keyed = model.model.adapter_kind.default_key_env_name().is_some();
        assert_eq!(keyed, *provider != "ollama", "{provider}");
    }
    assert!(PROVIDERS.is_sorted());
}

#[test]
fn a_name_without_provider_or_model_is_answered_with_the_list() {
    for name in ["gpt-4o", "openia/gpt-4o", "openai/", "/gpt-4o", "", "genai_1/x", "vertex/x"] {
        let error = Genai::new(name).expect_err(name).to_string();
        assert!(error.contains("anthropic, cohere") && error.contains("ollama"), "{error}");
    }
}

#[test]
fn a_base_url_ends_in_a_slash() {
    let url = |url| {
        let model = Genai::new("openai/x").expect("a provider").with_base_url(url);
        model.base_url.expect("was set")
    };
    assert_eq!(url("http://h/v1"), "http://h/v1/");
    assert_eq!(url("http://h/v1/"), "http://h/v1/");
    assert_eq!(url("http://h/v1?api=2"), "http://h/v1/?api=2");
}

#[test]
fn only_this_machine_is_loopback() {
    for url in [
        "http://127.0.0.1:8123/v1/",
        "http://127.9.9.9",
        "https://localhost/v1/",
        "http://user:pass@localhost:80?x",
        "http://[::1]:8123/v1/",
    ] {
        assert!(is_loopback(url), "{url}");
    }
    for url in [
        "http://10.0.0.1/",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "http://127.0.0.1@example.com/",
        "http://127.0.0.1:80@example.com/",
        "http://example.com/?http://127.0.0.1/",
        "http://[2001:db8::1]/",
        "",
    ] {
        assert!(!is_loopback(url), "{url}");
    }
}

#[test]
fn a_base_url_stays_out_of_debug_output() {
    let model = Genai::new("openai/x").expect("a provider");
    let model = model.with_base_url("http://me:secret@localhost/v1/");
    assert_eq!(format!("{model:?}"), r#"Genai { name: "openai/x", .. }"#);
}
