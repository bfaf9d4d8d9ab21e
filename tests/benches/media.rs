//! A value with an attachment of 20 MB at the first of 1,000 steps of a conversation in a folder, which every later request
//! shows, beside the same conversation without the attachment: the time and the memory of a step, the size of the store,
//! and the time to write a request beside that of encoding the bytes alone.
//!
//! `cargo bench -p columnar-tests --bench media`

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::store::FileStore;
use columnar::{Attachment, Text};
use columnar_tests::figures::{bar, figure, median, medians, over, resident};
use columnar_tests::pictures::png;
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};

const STEPS: usize = 1000;
const BYTES: usize = 20 << 20;
/// The steps of a part, whose medians are compared.
const PART: usize = 200;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime of one thread needs nothing")
}

/// A picture with a chunk that decoders pass, of bytes that no file system can make smaller.
fn large() -> Attachment {
    let mut state = 1_u64;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    });
    let length = u32::try_from(BYTES).unwrap_or_default().to_be_bytes();
    let chunk = length.into_iter().chain(*b"teSt").chain(random.take(BYTES)).chain([0; 4]);
    let mut bytes = png(1000, 1000);
    // Behind the head.
    bytes.splice(33..33, chunk);
    Attachment::new(bytes).expect("a picture")
}

/// A conversation in a folder.
struct Talked {
    flow: Flow,
    /// The median time of a step among the first, and among the last.
    times: [Duration; 2],
    /// The bytes that the resident memory grew by after the first part.
    grown: f64,
}

fn talk(folder: &Path, first: impl Into<Value>) -> Talked {
    let user = source("user");
    let answer = column("answer", (&user, this()), |cx: Context| async move {
        // As a model does: it reads the whole context.
        format!("{} parts, {} tokens", cx.messages().parts().count(), cx.messages().tokens())
    });
    runtime().block_on(async {
        let flow = Flow::open(FileStore::new(folder), [answer]).await.expect("an empty folder");
        let mut first = Some(first.into());
        let mut times = Vec::new();
        let mut memory = Vec::new();
        for step in 0..STEPS {
            let started = Instant::now();
            let value = first.take().unwrap_or_else(|| format!("message {step}").into());
            flow.push("user", value).await.expect("the folder takes it");
            flow.run().await.expect("nothing fails");
            times.push(started.elapsed());
            if step == PART || step + 1 == STEPS {
                memory.push(resident().unwrap_or_default());
            }
        }
        let early = median(times.iter().skip(1).take(PART).copied().collect());
        let late = median(times.iter().skip(STEPS - PART).copied().collect());
        let grown = memory.last().zip(memory.first()).map_or(0.0, |(end, begin)| end - begin);
        Talked { flow, times: [early, late], grown }
    })
}

/// The bytes of all files in a folder.
fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be listed"));
    entries
        .map(|entry| {
            if entry.path().is_dir() {
                bytes(&entry.path())
            } else {
                entry.metadata().map_or(0, |data| data.len())
            }
        })
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "a figure has a few digits")]
fn media(_: &mut Criterion) {
    let [with, without] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let plain = talk(without.path(), "Look at this.");
    let attachment = large();
    let talked = talk(with.path(), Text::new("Look at this.").with(attachment.clone()));
    let [early, late] = talked.times;
    figure("step_early", early.as_secs_f64() * 1e6, "us");
    figure("step_late", late.as_secs_f64() * 1e6, "us");
    bar("late_step_over_the_same_without_attachment", over(late, plain.times[1]), 1.2);
    let grown = (talked.grown - plain.grown).max(0.0) / BYTES as f64;
    bar("memory_grown_after_the_first_steps_in_attachments", grown, 0.1);
    bar("store_over_attachment", (bytes(with.path()) - bytes(without.path())) as f64 / BYTES as f64, 1.01);

    let messages = talked.flow.messages("answer", STEPS - 1).expect("it is stored");
    let mut write = || drop(black_box(Rendering::new("", &messages).anthropic().to_string()));
    let mut encode = || drop(black_box(STANDARD.encode(attachment.bytes())));
    let [write, encode] = medians(5, [&mut write, &mut encode]);
    figure("request_of_last_step", write.as_secs_f64() * 1e3, "ms");
    bar("request_over_encoding_alone", over(write, encode), 6.0);
}

criterion_group!(benches, media);
criterion_main!(benches);
