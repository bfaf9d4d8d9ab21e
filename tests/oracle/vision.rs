//! A real vision model on this machine reads the images that a flow sends.
//!
//! No language model that sees has its weights in a package, so this one only reads words. That is enough to know that the
//! pixels arrive as they were attached.

use std::io::Cursor;

use columnar::model::Provider;
use columnar::prelude::*;
use columnar::{Attachment, Text};
use image::{ImageFormat, RgbImage};

use crate::gateways::Gateway;

/// A picture of the words `Launch on Monday`.
const WORDS: &[u8] = include_bytes!("../fixtures/words.png");

/// The same picture as a file of another format.
fn picture(format: ImageFormat) -> Attachment {
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::load_from_memory(WORDS).expect("a picture").to_rgb8();
    picture.write_to(&mut bytes, format).expect("it is written to memory");
    Attachment::new(bytes.into_inner()).expect("it is whole")
}

fn blank() -> Attachment {
    let mut bytes = Cursor::new(Vec::new());
    let white = RgbImage::from_pixel(200, 100, image::Rgb([255; 3]));
    white.write_to(&mut bytes, ImageFormat::Png).expect("it is written to memory");
    Attachment::new(bytes.into_inner()).expect("it is whole")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_vision_model_reads_the_images_of_a_flow() -> Result<()> {
    let test = "a_real_vision_model_reads_the_images_of_a_flow";
    let Some(gateway) = Gateway::start(test, "vision.py", &[]) else { return Ok(()) };
    for (name, path) in [("openai", "/v1"), ("ollama", "")] {
        let model = Provider::new(&format!("{name}/rapidocr@{}{path}", gateway.url())).expect("a provider");
        let desk = flow! {
            source page;
            column reader(page.latest) = prompt("Which words are in the pictures?").model(model.clone());
        };
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            desk.page.push(Text::new("Read this.").with(picture(format))).await?;
        }
        desk.page.push(Text::new("And these.").with(blank()).with(blank())).await?;
        desk.run().await?;
        for step in 0..3 {
            assert_eq!(desk.reader.get(step).as_deref(), Some("Launch on Monday"), "{name} {step}");
        }
        assert_eq!(desk.reader.get(3).as_deref(), Some("There are no words."), "{name}");
    }
    Ok(())
}
