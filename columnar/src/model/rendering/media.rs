//! Attachments in the forms of the APIs: each is a part of a message, with its bytes in base64.

use std::iter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::Block;
use super::blocks::is_blank;
use crate::history::Attachment;
#[cfg(feature = "providers")]
use crate::model::registry::{Api, ProviderFacts};

const PDF: &str = "application/pdf";

/// The form of the parts of a message.
#[cfg_attr(
    not(feature = "providers"),
    allow(dead_code, reason = "the client writes some of the forms alone")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartForm {
    Anthropic,
    /// OpenAI's chat completions, in which a file is a PDF.
    ChatCompletions,
    /// Chat completions of most other servers, which take images alone, and Cohere's Chat.
    ChatImages,
    Responses,
    Gemini,
    /// A message has one text, and images beside it.
    Ollama,
    AiSdk,
}

impl PartForm {
    /// The form of the parts of a provider.
    #[cfg(feature = "providers")]
    pub(crate) fn of(provider: &ProviderFacts) -> Self {
        match provider.api {
            Api::Anthropic => Self::Anthropic,
            Api::ChatCompletions if matches!(provider.name, "openai" | "open_router") => {
                Self::ChatCompletions
            }
            Api::ChatCompletions | Api::Cohere => Self::ChatImages,
            Api::Gemini => Self::Gemini,
            Api::Ollama => Self::Ollama,
            Api::Responses => Self::Responses,
        }
    }

    /// Whether the API has a part for such files. In place of the others there is a text, and no error of the provider.
    ///
    /// Sources, read on 2026-11-27: <https://platform.claude.com/docs/en/build-with-claude/vision>,
    /// <https://developers.openai.com/api/docs/guides/images-vision> and `file-inputs`,
    /// <https://ai.google.dev/gemini-api/docs/image-understanding> and `document-processing`,
    /// <https://docs.cohere.com/docs/image-inputs>, the types of the SDKs, and the decoders in Ollama.
    pub(crate) fn takes(self, media: &Attachment) -> bool {
        match media.media_type() {
            "image/png" | "image/jpeg" | "image/webp" => true,
            // Of an animation, Claude sees the first picture.
            "image/gif" => match self {
                Self::Anthropic | Self::AiSdk => true,
                Self::Gemini | Self::Ollama => false,
                _ => !media.is_animated(),
            },
            "image/heif" => self == Self::Gemini,
            PDF => !matches!(self, Self::ChatImages | Self::Ollama),
            _ => {
                let takes_text =
                    matches!(self, Self::Anthropic | Self::Responses | Self::Gemini | Self::AiSdk);
                takes_text && media.text().is_some_and(|text| !is_blank(text))
            }
        }
    }

    /// The parts of a block: the text, unless it is blank, and the attachments. A mark is a member of the last part.
    pub(crate) fn parts(self, block: &Block, mark: Option<(&'static str, Json)>) -> Vec<Json> {
        let text = Some(self.words(block)).filter(|text| !is_blank(text)).map(|text| self.text(&text));
        let mut parts: Vec<Json> = text.into_iter().chain(self.media(block)).collect();
        if let (Some((key, mark)), Some(Json::Object(last))) = (mark, parts.last_mut()) {
            last.insert(key.to_owned(), mark);
        }
        parts
    }

    /// The message of blocks without marks: one string, unless there are attachments.
    pub(crate) fn message(self, blocks: &[Block]) -> Option<Json> {
        let role = blocks.first()?.role.as_str();
        let has_media = blocks.iter().flat_map(|block| &block.media).any(|media| self.takes(&media.file));
        if has_media && self != Self::Ollama {
            let content: Vec<Json> = blocks.iter().flat_map(|block| self.parts(block, None)).collect();
            return Some(json!({ "role": role, "content": content }));
        }
        let texts: Vec<String> = blocks.iter().map(|block| self.words(block)).collect();
        let mut message = message(role, &texts.concat());
        if let (Json::Object(members), true) = (&mut message, has_media) {
            members.insert("images".to_owned(), blocks.iter().flat_map(|block| self.media(block)).collect());
        }
        Some(message)
    }

    /// The text of a block, and the texts in place of attachments that the API does not take.
    fn words(self, block: &Block) -> String {
        let others = block.media.iter().filter(|media| !self.takes(&media.file));
        iter::once(&block.text).chain(others.map(|media| &media.stand_in)).cloned().collect()
    }

    fn text(self, text: &str) -> Json {
        match self {
            Self::Responses => json!({ "type": "input_text", "text": text }),
            Self::Gemini => json!({ "text": text }),
            _ => json!({ "type": "text", "text": text }),
        }
    }

    /// The attachments of a block that the API takes.
    fn media(self, block: &Block) -> impl Iterator<Item = Json> {
        let files = block.media.iter().map(|media| &media.file);
        files.filter(move |file| self.takes(file)).map(move |file| self.file(file))
    }

    fn file(self, media: &Attachment) -> Json {
        // Some APIs take no other texts.
        let kind = if media.text().is_some() { "text/plain" } else { media.media_type() };
        let is_image = kind.starts_with("image/");
        let data = STANDARD.encode(media.bytes());
        match self {
            Self::Anthropic => {
                let (block, source, data) = match media.text() {
                    Some(text) => ("document", "text", text),
                    None => (if is_image { "image" } else { "document" }, "base64", &*data),
                };
                json!({ "type": block, "source": { "type": source, "media_type": kind, "data": data } })
            }
            Self::Responses if is_image => {
                json!({ "type": "input_image", "detail": "auto", "image_url": url(kind, &data) })
            }
            Self::Responses => {
                json!({ "type": "input_file", "filename": file_name(media), "file_data": url(kind, &data) })
            }
            Self::ChatCompletions | Self::ChatImages if is_image => {
                json!({ "type": "image_url", "image_url": { "url": url(kind, &data) } })
            }
            Self::ChatCompletions | Self::ChatImages => {
                json!({ "type": "file", "file": { "filename": file_name(media), "file_data": url(kind, &data) } })
            }
            Self::Ollama => data.into(),
            Self::Gemini => json!({ "inlineData": { "mimeType": kind, "data": data } }),
            Self::AiSdk => json!({ "type": "file", "mediaType": kind, "data": data }),
        }
    }
}

/// A message with one string as the content.
pub(crate) fn message(role: &str, content: &str) -> Json {
    json!({ "role": role, "content": content })
}

fn url(kind: &str, data: &str) -> String {
    format!("data:{kind};base64,{data}")
}

/// A name for a PDF or a text, by whose ending some APIs know the type. The name is the same for the same bytes, so a
/// cache finds the part again.
fn file_name(media: &Attachment) -> String {
    let digest = media.digest().get(..8).unwrap_or_default();
    let ending = if media.text().is_some() { "txt" } else { "pdf" };
    format!("{digest}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Messages;
    use crate::flow::{column, flow, source, this};
    use crate::history::Text;
    use crate::model::rendering::Rendering;
    use crate::testing::script;

    /// A picture of one pixel.
    const PIXEL: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn pixel() -> Attachment {
        let bytes = STANDARD.decode(PIXEL).expect("base64");
        Attachment::new(bytes).expect("a picture").alt("A dot.")
    }

    /// A question with a picture and a note, an answer with a picture, and a question without.
    async fn messages() -> Messages {
        let answer = Text::new("A dot.").with(pixel());
        let f =
            flow([column("answer", (source("user").all(), this()), script([answer]))]).expect("it is right");
        let question =
            Text::new("What is this?").with(pixel()).with(Attachment::new("Two\n").expect("a text"));
        f.push("user", question).await.expect("memory takes it");
        f.push("user", "Really?").await.expect("memory takes it");
        f.run().await.expect_err("the script ends");
        f.messages("answer", 1).expect("both steps are there")
    }

    #[tokio::test]
    async fn each_form_has_the_attachments_behind_the_text_of_their_value() {
        let messages = messages().await;
        let rendering = Rendering::new("Look.", &messages);
        let text = "<user>\nWhat is this?\n</user>";
        let url = format!("data:image/png;base64,{PIXEL}");
        let anthropic = rendering.anthropic();
        assert_eq!(
            anthropic["messages"][0]["content"],
            json!([
                { "type": "text", "text": text },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } },
                { "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "Two\n" } },
            ])
        );
        assert_eq!(
            anthropic["messages"][1]["content"],
            json!([{ "type": "text", "text": "A dot.\n\n[A dot.]" }])
        );
        assert_eq!(
            rendering.openai()["messages"][1]["content"],
            json!([
                { "type": "text", "text": format!("{text}\n\nTwo\n") },
                { "type": "image_url", "image_url": { "url": url } },
            ])
        );
        let words = format!("Look.\n\n{text}\n\n[A dot.]\n\n[text/plain, 4 bytes]");
        assert_eq!(rendering.alternating()[0]["content"], json!(words));
        let merged = rendering.merged();
        assert_eq!(merged[1]["content"], json!(words.trim_start_matches("Look.\n\n")));
        assert_eq!(merged[3]["content"], json!("<user>\nReally?\n</user>"));
        let shown: Json = serde_json::from_str(&messages.to_json()).expect("JSON");
        assert_eq!(shown[0]["attachments"][0]["alt"], json!("A dot."));
        assert_eq!(shown[2].get("attachments"), None);
    }
}
