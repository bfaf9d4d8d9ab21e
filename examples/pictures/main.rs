//! Draws the pictures of the README: the chat example in a terminal, and the graph of the flow. A test compares the
//! committed files with the drawings.
//!
//! ```text
//! cargo run --example pictures     writes examples/pictures/chat.svg and examples/pictures/graph.svg
//! ```

#[expect(dead_code, reason = "`main` and the command line of the chat are not called")]
#[path = "../chat/main.rs"]
mod chat;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{Color, RgbColor, Style};
use anstyle_svg::{Palette, Term};
use columnar::BoxError;
use columnar::model::Offline;
use columnar::terminal::WrapWriter;
use columnar_examples::{describe, exit_code};

use chat::{Chat, Session};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pictures");

/// The transcript that the chat reads.
const MESSAGES: &str = "We should rewrite the backend in Rust.\nPython is always slow.\n";

/// The columns of the terminal.
const WIDTH: usize = 100;

const BACKGROUND: RgbColor = RgbColor(13, 17, 23);
const TEXT: RgbColor = RgbColor(230, 237, 243);

/// The colours 0 to 15 of a terminal, legible on the dark background.
// Source: the terminal colours of GitHub's dark theme, on whose pages the README is read.
const COLORS: [u32; 16] = [
    0x48_4f58, 0xff_7b72, 0x3f_b950, 0xd2_9922, 0x58_a6ff, 0xbc_8cff, 0x39_c5cf, 0xb1_bac4, 0x6e_7681,
    0xff_a198, 0x56_d364, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x56_d4dd, 0xff_ffff,
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(write().await)
}

async fn write() -> Result<(), BoxError> {
    for (name, svg) in pictures().await? {
        let path = Path::new(FOLDER).join(name);
        std::fs::write(&path, svg)?;
        anstream::println!("{}", columnar_examples::printable(path.display()));
    }
    Ok(())
}

/// The names of the files and the contents.
async fn pictures() -> Result<[(&'static str, String); 2], BoxError> {
    Ok([("chat.svg", terminal().await?), ("graph.svg", Chat::GRAPH.outline().svg())])
}

/// The output of the chat example on the offline model, in the form of a terminal.
async fn terminal() -> Result<String, BoxError> {
    let bold = Style::new().bold();
    let mut text = Vec::new();
    let mut out = WrapWriter::new(&mut text, Some(WIDTH));
    writeln!(out, "{bold}$ cargo run --example chat -- --messages critique messages.txt{bold:#}")?;
    writeln!(out, "model: {}", describe(Offline::NAME))?;
    let mut session = Session { chat: Chat::new(), out, messages: vec!["critique"] };
    // The model is fixed, no matter what the environment names: a test compares the files with replies that never
    // change.
    session.chat.set_model(Offline::new());
    session.play("messages.txt", MESSAGES.as_bytes()).await?;
    drop(session);
    let text = String::from_utf8(text)?;

    let terminal = Term::new()
        .min_width_px(880)
        .palette(palette())
        .fg_color(Color::Rgb(TEXT))
        .bg_color(Color::Rgb(BACKGROUND));
    Ok(scalable(&terminal.render_svg(text.trim_end())))
}

fn palette() -> Palette {
    Palette(COLORS.map(|color| {
        // The first byte is always 0, as the colours have 24 bits.
        let [_, red, green, blue] = color.to_be_bytes();
        RgbColor(red, green, blue)
    }))
}

/// Browsers crop an SVG without a `viewBox` instead of scaling the picture.
fn scalable(svg: &str) -> String {
    let size = |name: &str| {
        let (_, rest) = svg.split_once(&format!("{name}=\""))?;
        rest.split_once("px\"").map(|(size, _)| size)
    };
    let view =
        format!("<svg viewBox=\"0 0 {} {}\" ", size("width").unwrap_or("0"), size("height").unwrap_or("0"));
    svg.replacen("<svg ", &view, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_committed_pictures_are_up_to_date() -> Result<(), BoxError> {
        for (name, svg) in pictures().await? {
            let committed = std::fs::read_to_string(Path::new(FOLDER).join(name))?;
            assert!(committed == svg, "{name} is out of date: run `cargo run --example pictures`");
        }
        Ok(())
    }
}
