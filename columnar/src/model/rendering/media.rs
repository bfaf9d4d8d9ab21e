//! Attachments in the forms of the APIs: each is a part of a message, with its bytes in base64.

use std::slice;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::blocks::is_blank;
use super::{Block, message};
use crate::history::{Attachment, in_words};

/// The form of the parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartForm {
    Anthropic,
    ChatCompletions,
    Responses,
    Gemini,
    /// A message has one text, and images beside it.
    Ollama,
    AiSdk,
}

impl PartForm {
    /// The parts of a block: the text, unless it is blank, and the attachments. A mark is a member of the last part.
    pub(crate) fn parts(self, block: &Block, mark: Option<(&'static str, Json)>) -> Vec<Json> {
        let text = (!is_blank(&block.text)).then(|| self.text(&block.text));
        let media = block.media.iter().map(|media| self.media(media));
        let mut parts: Vec<Json> = text.into_iter().chain(media).collect();
        if let (Some((key, mark)), Some(Json::Object(last))) = (mark, parts.last_mut()) {
            last.insert(key.to_owned(), mark);
        }
        parts
    }

    /// The message of blocks without marks: one string, unless there are attachments.
    pub(crate) fn message(self, blocks: &[Block]) -> Option<Json> {
        let role = blocks.first()?.role.as_str();
        Some(match blocks {
            [block] if block.media.is_empty() => message(role, &block.text),
            _ if self == Self::Ollama => beside(role, blocks),
            _ => {
                let content: Vec<Json> = blocks.iter().flat_map(|block| self.parts(block, None)).collect();
                json!({ "role": role, "content": content })
            }
        })
    }

    fn text(self, text: &str) -> Json {
        match self {
            Self::Anthropic | Self::ChatCompletions | Self::Ollama | Self::AiSdk => {
                json!({ "type": "text", "text": text })
            }
            Self::Responses => json!({ "type": "input_text", "text": text }),
            Self::Gemini => json!({ "text": text }),
        }
    }

    fn media(self, media: &Attachment) -> Json {
        let kind = media.media_type();
        let data = STANDARD.encode(media.bytes());
        let is_image = is_image(media);
        match self {
            Self::Anthropic if kind == "text/plain" => {
                let text = String::from_utf8_lossy(media.bytes());
                let source = json!({ "type": "text", "media_type": kind, "data": text });
                json!({ "type": "document", "source": source })
            }
            Self::Anthropic => {
                let source = json!({ "type": "base64", "media_type": kind, "data": data });
                json!({ "type": if is_image { "image" } else { "document" }, "source": source })
            }
            Self::ChatCompletions if is_image => {
                json!({ "type": "image_url", "image_url": { "url": url(kind, &data) } })
            }
            Self::ChatCompletions => {
                json!({ "type": "file", "file": { "filename": file_name(media), "file_data": url(kind, &data) } })
            }
            Self::Responses if is_image => {
                json!({ "type": "input_image", "detail": "auto", "image_url": url(kind, &data) })
            }
            Self::Responses => {
                json!({ "type": "input_file", "filename": file_name(media), "file_data": url(kind, &data) })
            }
            Self::Ollama => Json::Null,
            Self::Gemini => json!({ "inlineData": { "mimeType": kind, "data": data } }),
            Self::AiSdk => json!({ "type": "file", "mediaType": kind, "data": data }),
        }
    }
}

/// A message with images beside the text. Other media are words in the text.
fn beside(role: &str, blocks: &[Block]) -> Json {
    let mut content = String::new();
    let mut images = Vec::new();
    for block in blocks {
        content.push_str(&block.text);
        for media in &block.media {
            if is_image(media) {
                images.push(STANDARD.encode(media.bytes()));
            } else {
                content.push_str(&in_words(slice::from_ref(media)));
            }
        }
    }
    json!({ "role": role, "content": content, "images": images })
}

fn is_image(media: &Attachment) -> bool {
    media.media_type().starts_with("image/")
}

fn url(kind: &str, data: &str) -> String {
    format!("data:{kind};base64,{data}")
}

/// A name for a file, which some APIs ask for. The name is the same for the same bytes, so a cache finds the part again.
fn file_name(media: &Attachment) -> String {
    let digest = media.digest().get(..8).unwrap_or_default();
    let ending = media.media_type().rsplit('/').next().unwrap_or_default();
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
        let name = file_name(&Attachment::new("Two\n").expect("a text"));
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
                { "type": "text", "text": text },
                { "type": "image_url", "image_url": { "url": url } },
                { "type": "file", "file": { "filename": name, "file_data": "data:text/plain;base64,VHdvCg==" } },
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
