//! A coding session on the real model in three layouts: the tokens of its requests, and those that its cache served.

use std::sync::{Arc, Mutex, PoisonError};

use columnar::BoxError;
use columnar::documents::Update;
use columnar::model::{Chunk, Request};
use columnar::{Flow, column, documents, flow, prompt, source, this};
use futures::stream::BoxStream;

use super::*;

/// The documents, in the order of their keys. Together with the old texts and the turns, they must fit into the 4,096 tokens
/// that the server has for a request.
const MODULES: [&str; 8] = ["ast", "check", "emit", "lexer", "names", "parse", "report", "scope"];

/// The messages, each with the module that was edited before it. The work stays with two modules in the middle of the list.
const STEPS: [(&str, Option<&str>); 10] = [
    ("Which module reads the text first?", None),
    ("I changed a limit. Is it used?", Some("parse")),
    ("I changed one here, too. Why?", Some("emit")),
    ("Again. What depends on it?", Some("parse")),
    ("Explain that in a sentence.", None),
    ("Is the new limit of this one right?", Some("emit")),
    ("And of this one?", Some("parse")),
    ("What is left to do?", None),
    ("I did that. Is it complete?", Some("emit")),
    ("Then this is the last change.", Some("parse")),
];

/// The position of the documents in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Tiered,
    AppendOnly,
    FilesOnTop,
}

impl Layout {
    const ALL: [Self; 3] = [Self::Tiered, Self::AppendOnly, Self::FilesOnTop];

    fn name(self) -> &'static str {
        match self {
            Self::Tiered => "tiered",
            Self::AppendOnly => "append-only",
            Self::FilesOnTop => "files on top",
        }
    }

    /// The flow that sends its requests in this layout. The first words of the instruction have the number of the session,
    /// so the cache of the server has nothing of an earlier one.
    fn flow(self, model: FilesOnTop, session: usize) -> Result<Flow> {
        let user = source("user");
        let coder = prompt(format!("Session {session}: you answer questions about a compiler in Rust."))
            .model(model)
            .max_tokens(16)
            .allow_truncated();
        let column = match self {
            // By default, a tier keeps documents of 1,536 tokens back from the tier above, which is more than all of these.
            Self::Tiered => {
                column("coder", (documents("files").tiered().target(0), user.all(), this()), coder)
            }
            Self::AppendOnly => column("coder", (documents("files").all(), user.all(), this()), coder),
            Self::FilesOnTop => column("coder", (user.all(), this()), coder),
        };
        flow([column])
    }
}

/// A model that gets the current documents in front of the conversation, as other programs send them. Without documents it
/// gets the requests as they are. Clones share the documents.
#[derive(Clone, Debug)]
struct FilesOnTop {
    model: EndRecorder,
    files: Arc<Mutex<String>>,
}

impl Model for FilesOnTop {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, mut request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        request.system = format!("{}{files}", request.system).into();
        self.model.reply(request)
    }
}

impl FilesOnTop {
    fn set(&self, files: String) {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }
}

/// A module, and the step of its last edit.
type Module = (&'static str, usize);

fn path((name, _): Module) -> String {
    format!("src/{name}.rs")
}

/// The text of a module, of 100 to 200 tokens.
fn text((name, edited): Module) -> String {
    let function = |verb: &str, what: &str| {
        format!(
            "/// {what}\npub fn {verb}_{name}(text: &str) -> Option<usize> {{\n    text.find(\"{name}\").filter(|at| *at < LIMIT)\n}}\n"
        )
    };
    let (find, test) = (function("find", "Where it begins."), function("test", "Whether it is short."));
    format!("//! The {name} of the compiler.\n\nconst LIMIT: usize = {};\n\n{find}\n{test}", 100 + edited)
}

/// The documents in the form of the tiered layout.
fn on_top(modules: &[Module]) -> String {
    let files = modules.iter().map(|module| format!("\n\n{}\n```\n{}\n```", path(*module), text(*module)));
    format!("\n\n# Working Files{}", files.collect::<String>())
}

/// The usages of the requests of a session.
async fn session(layout: Layout, url: &str, number: usize) -> Result<Vec<Usage>> {
    let put = |update: Update, module: &Module| update.file(path(*module), text(*module));
    let recorder = model_at("openai/smollm2", url);
    let model = FilesOnTop { model: recorder.clone(), files: Arc::default() };
    let coding = layout.flow(model.clone(), number)?;
    let mut modules = MODULES.map(|name| (name, 0));
    let mut update = modules.iter().fold(Update::new(), put);
    for (step, (message, edited)) in STEPS.into_iter().enumerate() {
        if let Some(module) = modules.iter_mut().find(|(name, _)| Some(*name) == edited) {
            module.1 = step;
            update = put(update, module);
        }
        match layout {
            Layout::FilesOnTop => model.set(on_top(&modules)),
            Layout::Tiered | Layout::AppendOnly => {
                let text = update.to_text().expect("the paths are valid");
                coding.push("files", text).await?;
            }
        }
        coding.push("user", message).await?;
        coding.run().await?;
        update = Update::new();
    }
    Ok(usages_of(&recorder))
}

/// The usages of the requests of a session without a failure. The server drops a reply now and then, and its cache would
/// serve all of a repeated request, so the whole session is repeated under another number.
async fn complete_session(layout: Layout, url: &str) -> Result<Vec<Usage>> {
    for number in 1..3 {
        match session(layout, url, 10 * number + layout as usize).await {
            Err(error) => eprintln!("{}: {error}", layout.name()),
            done => return done,
        }
    }
    session(layout, url, 30 + layout as usize).await
}

/// The tokens of all requests of a session.
struct Tokens {
    input: u64,
    cached: u64,
}

impl Tokens {
    fn of(usages: &[Usage]) -> Self {
        let sum = |tokens: fn(&Usage) -> u64| usages.iter().map(tokens).sum();
        Self { input: sum(|usage| usage.input), cached: sum(|usage| usage.cache_read) }
    }

    #[expect(clippy::cast_precision_loss)]
    fn share(&self) -> f64 {
        self.cached as f64 / self.input as f64
    }
}

/// The server reads from its cache the longest prefix that a request shares with an earlier one. In the first three steps
/// both layouts have all documents in the order of their keys, in front of the conversation, and lose as much by an edit.
/// At step 3 the six quiet documents enter L3, and the tiered layout loses all documents where the other one loses the
/// last three. From then on an edit of `emit` or `parse` leaves six or seven documents in the tiered layout, and two or
/// five in the other one. There are four such edits, so a tiered session has seven documents more from the cache, whatever
/// the model replies: its replies are at most 16 tokens long, and after an edit no layout has them from the cache.
#[tokio::test]
async fn tiers_keep_more_in_the_cache_than_files_on_top() -> Result<()> {
    let test = "tiers_keep_more_in_the_cache_than_files_on_top";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    println!("{:<14}{:>8}{:>8}{:>8}", "layout", "input", "cached", "share");
    let mut shares = Vec::new();
    for layout in Layout::ALL {
        let usages = complete_session(layout, &url).await?;
        assert_eq!(usages.len(), STEPS.len(), "{}: each reply has its usage", layout.name());
        assert!(usages.iter().all(|usage| usage.cache_read <= usage.input), "{usages:?}");
        let tokens = Tokens::of(&usages);
        println!("{:<14}{:>8}{:>8}{:>8.2}", layout.name(), tokens.input, tokens.cached, tokens.share());
        shares.push(tokens.share());
    }
    let [tiered, _, files_on_top] = shares[..] else { unreachable!("there are three layouts") };
    assert!(tiered > files_on_top, "{tiered}, {files_on_top}");
    Ok(())
}
