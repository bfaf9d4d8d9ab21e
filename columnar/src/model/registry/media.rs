//! The media that models take, one row per family, with the rules of their tokens.
//!
//! A model without a row takes everything: a server of the user may know any media. Where a provider publishes no rule, the
//! newest models of Anthropic stand for it.

use super::{by_prefix, canonical};
use crate::history::ImageTokens::{Crops, Each, Patches, Squares, Tiles};
use crate::history::{ImageRules, ImageTokens, MediaRules, PdfRules};

const MEGABYTES: usize = 1 << 20;

/// The bytes that have this many megabytes in base64, which has four letters for three bytes.
const fn decoded(megabytes: usize) -> usize {
    megabytes * MEGABYTES / 4 * 3
}

const COMMON: &str = "jpeg png gif webp";

/// The rule where no page of the provider has one.
const UNPUBLISHED: ImageTokens = Squares { pixels: 28, edge: 2576, most: 4784 };

/// A row of models that take text alone.
const fn text(prefixes: &'static str, source: &'static str, date: &'static str) -> MediaRules {
    MediaRules { prefixes, images: None, pdf: None, source, date, ..MediaRules::ANY }
}

impl MediaRules {
    const fn images(self, types: &'static str, tokens: ImageTokens) -> Self {
        let images = ImageRules { types, tokens, most_bytes: usize::MAX, most_edge: u32::MAX, many: None };
        Self { images: Some(images), ..self }
    }

    /// With limits of each image: the bytes, and the pixels of an edge.
    const fn each(self, most_bytes: usize, most_edge: u32, many: Option<(usize, u32)>) -> Self {
        let Some(images) = self.images else { return self };
        Self { images: Some(ImageRules { most_bytes, most_edge, many, ..images }), ..self }
    }

    const fn pages(self, page: usize, most_pages: usize, most_bytes: usize) -> Self {
        Self { pdf: Some(PdfRules { page, most_pages, most_bytes }), ..self }
    }

    /// With limits of a request: the attachments, and the bytes.
    const fn at_most(self, most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, ..self }
    }

    /// The rules of a model, by the longest prefix of its name that is known, as in `COLUMNAR_MODEL`.
    pub fn by_model(model: &str) -> Option<&'static Self> {
        let (provider, name) = canonical(model);
        by_prefix(ROWS, [provider, name], |row| row.prefixes)
    }
}

/// A row of Claude. A page of a PDF has as much text as the documentation expects of a dense page, and an image.
const fn claude(prefixes: &'static str, [edge, most]: [usize; 2], [images, pages]: [usize; 2]) -> MediaRules {
    text(prefixes, "https://platform.claude.com/docs/en/build-with-claude/vision", "2026-09-07")
        .images(COMMON, Squares { pixels: 28, edge, most })
        .each(decoded(10), 8000, Some((20, 2000)))
        .pages(3000 + 1568, pages, usize::MAX)
        .at_most(images, decoded(32))
}

/// A row of OpenAI. What a page of a PDF counts is not published: here as a dense page of text, and as an image.
const fn openai(prefixes: &'static str, tokens: ImageTokens) -> MediaRules {
    text(prefixes, "https://developers.openai.com/api/docs/guides/images-vision", "2026-08-30")
        .images(COMMON, tokens)
        .pages(3000, usize::MAX, 50 * MEGABYTES)
        .at_most(1500, decoded(512))
}

const fn patches(edge: usize, most: usize, thousandths: usize) -> ImageTokens {
    Patches { edge, most, thousandths }
}

const fn gemini(
    prefixes: &'static str,
    source: &'static str,
    tokens: ImageTokens,
    page: usize,
) -> MediaRules {
    // Two pages name different limits of a request, and this is the lower one.
    text(prefixes, source, "2026-09-04")
        .images("jpeg png webp heic heif", tokens)
        .pages(page, 1000, 50 * MEGABYTES)
        .at_most(3600, decoded(20))
}

const DEEPSEEK: &str = "https://api-docs.deepseek.com/guides/vision";
const MISTRAL: &str = "https://docs.mistral.ai/capabilities/vision";
const ZAI: &str = "https://docs.z.ai/api-reference/llm/chat-completion";
const ALIYUN: &str = "https://www.alibabacloud.com/help/en/model-studio/vision";
const GROQ: &str = "https://console.groq.com/docs/vision";
const COHERE: &str = "https://docs.cohere.com/docs/image-inputs";
const MINIMAX: &str = "https://platform.minimax.io/docs/api-reference/text-chat-anthropic";

static ROWS: &[MediaRules] = &[
    // The first prefix is also for future models.
    claude("anthropic/claude- anthropic/claude-opus-4-7 anthropic/claude-opus-4-8", [2576, 4784], [600, 600]),
    claude(
        "anthropic/claude-3- anthropic/claude-opus-4 anthropic/claude-sonnet-4 anthropic/claude-haiku-4",
        [1568, 1568],
        [100, 100],
    ),
    text(
        "openai/gpt-3.5 openai/gpt-4 openai/o1-mini openai/o3-mini",
        "https://developers.openai.com/api/docs/models",
        "2026-08-30",
    ),
    openai("openai/gpt-4o openai/gpt-4.1 openai/gpt-4.5 openai/gpt-4-turbo", Tiles { base: 85, tile: 170 }),
    openai("openai/gpt-4o-mini", Tiles { base: 2833, tile: 5667 }),
    openai("openai/o1 openai/o3", Tiles { base: 75, tile: 150 }),
    openai("openai/gpt-5 openai/gpt-5.1", Tiles { base: 70, tile: 140 }),
    openai("openai/gpt-4.1-mini", patches(2048, 6144, 1620)),
    openai("openai/gpt-4.1-nano", patches(usize::MAX, 1536, 2460)),
    openai("openai/o4-mini", patches(usize::MAX, 1536, 1720)),
    openai("openai/gpt-5-mini", patches(usize::MAX, 1536, 1200)),
    openai("openai/gpt-5-nano", patches(usize::MAX, 1536, 1500)),
    openai("openai/gpt-5.2 openai/gpt-5.3", patches(2048, 6144, 1200)),
    openai("openai/gpt-5.4", patches(2048, 2500, 1200)),
    openai("openai/gpt-5.5", patches(6000, 10_000, 1200)),
    openai(
        "openai/gpt-5.6 openai/gpt-5.7 openai/gpt-5.8 openai/gpt-5.9 openai/gpt-6",
        patches(65_535, usize::MAX, 1200),
    ),
    gemini(
        "gemini/gemini-1 gemini/gemini-2",
        "https://ai.google.dev/gemini-api/docs/image-understanding",
        Crops(258),
        258,
    ),
    gemini(
        "gemini/gemini-3 gemini/gemini-4",
        "https://ai.google.dev/gemini-api/docs/media-resolution",
        Each(1120),
        560,
    ),
    text("mistral/", MISTRAL, "2026-10-29")
        .images(COMMON, Squares { pixels: 28, edge: 1540, most: usize::MAX })
        .each(10 * MEGABYTES, 10_000, None)
        .at_most(8, usize::MAX),
    text("mistral/pixtral-", MISTRAL, "2026-10-29")
        .images(COMMON, Squares { pixels: 16, edge: 1024, most: usize::MAX })
        .each(10 * MEGABYTES, 10_000, None)
        .at_most(8, usize::MAX),
    text("mistral/codestral- mistral/devstral- mistral/open-", MISTRAL, "2026-10-29"),
    text("xai/grok-", "https://docs.x.ai/developers/model-capabilities/images/understanding", "2026-09-29")
        .images("jpeg png", UNPUBLISHED)
        .each(20 * MEGABYTES, u32::MAX, None),
    text("deepseek/", DEEPSEEK, "2026-09-10"),
    // The documentation names 1,024 tokens as the most of an image.
    text("deepseek/deepseek-flash deepseek/deepseek-v4-flash", DEEPSEEK, "2026-09-10")
        .images(COMMON, Each(1024))
        .each(32 * MEGABYTES, 8192, Some((14, 4096)))
        .at_most(600, decoded(48)),
    text(
        "kimi/kimi-k moonshot/kimi-k",
        "https://platform.kimi.ai/docs/guide/use-kimi-vision-model",
        "2026-10-03",
    )
    .images(COMMON, Each(1024))
    .at_most(usize::MAX, decoded(100)),
    text("zai/", ZAI, "2026-10-03"),
    text("zai/glm-5.3-flash zai/glm-5v zai/glm-4.6v zai/glm-4.5v", ZAI, "2026-10-03")
        .images("jpeg png", UNPUBLISHED)
        .each(5 * MEGABYTES, 6000, None)
        .at_most(50, usize::MAX),
    text("minimax/MiniMax-M2", MINIMAX, "2026-07-02"),
    text("minimax/MiniMax-M3", MINIMAX, "2026-07-02").images(COMMON, UNPUBLISHED),
    text(
        "aliyun/qwen3-max aliyun/qwen3.7-max qwen_cloud/qwen3-max qwen_cloud/qwen3.7-max",
        ALIYUN,
        "2026-03-20",
    ),
    text("aliyun/qwen3 qwen_cloud/qwen3", ALIYUN, "2026-03-20")
        .images(COMMON, Squares { pixels: 32, edge: usize::MAX, most: 2560 }),
    text("groq/", GROQ, "2026-07-02"),
    text("groq/qwen/qwen3.8-27b", GROQ, "2026-07-02").images(COMMON, UNPUBLISHED).at_most(5, usize::MAX),
    text("cohere/", COHERE, "2026-10-20"),
    text("cohere/command-a-vision cohere/command-a-plus", COHERE, "2026-10-20")
        .images(COMMON, UNPUBLISHED)
        .at_most(20, 20 * MEGABYTES),
    text("ollama/ ollama_cloud/", "https://docs.ollama.com/capabilities/vision", "2026-09-12")
        .images(COMMON, UNPUBLISHED),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_is_found_by_its_prefixes() {
        for row in ROWS {
            assert!(row.source.starts_with("https://") && row.date.len() == 10, "{row:?}");
            for prefix in row.prefixes.split(' ') {
                assert_eq!(MediaRules::by_model(prefix), Some(row), "{prefix}");
            }
        }
    }

    #[test]
    fn the_name_of_a_model_decides_its_media() {
        for (model, png, gif, pdf) in [
            ("anthropic/claude-haiku-5-5", true, true, true),
            ("openai_resp/gpt-6-sol", true, true, true),
            ("openai/gpt-4", false, false, false),
            ("openai/smollm2", true, true, true),
            ("gemini/gemini-4-carbon", true, false, true),
            ("mistral/codestral-latest", false, false, false),
            ("mistral/mistral-large-latest", true, true, false),
            ("xai/grok-4.7", true, false, false),
            ("deepseek/deepseek-v4-pro", false, false, false),
            ("deepseek/deepseek-v4-flash", true, true, false),
            ("ollama/llava", true, true, false),
        ] {
            let rules = MediaRules::by_model(model).unwrap_or(&MediaRules::ANY);
            let taken = ["image/png", "image/gif", "application/pdf"].map(|kind| rules.takes(kind));
            assert_eq!((taken, rules.takes("text/plain")), ([png, gif, pdf], true), "{model}");
        }
    }
}
