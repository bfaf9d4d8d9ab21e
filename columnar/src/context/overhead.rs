//! The overhead of a column's contexts: the form, the delimiters and the constant part of the system text, with the tokens of
//! each.

use std::sync::Arc;

use super::delimiters::{InputTags, SEPARATOR};
use crate::declare::{InputView, Purpose, Reads, ViewSpec};
use crate::history::MediaRules;
use crate::history::tokens::Counter;

/// The form of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ContextForm {
    /// Each input is in a tag, and the column's own values are messages of the assistant.
    #[default]
    Tagged,
    /// The inputs have no tags: the messages of a conversation.
    Conversation,
    /// One message of the user with all values, and nothing between them.
    Document,
}

/// The instruction of a column as a part of the last message.
#[derive(Clone, Debug)]
pub(super) struct OwnInstruction {
    pub(super) text: String,
    /// The tokens, with the separator.
    pub(super) tokens: usize,
    /// Whether the instruction stands before the inputs of the message, and not behind them.
    pub(super) is_first: bool,
}

/// The delimiters of a column's contexts, and the tokens of the delimiters and of the instruction. The contexts of all
/// steps share it.
#[derive(Clone, Debug)]
pub(crate) struct Overhead {
    pub(super) form: ContextForm,
    pub(super) counter: Arc<dyn Counter>,
    /// The system text of the flow.
    pub(super) system: Option<Arc<str>>,
    /// The instruction of the column, if it calls a model.
    pub(super) text: Option<Arc<str>>,
    /// The tokens of the texts of the system text that are the same at every step, if the column calls a model: of the
    /// instruction and the notes, unless these are in a message, and of the system text of the flow.
    pub(crate) instruction: Option<usize>,
    /// The instruction and the notes, if these are in a message.
    pub(super) own: Option<OwnInstruction>,
    place: InstructionPlace,
    /// The tags of each input.
    pub(super) tags: Vec<InputTags>,
    /// For each input, the tokens of the delimiters of one value.
    pub(crate) inputs: Vec<usize>,
    /// For each group, the tokens of the tags.
    pub(crate) groups: Vec<usize>,
    /// The tokens that separate parts without a tag.
    pub(crate) separator: usize,
    /// The media that the model of the column takes.
    media: &'static MediaRules,
}

/// The place of the instruction in the requests of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionPlace {
    /// The beginning of the system text.
    System,
    /// The end of the last message.
    Message,
    /// The last message, behind a conversation with a system text of its own.
    Thread,
}

/// The settings of a column that the contexts depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextSettings<'s> {
    pub(crate) form: ContextForm,
    /// The instruction of the column, if it calls a model.
    pub(crate) instruction: Option<&'s str>,
    /// Whether the instruction ends the last message, and is no system text.
    pub(crate) is_after: bool,
    /// The system text of the flow.
    pub(crate) system: Option<Arc<str>>,
    /// The media that the model takes, if rules for the model are known.
    pub(crate) media: Option<&'static MediaRules>,
}

impl Overhead {
    pub(super) fn new(reads: &Reads, settings: ContextSettings<'_>, counter: Arc<dyn Counter>) -> Self {
        let ContextSettings { form, instruction, is_after, system, media } = settings;
        let media = media.unwrap_or(&MediaRules::ANY);
        let separator = if form == ContextForm::Document { 0 } else { counter.count(SEPARATOR) };
        let tags = reads.inputs.iter().map(|input| match form {
            ContextForm::Tagged => {
                let groups =
                    input.groups.iter().filter_map(|group| Some(reads.groups.get(*group)?.tag.clone()));
                InputTags::new(&input.tag, &groups.collect::<Vec<_>>())
            }
            ContextForm::Conversation | ContextForm::Document => InputTags::none(),
        });
        let tags: Vec<InputTags> = tags.collect();
        // The tags of a group are in different parts. Both are counted for the part that opens the group.
        let (inputs, groups) = if form == ContextForm::Tagged {
            let inputs = tags.iter().map(|tags| tags.tokens(&*counter)).collect();
            let groups =
                reads.groups.iter().map(|group| counter.count(&format!("<{0}>\n\n</{0}>", group.tag)));
            (inputs, groups.collect())
        } else {
            (vec![separator; tags.len()], vec![0; reads.groups.len()])
        };
        let place = match reads.thread {
            Some(_) => InstructionPlace::Thread,
            None if is_after => InstructionPlace::Message,
            None => InstructionPlace::System,
        };
        let text = instruction.map(Arc::from);
        let mut overhead = Self {
            form,
            counter,
            system,
            text,
            instruction: None,
            own: None,
            place,
            tags,
            inputs,
            groups,
            separator,
            media,
        };
        if let Some(text) = instruction {
            overhead.instruction = Some(overhead.counter.count(&join(overhead.constant(text, reads))));
            overhead.own = overhead.own_instruction(text, !is_after, reads);
        }
        overhead
    }

    /// The texts of the system text that are the same at every step, in order: the texts of the column and of the flow, and
    /// the notes. A conversation has its own.
    pub(super) fn constant<'t>(&'t self, instruction: &'t str, reads: &'t Reads) -> [&'t str; 3] {
        let flow = self.system.as_deref().unwrap_or_default();
        match self.place {
            InstructionPlace::System => [instruction, flow, reads.notes.as_deref().unwrap_or_default()],
            InstructionPlace::Message => ["", flow, ""],
            InstructionPlace::Thread => [""; 3],
        }
    }

    /// The instruction as a part of the last message, with the notes; `None` if the system text has it, or it is blank.
    fn own_instruction(&self, instruction: &str, is_first: bool, reads: &Reads) -> Option<OwnInstruction> {
        let text = join([instruction, reads.notes.as_deref().unwrap_or_default()]);
        let is_here = self.place != InstructionPlace::System && !text.is_empty();
        let tokens = self.counter.count(&text) + self.separator;
        is_here.then_some(OwnInstruction { text, tokens, is_first })
    }

    /// Whether the instruction is in a message.
    pub(crate) fn is_in_message(&self) -> bool {
        self.place != InstructionPlace::System
    }

    /// The tokens of the instruction in a message, and of the notes behind it.
    pub(crate) fn own_parts(&self, reads: &Reads) -> [usize; 2] {
        let notes = reads.notes.as_deref().filter(|_| self.own.is_some());
        let notes = notes.map_or(0, |notes| self.counter.count(notes)).min(self.own_tokens());
        [self.own_tokens() - notes, notes]
    }

    /// The tokens of the instruction in a message.
    pub(crate) fn own_tokens(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.tokens)
    }

    /// The rules for the attachments in a view of an input, or of the column itself; `None` if the view shows none.
    pub(crate) fn media_of(&self, input: Option<&InputView>, spec: &ViewSpec) -> Option<&'static MediaRules> {
        let is_reply = input.is_none() && self.form != ContextForm::Document;
        match input {
            _ if spec.text_only => None,
            // No provider takes media in a reply or in a system text.
            _ if is_reply || spec.thread || spec.purpose == Purpose::Instruction => Some(&MediaRules::WORDS),
            _ => Some(self.media),
        }
    }

    /// Whether values are in tags.
    pub(super) fn has_tags(&self) -> bool {
        self.form == ContextForm::Tagged
    }

    /// The tokens of the system text that is the same at every step, up to the end, and without the notes.
    pub(crate) fn system_tokens(&self, reads: &Reads, instruction: &str) -> [usize; 2] {
        let [own, flow, notes] = self.constant(instruction, reads);
        [join([own, flow, notes]), join([own, flow])].map(|text| self.counter.count(&text))
    }

    /// The tokens of a message with one value, which is empty, of the input with the shortest tags. Others may be
    /// skipped.
    pub(super) fn least_message(&self, reads: &Reads) -> usize {
        let inputs = reads.inputs.iter().zip(&self.inputs).map(|(input, delimiters)| {
            let groups = input.groups.iter().filter_map(|group| self.groups.get(*group));
            delimiters + groups.sum::<usize>()
        });
        inputs.min().unwrap_or(0)
    }

    /// The marker of the values that a view hides, and the tokens without the separator.
    pub(crate) fn elision(&self, values: usize, tag: &str) -> (String, usize) {
        let plural = if values == 1 { "" } else { "s" };
        let text = format!("<elided>{values} value{plural} of {tag}</elided>");
        let tokens = self.counter.count(&text);
        (text, tokens)
    }
}

/// Joins the texts that are not blank, without the white space around them.
pub(crate) fn join<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    for text in texts.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
        if !joined.is_empty() {
            joined.push_str(SEPARATOR);
        }
        joined.push_str(text);
    }
    joined
}
