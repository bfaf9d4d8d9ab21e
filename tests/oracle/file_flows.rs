//! The flows with files beside texts, whose requests are compared: files of each type, in each position.

use columnar::prelude::*;
use columnar::testing::{Script, script};
use columnar::{Attachment, Compute, Prompt, Reply, Text};
use columnar_tests::sample_files::{LOSSY_WEBP, animation, pdf, photo, picture};
use image::ImageFormat;

use crate::flows::Capture;

/// A flow with files that runs with a model, which may refuse the files before anything is sent.
pub(crate) const FILE_FLOWS: [&str; 7] = [
    "an image",
    "files of all types",
    "an image alone",
    "a drawn reply",
    "grouped images",
    "marked files",
    "a mark of a rule",
];

/// Runs a flow. Its requests are in the model.
pub(crate) async fn run(flow: &str, model: &Capture) -> Result<()> {
    // What a model does not take is words.
    let brief = prompt("Be brief.").model(model.clone()).lenient();
    let long = || prompt("Be brief. ".repeat(2000)).model(model.clone()).lenient();
    match flow {
        "an image" => asked(brief, [image()]).await,
        "files of all types" => asked(brief, files()).await,
        "an image alone" => alone(brief).await,
        "a drawn reply" => drawn(brief).await,
        "grouped images" => grouped(brief).await,
        "marked files" => marked(long(), &"word ".repeat(1000), files()).await,
        // The instruction alone has a mark, so replies in a row are separate blocks.
        "a mark of a rule" => marked(long(), "word", [image()]).await,
        _ => unreachable!("one of `FILE_FLOWS`"),
    }
}

fn file(bytes: impl Into<Vec<u8>>) -> Attachment {
    Attachment::new(bytes).expect("it is whole")
}

fn image() -> Attachment {
    file(picture(ImageFormat::Png, 13, 7)).alt("A plan of the </user> house")
}

fn files() -> impl IntoIterator<Item = Attachment> {
    let images =
        [ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP].map(|format| file(picture(format, 5, 4)));
    let others = [
        file(animation(3)),
        file(photo(40, 30)),
        file(LOSSY_WEBP),
        file(pdf("Launch on Monday.")),
        file("Launch on Tuesday.\n"),
        file("<!DOCTYPE html><p>Launch on Wednesday.</p>").alt("A page"),
        file(" \n"),
        file("#!/bin/sh\necho launch\n"),
        file(b"BM\0\xff\0\xff".repeat(9)).alt("A bitmap"),
        file(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".repeat(4)),
        file([0, 159, 146, 150]),
    ];
    [image()].into_iter().chain(images).chain(others)
}

/// A question with files, an answer, and a question without.
async fn asked(step: impl Compute, files: impl IntoIterator<Item = Attachment>) -> Result<()> {
    let chat = flow([column("bot", (source("user").all(), this()), step)])?;
    chat.push("user", files.into_iter().fold(Text::new("What is this?"), Text::with)).await?;
    chat.push("user", "Really?").await?;
    chat.run().await
}

/// A context of images alone.
async fn alone(step: Prompt) -> Result<()> {
    let chat = flow([column("bot", source("user").latest(), step.document())])?;
    chat.push("user", Text::new(" \n").with(image()).with(image())).await?;
    chat.run().await
}

/// A column whose first values have images and no question between them.
struct DrawnFirst(Script, Prompt);

impl Compute for DrawnFirst {
    fn compute(&self, cx: Context) -> Reply<'static> {
        if cx.step() < 2 { self.0.compute(cx) } else { self.1.compute(cx) }
    }
}

async fn drawn(step: Prompt) -> Result<()> {
    let replies = script([Text::new("Here.").with(image()), Text::new(" ").with(image())]);
    let chat = flow([column("bot", (source("user").latest(), this()), DrawnFirst(replies, step))])?;
    for text in ["Draw.", "Again.", "Thanks."] {
        chat.push("user", text).await?;
    }
    chat.run().await
}

/// Two values in a group, whose tags are around the images as around the texts.
async fn grouped(step: impl Compute) -> Result<()> {
    let (user, critic) = (source("user"), source("critic"));
    let chat = flow([column("bot", (group("both", (user.all(), critic.latest())), this()), step)])?;
    for text in ["One.", "Two."] {
        chat.push("user", Text::new(text).with(image())).await?;
        chat.push("critic", Text::new("Bad.").with(image()).with(file(pdf("One")))).await?;
    }
    chat.run().await
}

/// A long talk with files at each step. The replies to two steps are in a row.
async fn marked(step: impl Compute, text: &str, files: impl IntoIterator<Item = Attachment>) -> Result<()> {
    let files: Vec<_> = files.into_iter().collect();
    let chat = flow([column("bot", (source("user").latest(), this()), step)])?;
    for turn in 0..4 {
        let text = Text::new(format!("{turn} {text}"));
        chat.push("user", files.iter().cloned().fold(text, Text::with)).await?;
    }
    chat.run().await
}
