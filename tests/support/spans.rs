//! What a subscriber sees: the spans and events that a program tells, kept for a test to read.

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, set_default, set_global_default};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Everything that was told on this thread since it began to listen. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    told: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    spans: Vec<Span>,
    /// Every name and every value of a field, in the order in which they were told.
    words: Vec<String>,
}

/// A span as it was told.
#[derive(Clone, Debug)]
pub struct Span {
    /// Its name.
    pub name: &'static str,
    /// What is known of it. Numbers and texts look alike.
    pub fields: Fields,
    /// The events that stand in it.
    pub events: Vec<Fields>,
    /// Whether nobody can tell more of it.
    pub is_closed: bool,
    parent: Option<usize>,
}

/// Fields by their names. The text of an event is its field `message`.
pub type Fields = BTreeMap<String, String>;

/// Listens, until the guard is dropped, to all that is told on this thread.
///
/// A subscriber that keeps nothing listens on all other threads. Without it, `tracing` would take a span that another
/// test of this process reaches first for one that nobody wants, and not ask again.
///
/// # Panics
///
/// Where this process has a global subscriber that is not from here.
pub fn listen() -> (Spans, DefaultGuard) {
    static OTHERS: Once = Once::new();
    OTHERS.call_once(|| set_global_default(Registry::default()).expect("no other subscriber is global"));
    let spans = Spans::default();
    let guard = set_default(Registry::default().with(spans.clone()));
    (spans, guard)
}

impl Spans {
    /// The spans of this name, in the order in which they began.
    pub fn named(&self, name: &str) -> Vec<Span> {
        self.told().spans.iter().filter(|span| span.name == name).cloned().collect()
    }

    /// Each span on a line, indented below the one that it stands in, with the value of these fields
    /// where it has them; and each event, after a dash, with its message.
    pub fn tree(&self, fields: &[&str]) -> String {
        self.told().lines(None, 0, fields)
    }

    /// Whether any name or value that was ever told holds this text, be it replaced by another one since.
    pub fn hold(&self, text: &str) -> bool {
        let told = self.told();
        told.words.iter().any(|word| word.contains(text))
            || told.spans.iter().any(|span| span.name.contains(text))
    }

    /// The spans that are not closed.
    pub fn open(&self) -> usize {
        self.told().spans.iter().filter(|span| !span.is_closed).count()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, record: impl FnOnce(&mut Reader)) -> Fields {
        let mut fields = Reader::default();
        record(&mut fields);
        let words = fields.0.iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
        self.told().words.extend(words);
        fields.0
    }

    fn change<S: Subscriber + for<'a> LookupSpan<'a>>(
        &self,
        id: &Id,
        cx: &Context<'_, S>,
        change: impl FnOnce(&mut Span),
    ) {
        let at = cx.span(id).and_then(|span| span.extensions().get::<Kept>().map(|kept| kept.0));
        let mut told = self.told();
        if let Some(span) = at.and_then(|at| told.spans.get_mut(at)) {
            change(span);
        }
    }
}

impl Told {
    fn lines(&self, parent: Option<usize>, depth: usize, fields: &[&str]) -> String {
        let lines = |(at, span): (usize, &Span)| {
            let values = fields.iter().filter_map(|field| span.fields.get(*field)).map(String::as_str);
            let line: Vec<&str> = iter::once(span.name).chain(values).collect();
            let messages = span.events.iter().filter_map(|event| event.get("message"));
            let events: String = messages.map(|said| line_at(depth + 1, &format!("- {said}"))).collect();
            line_at(depth, &line.join(" ")) + &events + &self.lines(Some(at), depth + 1, fields)
        };
        self.spans.iter().enumerate().filter(|(_, span)| span.parent == parent).map(lines).collect()
    }
}

fn line_at(depth: usize, text: &str) -> String {
    "  ".repeat(depth) + text + "\n"
}

/// Where a span is kept, by its id.
struct Kept(usize);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        let parent = span.parent().and_then(|parent| parent.extensions().get::<Kept>().map(|kept| kept.0));
        let fields = self.read(|fields| attributes.record(fields));
        let mut told = self.told();
        span.extensions_mut().insert(Kept(told.spans.len()));
        let name = attributes.metadata().name();
        told.spans.push(Span { name, fields, events: Vec::new(), is_closed: false, parent });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, cx: Context<'_, S>) {
        let fields = self.read(|fields| values.record(fields));
        self.change(id, &cx, |span| span.fields.extend(fields));
    }

    fn on_event(&self, event: &Event<'_>, cx: Context<'_, S>) {
        let fields = self.read(|fields| event.record(fields));
        if let Some(span) = cx.event_span(event) {
            self.change(&span.id(), &cx, |span| span.events.push(fields));
        }
    }

    fn on_close(&self, id: Id, cx: Context<'_, S>) {
        self.change(&id, &cx, |span| span.is_closed = true);
    }
}

#[derive(Default)]
struct Reader(Fields);

impl Visit for Reader {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
