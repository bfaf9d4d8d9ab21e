//! The times at which cells called their models: in lanes, with the critical path, as a drawing and as a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use maud::{Markup, html};
use serde_json::{Value as Json, json};

use super::cells::{colour, id, name};
use super::collect::ReportedFlow;
use super::markup::{count, plain, table};
use super::words;
use crate::model::usage::{CallTime, Grouped, Receipt, object};
use crate::schedule::Cell;

/// The calls of a cell. All times are in milliseconds since 1970.
struct TimedCell {
    cell: Cell,
    /// The time from which on the cell waited for nothing but limits, rates and first replies, as far as it is known.
    ready: u64,
    begin: u64,
    end: u64,
    /// The times of several calls.
    calls: Vec<CallTime>,
    /// The number of the lane in the column. The cells of a lane follow each other.
    lane: usize,
    /// Whether the end of the last cell waited for the cell.
    is_critical: bool,
}

/// The cells that called a model, by time.
pub(super) struct CallTimeline {
    cells: Vec<TimedCell>,
    /// The number of lanes of each column.
    lanes: Vec<usize>,
}

impl TimedCell {
    fn new(cell: Cell, receipt: &Receipt) -> Option<Self> {
        let calls = receipt.call_times.clone();
        let begin = receipt.at?.as_millis().saturating_sub(calls.last().map_or(0, |call| call.after));
        let [ready, end] = [begin.saturating_sub(receipt.waited), begin + receipt.ms];
        Some(Self { cell, ready, begin, end, calls, lane: 0, is_critical: false })
    }
}

impl CallTimeline {
    pub(super) fn new(flow: &ReportedFlow<'_>, steps: &Range<usize>) -> Self {
        let columns = flow.outline.columns.len();
        let cells = (0..columns).flat_map(|column| steps.clone().map(move |step| Cell { column, step }));
        let cells = cells.filter_map(|cell| TimedCell::new(cell, &*flow.receipt(cell)?));
        let mut timeline = Self { cells: cells.collect(), lanes: vec![0; columns] };
        timeline.follow_inputs(flow, steps.start);
        timeline.cells.sort_by_key(|timed| (timed.ready, timed.cell));
        timeline.assign_lanes();
        timeline
    }

    /// The top of the lanes of a column in a drawing.
    fn top(&self, column: usize) -> usize {
        self.lanes.iter().take(column).sum::<usize>() * LANE
    }

    /// Each cell takes the first lane of its column that is free.
    fn assign_lanes(&mut self) {
        let mut ends = vec![Vec::<u64>::new(); self.lanes.len()];
        for timed in &mut self.cells {
            let Some(ends) = ends.get_mut(timed.cell.column) else { continue };
            match ends.iter_mut().enumerate().find(|(_, end)| **end <= timed.ready) {
                Some((lane, end)) => {
                    timed.lane = lane;
                    *end = timed.end;
                }
                None => {
                    timed.lane = ends.len();
                    ends.push(timed.end);
                }
            }
        }
        self.lanes = ends.iter().map(Vec::len).collect();
    }

    /// Marks the critical path, from the cell that ended last to the one that ended last among its inputs, and so on.
    fn follow_inputs(&mut self, flow: &ReportedFlow<'_>, first: usize) {
        let ends: BTreeMap<Cell, u64> = self.cells.iter().map(|timed| (timed.cell, timed.end)).collect();
        let mut last = BTreeMap::new();
        for timed in &mut self.cells {
            let inputs = inputs(flow, &ends, first, timed.cell);
            let Some(&(input, end)) = inputs.iter().max_by_key(|(_, end)| *end) else { continue };
            last.insert(timed.cell, input);
            // Nobody knows when a source got its value, but a step has all of them once another cell of it was computed.
            if inputs.iter().any(|(input, _)| input.step == timed.cell.step) {
                timed.ready = timed.ready.min(end);
            }
        }
        let mut critical = BTreeSet::new();
        let mut next = ends.iter().max_by_key(|(_, end)| **end).map(|(cell, _)| *cell);
        while let Some(cell) = next {
            critical.insert(cell);
            next = last.get(&cell).copied();
        }
        self.cells.iter_mut().for_each(|timed| timed.is_critical = critical.contains(&timed.cell));
    }
}

/// The stretches in which something waited or was computed, in the width of a drawing.
struct BusyTime {
    stretches: Vec<BusyStretch>,
    total: u64,
}

struct BusyStretch {
    begin: u64,
    end: u64,
    /// The busy time before.
    before: u64,
}

impl BusyTime {
    fn new(cells: &[TimedCell]) -> Self {
        let mut stretches: Vec<BusyStretch> = Vec::new();
        let mut total = 0;
        for timed in cells {
            match stretches.last_mut() {
                Some(last) if timed.ready <= last.end => last.end = last.end.max(timed.end),
                _ => stretches.push(BusyStretch { begin: timed.ready, end: timed.end, before: total }),
            }
            total = stretches.last().map_or(0, |last| last.before + last.end - last.begin);
        }
        Self { stretches, total }
    }

    /// The place of a time in the drawing.
    fn place(&self, time: u64) -> u64 {
        let at = self.stretches.partition_point(|stretch| stretch.begin <= time).saturating_sub(1);
        let before = self
            .stretches
            .get(at)
            .map_or(0, |stretch| stretch.before + time.min(stretch.end) - stretch.begin);
        NAMES + before * (WIDTH - NAMES) / self.total.max(1)
    }
}

/// The cells that a cell waited for, each with its end. A cell that called no model stands for its own inputs.
fn inputs(flow: &ReportedFlow<'_>, ends: &BTreeMap<Cell, u64>, first: usize, cell: Cell) -> Vec<(Cell, u64)> {
    let mut inputs = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![cell];
    while let Some(cell) = open.pop() {
        for (column, steps) in flow.needed(cell) {
            // Of a history, the newest cell was waited for.
            let Some(step) = steps.last().filter(|step| *step >= first) else { continue };
            let input = Cell { column, step };
            match ends.get(&input) {
                Some(&end) => inputs.push((input, end)),
                None if seen.insert(input) => open.push(input),
                None => {}
            }
        }
    }
    inputs
}

/// The width and the height of the drawing, and of a lane, in its own unit.
const WIDTH: u64 = 1000;
const LANE: usize = 18;
const NAMES: u64 = 130;

/// The timeline of the shown steps. Pauses in which nothing was computed are left out.
pub(super) fn section(flow: &ReportedFlow<'_>) -> Markup {
    let timeline = CallTimeline::new(flow, &flow.shown);
    if timeline.cells.is_empty() {
        return html! { p { "No cell of these steps called a model." } };
    }
    let busy = BusyTime::new(&timeline.cells);
    let height = timeline.lanes.iter().sum::<usize>() * LANE;
    html! {
        p { "The " (count(timeline.cells.len(), "cell")) " took " (plain(Grouped(busy.total)))
            " ms without pauses. Pale bars are waiting for a limit, a rate or a first reply; the outlined bars are the critical path." }
        div.scroll role="region" tabindex="0" aria-label="Cells by time" {
            svg.timeline viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label="Bars of the cells; the table says the same of the slowest" {
                @for (at, column) in flow.outline.columns.iter().enumerate() {
                    @if timeline.lanes.get(at).is_some_and(|lanes| *lanes > 0) { text x="0" y=(timeline.top(at) + 13) { (column.name.as_str()) } }
                }
                @for timed in &timeline.cells { (bars(timed, &busy, timeline.top(timed.cell.column) + timed.lane * LANE + 2)) }
            }
        }
        (slowest(flow, &timeline))
    }
}

fn bars(timed: &TimedCell, busy: &BusyTime, top: usize) -> Markup {
    let [ready, begin, end] = [timed.ready, timed.begin, timed.end].map(|time| busy.place(time));
    let height = LANE - 4;
    html! {
        g class=(colour(Some(timed.cell))) {
            @if timed.ready < timed.begin { rect.waited x=(ready) y=(top) width=(begin - ready) height=(height) {} }
            rect.critical[timed.is_critical] x=(begin) y=(top) width=((end - begin).max(1)) height=(height) {}
            @for call in timed.calls.iter().skip(1) {
                rect.again x=(busy.place(timed.begin + call.after)) y=(top) width="2" height=(height) {}
            }
        }
    }
}

/// The slowest cells that a table names.
const SLOWEST: usize = 20;

fn slowest(flow: &ReportedFlow<'_>, timeline: &CallTimeline) -> Markup {
    let mut cells: Vec<&TimedCell> = timeline.cells.iter().collect();
    cells.sort_by_key(|timed| (std::cmp::Reverse(timed.end - timed.ready), timed.cell));
    let rows = cells.iter().take(SLOWEST).map(|timed| {
        let link = html! { a href={ "#" (id(timed.cell)) } { (name(flow, timed.cell)) } };
        let [waited, took] = [timed.begin - timed.ready, timed.end - timed.begin];
        let [waited, took] = [waited, took].map(|time| plain(format_args!("{} ms", Grouped(time))));
        let path = if timed.is_critical { "yes" } else { "" };
        let failed = words::failures(&timed.calls).map_or_else(String::new, |failed| format!(" ({failed})"));
        let calls = plain(format_args!("{}{failed}", timed.calls.len().max(1)));
        vec![link, waited, took, calls, plain(path)]
    });
    table("The slowest cells", &["Cell", "Waited", "Took", "Calls", "Critical path"], rows)
}

/// The lanes of a trace that are set aside for a column.
const TRACKS: usize = 1000;

/// The events of a trace, in the format of Chrome. Times are in microseconds.
pub(super) fn trace(flow: &ReportedFlow<'_>) -> Json {
    let timeline = CallTimeline::new(flow, &(0..flow.steps));
    let mut events = Vec::new();
    for (column, (outline, lanes)) in flow.outline.columns.iter().zip(&timeline.lanes).enumerate() {
        for lane in 0..*lanes {
            let args = json!({ "name": outline.name.as_str() });
            events.push(json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": TRACKS * column + lane, "args": args }));
        }
    }
    for timed in &timeline.cells {
        let Some(receipt) = flow.receipt(timed.cell) else { continue };
        let tid = TRACKS * timed.cell.column + timed.lane;
        let args = object([
            ("model", receipt.model.as_deref().map(Json::from)),
            ("tokens in", Some(receipt.usage.input.into())),
            ("read from the cache", Some(receipt.usage.cache_read.into())),
            ("tokens out", Some(receipt.usage.output.into())),
            ("cost", receipt.cost().map(|cost| cost.to_string().into())),
            ("critical path", timed.is_critical.then_some(Json::Bool(true))),
        ]);
        let cell = name(flow, timed.cell).into_string();
        if timed.ready < timed.begin {
            events.push(slice(tid, "waiting", [timed.ready, timed.begin], &json!({})));
        }
        events.push(slice(tid, &cell, [timed.begin, timed.end], &args));
        for (at, call) in timed.calls.iter().enumerate() {
            let begin = timed.begin + call.after;
            let times = [begin, (begin + call.ms).min(timed.end)];
            let error = call.error.as_deref().map(Json::from);
            events.push(slice(tid, &format!("call {}", at + 1), times, &object([("error", error)])));
        }
    }
    json!({ "displayTimeUnit": "ms", "traceEvents": events })
}

/// A slice of a track, with its times in milliseconds.
fn slice(track: usize, name: &str, [begin, end]: [u64; 2], args: &Json) -> Json {
    let [ts, dur] = [begin, end - begin].map(|time| time * 1000);
    json!({ "ph": "X", "name": name, "pid": 1, "tid": track, "ts": ts, "dur": dur, "args": args })
}
