//! The tokens of images against LiteLLM, which counts them by the same pages of the providers.

use std::io::Write;
use std::process::Stdio;

use columnar::Attachment;
use columnar::model::MediaRules;
use columnar_tests::pictures::png;

use crate::python;

const MODELS: [&str; 14] = [
    "anthropic/claude-haiku-4-5",
    "anthropic/claude-opus-4-6",
    "anthropic/claude-opus-4-8",
    "anthropic/claude-sonnet-5",
    "openai/gpt-4o",
    "openai/gpt-4.1",
    "openai/gpt-4.1-mini",
    "openai/gpt-4o-mini",
    "openai/gpt-5",
    "openai/gpt-5.1",
    "openai/gpt-5.2",
    "openai/gpt-5.4-mini",
    "openai/gpt-5.5",
    "openai/o3",
];

/// Sizes of screens, phones, scans and thumbnails, and a few that are not usual.
fn sizes() -> Vec<(u32, u32)> {
    let usual =
        [(1, 1), (200, 200), (512, 512), (768, 768), (1092, 1092), (1280, 720), (1920, 1080), (3840, 2160)];
    let scans = [(1240, 1754), (2480, 3508), (4032, 3024), (2048, 4096), (8000, 6000)];
    let mut state = 17_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state % 7000 + 33
    };
    // The sides of tiles are rounded, so extreme shapes differ by a tile.
    let others = (0..400)
        .map(|_| (random(), random()))
        .filter(|(width, height)| width < &(8 * height) && height < &(8 * width));
    usual.into_iter().chain(scans).chain(others.collect::<Vec<_>>()).collect()
}

#[test]
fn images_have_as_many_tokens_as_litellm_counts() {
    let Some(mut command) = python::script("images_have_as_many_tokens_as_litellm_counts", "images.py")
    else {
        return;
    };
    let questions: Vec<_> =
        MODELS.iter().flat_map(|model| sizes().into_iter().map(move |size| (*model, size))).collect();
    let lines: Vec<_> =
        questions.iter().map(|(model, (width, height))| format!("{model} {width} {height}\n")).collect();
    let lines = lines.concat();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the interpreter runs");
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    writer.join().expect("no panic").expect("the script reads all");
    let answers = String::from_utf8(output.stdout).expect("numbers");
    assert_eq!(answers.lines().count(), questions.len(), "the script answers each question");
    for ((model, (width, height)), answer) in questions.iter().zip(answers.lines()) {
        let expected: usize = answer.parse().unwrap_or_else(|_| panic!("{model} is {answer}"));
        let image = Attachment::new(png(*width, *height)).expect("a PNG");
        let tokens = MediaRules::by_model(model).expect("a row").tokens(&image);
        assert_eq!(tokens, expected, "{model}: {width} × {height}");
    }
}
