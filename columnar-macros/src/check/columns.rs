//! The rules about one column: all views taken together, the tags, and the lints.

use proc_macro2::Ident;
use std::collections::{HashMap, HashSet};
use std::ptr;

use crate::diagnostics::Errors;
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, ComputedDecl, GroupTag, Lint, Tag, ViewDecl};

/// A column reads at least one column besides itself, and the self history once. Wrong:
///
/// ```text
/// column topics() = prompt("...");
/// column topics(self) = prompt("...");
/// column topics(user, self, self.latest) = prompt("...");
/// ```
pub(super) fn check_reads_other(name: &str, derived: &ComputedDecl, errors: &mut Errors) {
    let mut self_views = derived.reads().filter(|view| view.is_self);
    match (self_views.next(), self_views.next()) {
        (_, Some(second)) => {
            errors.at(&second.written, format!("`{name}` reads itself twice\n\nhelp: drop one of the two"));
        }
        (Some(first), None) if derived.reads().count() == 1 && derived.is_complete => {
            errors.at(&first.written, only_self(name));
        }
        (None, None) if derived.reads().next().is_none() && derived.is_complete => {
            errors.on(derived.list, reads_nothing(name));
        }
        _ => {}
    }
}

/// No two views or groups of a column have the same tag. Wrong:
///
/// ```text
/// column topics(user.latest, summary.as("user")) = prompt("...");
/// ```
pub(super) fn check_tags(name: &str, derived: &ComputedDecl, errors: &mut Errors) {
    // The views by tag; a group has none.
    let mut tags: HashMap<String, Option<&ViewDecl>> = HashMap::new();
    let mut around: &[GroupTag] = &[];
    for view in derived.reads() {
        for group in GroupTag::opened(around, &view.groups) {
            if tags.insert(group.text.to_string(), None).is_some() {
                errors.on(group.span, same_tag(&group.text, name));
            }
        }
        around = &view.groups;
        // Documents with a layout and instructions have no tag. A closure knows the last value of a thread under the tag.
        if view.is_self || view.has_layout() || view.is_instruction() {
            continue;
        }
        let (span, tag) = match &view.tag {
            Tag::Name => (None, ident_text(view.last())),
            Tag::Explicit(span, tag) => (Some(*span), tag.clone()),
            Tag::Invalid => continue,
        };
        match (tags.get(&tag), span) {
            (Some(Some(first)), _) if first.text() == view.text() => {
                errors.at(&view.written, same_view(&view.text(), name));
            }
            (Some(_), Some(span)) => errors.on(span, same_tag(&tag, name)),
            (Some(_), None) => errors.at(&view.written, same_tag(&tag, name)),
            (None, _) => {
                tags.insert(tag, Some(view));
            }
        }
    }
}

/// A column with a compacted view reads text, and no other documents with a layout. A column with a tiered view also reads
/// all of `self`, and no other documents at all. Wrong:
///
/// ```text
/// column reviewer(files.compacted(), self) = prompt("...");
/// column coder(files.tiered(), user) = prompt("...");
/// ```
pub(super) fn check_layouts(
    name: &str,
    derived: &ComputedDecl,
    documents: &HashSet<String>,
    errors: &mut Errors,
) {
    let mut layouts = derived.reads().filter(|view| view.has_layout());
    let Some(first) = layouts.next() else { return };
    // An invalid view may be the missing one.
    if !derived.has_all_views() {
        return;
    }
    if let Some(second) = layouts.find(|view| view.is_compacted() || first.is_compacted()) {
        return errors.at(&second.written, SECOND_LAYOUT);
    }
    if first.is_compacted() {
        let mut texts = derived.reads().filter(|view| !view.is_self && !shows_documents(view, documents));
        if texts.next().is_none() {
            errors.at(&first.written, LOG_WITHOUT_TEXT);
        }
        return;
    }
    let tiered = first;
    let shown = tiered.name();
    let history = derived.reads().find(|view| view.is_self);
    let mut others = derived.reads().filter(|view| !ptr::eq(*view, tiered));
    if let Some(other) = others.find(|view| view.name() == shown || shows_documents(view, documents)) {
        let twice = (other.name() == shown).then(|| same_view(&shown, name));
        errors.at(&other.written, twice.as_deref().unwrap_or(OTHER_DOCUMENTS));
    } else if let Some(part) = history.filter(|history| history.part().is_some()) {
        errors.at(&part.written, "a column with a tiered view must read all of `self`\n\nhelp: write `self`");
    } else if history.is_none() {
        errors.at(&tiered.written, TIERS_WITHOUT_SELF);
    } else if derived.reads().count() == 2 {
        errors.at(&tiered.written, TIERS_WITHOUT_TEXT);
    }
}

/// A thread stands first, once, and without views that the conversation has no place for. Wrong:
///
/// ```text
/// column critic(user, assistant.thread()) = prompt("...");
/// column critic(assistant.thread(), self) = prompt("...");
/// ```
pub(super) fn check_threads(derived: &ComputedDecl, errors: &mut Errors) {
    let mut late = derived.reads().skip(1).filter(|view| view.is_thread());
    if let Some(late) = late.find(|view| view.is_valid()) {
        errors.at(&late.written, LATE_THREAD);
    } else if derived.reads().next().is_some_and(|view| view.is_thread() && view.is_valid()) {
        let others = derived.reads().filter(|view| view.is_valid());
        for view in others.filter(|view| view.is_self || view.is_tiered() || view.is_instruction()) {
            errors.at(&view.written, BESIDE_THREAD);
        }
    }
}

/// A column reads something that is neither context nor an instruction, and the views of a group have one purpose. Wrong:
///
/// ```text
/// column topics(notes.context(), self) = prompt("...");
/// column topics(user, group("facts", notes.context(), rules)) = prompt("...");
/// ```
pub(super) fn check_purposes(name: &str, derived: &ComputedDecl, errors: &mut Errors) {
    check_groups(derived, errors);
    // An invalid view may be the missing one.
    if !derived.has_all_views() {
        return;
    }
    // Documents with a layout have a separate rule.
    let mut inputs = derived.reads().filter(|view| !view.is_self && !view.has_layout()).peekable();
    if inputs.peek().is_some() && inputs.all(|view| view.purpose.is_some()) {
        errors.on(derived.list, no_primary(name));
    }
}

/// Reports the first view whose purpose differs from the views before in the outermost group.
fn check_groups(derived: &ComputedDecl, errors: &mut Errors) {
    let views: Vec<&ViewDecl> = derived.reads().filter(|view| view.is_valid()).collect();
    let groups = views.chunk_by(|one, other| {
        let groups = one.groups.first().zip(other.groups.first());
        groups.is_some_and(|(one, other)| one.is_same_group(other))
    });
    for group in groups {
        let is_context = group.first().is_some_and(|first| first.purpose.is_some());
        if let Some(view) = group.iter().find(|view| view.purpose.is_some() != is_context)
            && let Some(tag) = view.groups.first()
        {
            errors.at(&view.written, mixed_group(&tag.text));
        }
    }
}

/// Whether a view shows documents, as far as this flow declares the source.
pub(super) fn shows_documents(view: &ViewDecl, documents: &HashSet<String>) -> bool {
    view.has_layout() || !view.is_inherited && documents.contains(&view.name())
}

/// A column keeps the lints that it, or its flow, denies. Wrong:
///
/// ```text
/// #[deny(unbounded)]
/// column topics(user) = prompt("...");
/// ```
pub(super) fn check_lints(
    column: &ColumnDecl,
    of_flow: &[Lint],
    documents: &HashSet<String>,
    errors: &mut Errors,
) {
    let ColumnDecl { lints, derived: Some(derived), .. } = column else { return };
    let name = &ident_text(&column.name);
    let denied = [lints, of_flow].concat();
    if denied.contains(&Lint::Unbounded) {
        let has_tiers = derived.reads().any(ViewDecl::is_tiered);
        for view in derived.reads() {
            // Documents with a layout are a set, which does not grow with every step.
            // A thread grows as the requests of its column do, which that column may deny.
            if !view.is_valid() || view.is_windowed() || view.has_layout() || view.is_thread() {
                continue;
            }
            let message = match () {
                () if has_tiers && view.is_self => unbounded_self(name),
                () if shows_documents(view, documents) => unbounded_documents(&view.name(), name),
                () => unbounded(&view.name(), view.purpose.as_ref(), name),
            };
            errors.at(&view.written, message);
        }
    }
    if denied.contains(&Lint::UnstablePrefix) {
        let (instructions, others): (Vec<&ViewDecl>, Vec<&ViewDecl>) =
            derived.reads().partition(|view| view.is_instruction());
        for view in instructions.into_iter().filter(|view| view.is_valid()) {
            errors.at(&view.written, unstable_system(&view.name(), name));
        }
        if derived.is_complete
            && others.iter().all(|view| view.is_windowed())
            && let Some(first) = others.first()
        {
            errors.at(&first.written, unstable_prefix(&first.name(), name));
        }
    }
}

// Messages.

fn only_self(name: &str) -> String {
    format!(
        "`{name}` reads only itself, so no new value can reach it\n\nhelp: add a view, as in `(user, self)`"
    )
}

fn reads_nothing(name: &str) -> String {
    format!(
        "`{name}` reads nothing, so no value can reach it\n\nhelp: add a view, as in `column {name}(user.latest)`"
    )
}

fn same_view(view: &str, name: &str) -> String {
    format!("`{name}` reads `{view}` twice\n\nhelp: drop one of the two")
}

fn same_tag(tag: &str, name: &str) -> String {
    format!(
        "two inputs of `{name}` have the tag `{tag}`\n\nhelp: give one of them another tag, as in `.as(\"...\")`"
    )
}

const OTHER_DOCUMENTS: &str = "a column with a tiered view can read no other documents\n\n\
     help: put all of them into one source, or drop this";

const SECOND_LAYOUT: &str =
    "a column reads documents in one layout\n\nhelp: put all of them into one source, or drop this";

const LOG_WITHOUT_TEXT: &str = "a column with a compacted view must read text, too\n\n\
     help: add a view of text, as in `(files.compacted(), user, self)`";

const TIERS_WITHOUT_SELF: &str = "a column with a tiered view must read all of `self`\n\n\
     help: add it, as in `(files.tiered(), user, self)`";

const TIERS_WITHOUT_TEXT: &str = "a column with a tiered view must read text, too\n\n\
     help: add a view of text, as in `(files.tiered(), user, self)`";

const LATE_THREAD: &str =
    "a column continues one thread, which stands first\n\nhelp: put it before the other views, or drop it";

/// `column critic(assistant.thread(), self) = prompt("...");`
const BESIDE_THREAD: &str = "a thread has the system text and the replies of another column, so it takes no others\n\nhelp: drop this";

/// `purpose` is the word of one: `context` or `instruction`.
fn unbounded(read: &str, purpose: Option<&Ident>, name: &str) -> String {
    let purpose = purpose.map_or_else(String::new, |word| format!(".{}()", ident_text(word)));
    format!(
        "`{read}` grows with every step, and `{name}` denies `unbounded`\n\n\
         help: write `{read}.latest{purpose}` or `{read}.window(3){purpose}`"
    )
}

/// `self` of a column with a tiered view.
fn unbounded_self(name: &str) -> String {
    format!(
        "a tiered view needs all of `self`, which grows with every step, and `{name}` denies `unbounded`\n\nhelp: drop the lint here"
    )
}

/// `read` holds documents.
fn unbounded_documents(read: &str, name: &str) -> String {
    format!(
        "`{read}` shows each update of the documents, which grows with every step, and `{name}` denies `unbounded`\n\n\
         help: drop this, or the lint"
    )
}

fn unstable_prefix(read: &str, name: &str) -> String {
    format!(
        "`{name}` shows no whole history, so its requests share only the instruction, and it denies \
         `unstable_prefix`\n\nhelp: write `{read}` for all values, or read a whole column before the others"
    )
}

/// `read` is an instruction.
fn unstable_system(read: &str, name: &str) -> String {
    format!(
        "the instruction `{read}` changes the system text, so requests share nothing, and `{name}` denies `unstable_prefix`\n\n\
         help: write `context()`, or drop the lint"
    )
}

fn no_primary(name: &str) -> String {
    format!(
        "`{name}` reads nothing but context and instructions\n\n\
         help: add a view of the column that it follows, as in `user.latest`"
    )
}

/// `group("facts", user, notes.context())`
fn mixed_group(tag: &str) -> String {
    format!(
        "the group `{tag}` has views with and without `context()`, and context comes first in a message\n\n\
         help: make two groups of them"
    )
}
