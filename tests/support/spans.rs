//! A subscriber that records spans and events for a test.

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

/// All spans and events of this thread since the call of [`listen`]. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    recorded: Arc<Mutex<Recorded>>,
}

#[derive(Debug, Default)]
struct Recorded {
    spans: Vec<Span>,
    /// Every name and every value of a field, in the order of recording.
    words: Vec<String>,
}

/// A recorded span.
#[derive(Clone, Debug)]
pub struct Span {
    /// The name of the span.
    pub name: &'static str,
    /// The fields of the span. Numbers and texts have the same form.
    pub fields: Fields,
    /// The events in the span.
    pub events: Vec<Fields>,
    /// Whether the span is closed.
    pub is_closed: bool,
    parent: Option<usize>,
}

/// Fields by name. The text of an event is the field `message`.
pub type Fields = BTreeMap<String, String>;

/// Records all spans and events of this thread until the guard is dropped.
///
/// All other threads get a subscriber that records nothing. Otherwise, if another test of this process reaches a span
/// first, `tracing` would cache that the span has no subscriber.
///
/// # Panics
///
/// If this process has another global subscriber.
pub fn listen() -> (Spans, DefaultGuard) {
    static OTHERS: Once = Once::new();
    OTHERS.call_once(|| set_global_default(Registry::default()).expect("no other subscriber is global"));
    let spans = Spans::default();
    let guard = set_default(Registry::default().with(spans.clone()));
    (spans, guard)
}

impl Spans {
    /// The spans of this name, in the order of opening.
    pub fn named(&self, name: &str) -> Vec<Span> {
        self.recorded().spans.iter().filter(|span| span.name == name).cloned().collect()
    }

    /// Each span on a line, indented below the parent, with the values of these fields; and each event, after a dash,
    /// with the message.
    pub fn tree(&self, fields: &[&str]) -> String {
        self.recorded().lines(None, 0, fields)
    }

    /// Whether any recorded name or value contains this text, even if the value was overwritten later.
    pub fn contain(&self, text: &str) -> bool {
        let recorded = self.recorded();
        recorded.words.iter().any(|word| word.contains(text))
            || recorded.spans.iter().any(|span| span.name.contains(text))
    }

    /// Every recorded name and value.
    pub fn words(&self) -> Vec<String> {
        let recorded = self.recorded();
        let names = recorded.spans.iter().map(|span| span.name.to_owned());
        recorded.words.iter().cloned().chain(names).collect()
    }

    /// The spans that are not closed.
    pub fn open(&self) -> usize {
        self.recorded().spans.iter().filter(|span| !span.is_closed).count()
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, record: impl FnOnce(&mut Reader)) -> Fields {
        let mut fields = Reader::default();
        record(&mut fields);
        let words = fields.0.iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
        self.recorded().words.extend(words);
        fields.0
    }

    fn change<S: Subscriber + for<'a> LookupSpan<'a>>(
        &self,
        id: &Id,
        cx: &Context<'_, S>,
        change: impl FnOnce(&mut Span),
    ) {
        let at = cx.span(id).and_then(|span| span.extensions().get::<Index>().map(|index| index.0));
        let mut recorded = self.recorded();
        if let Some(span) = at.and_then(|at| recorded.spans.get_mut(at)) {
            change(span);
        }
    }
}

impl Recorded {
    fn lines(&self, parent: Option<usize>, depth: usize, fields: &[&str]) -> String {
        let lines = |(at, span): (usize, &Span)| {
            let values = fields.iter().filter_map(|field| span.fields.get(*field)).map(String::as_str);
            let line: Vec<&str> = iter::once(span.name).chain(values).collect();
            let messages = span.events.iter().filter_map(|event| event.get("message"));
            let events: String =
                messages.map(|message| line_at(depth + 1, &format!("- {message}"))).collect();
            line_at(depth, &line.join(" ")) + &events + &self.lines(Some(at), depth + 1, fields)
        };
        self.spans.iter().enumerate().filter(|(_, span)| span.parent == parent).map(lines).collect()
    }
}

fn line_at(depth: usize, text: &str) -> String {
    "  ".repeat(depth) + text + "\n"
}

/// The index of a span.
struct Index(usize);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        let parent = span.parent().and_then(|parent| parent.extensions().get::<Index>().map(|index| index.0));
        // Before the lock below, which `read` takes as well.
        let fields = self.read(|fields| attributes.record(fields));
        let mut recorded = self.recorded();
        span.extensions_mut().insert(Index(recorded.spans.len()));
        let name = attributes.metadata().name();
        recorded.spans.push(Span { name, fields, events: Vec::new(), is_closed: false, parent });
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
    // By default a text is recorded by `Debug`, in quotes.
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
