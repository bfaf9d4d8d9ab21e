//! The bills as plots, in dollars if each call has a price, else in tokens. The tables beside them say the same.

use std::error::Error;

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

use super::collect::ReportedFlow;
use super::markup::number;
use crate::model::usage::{Grouped, Receipt, Total};

/// The width and the height of a plot by step, in pixels.
const SIZE: [u32; 2] = [760, 220];

/// The height of the bar of a column.
const BAR: u32 = 28;

/// The bars of a plot by step, each of as many steps as necessary.
const BARS: usize = 100;

/// The unit of the amounts of a flow.
struct Amounts {
    is_priced: bool,
}

impl Amounts {
    fn new(flow: &ReportedFlow<'_>) -> Self {
        let Total { unpriced, unreported, .. } = flow.bill.total();
        Self { is_priced: unpriced + unreported == 0 }
    }

    fn of<'r>(&self, receipts: impl IntoIterator<Item = &'r Receipt>) -> f64 {
        let total: Total = receipts.into_iter().collect();
        if self.is_priced { number(total.cost) } else { (total.usage.input + total.usage.output) as f64 }
    }

    fn label(&self, amount: f64) -> String {
        if self.is_priced {
            format!("${amount:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            Grouped(amount as u64).to_string()
        }
    }

    fn unit(&self) -> &'static str {
        if self.is_priced { "dollars" } else { "tokens" }
    }
}

/// The colour of a column: the style sheet has another one in its place for each scheme.
fn colour(column: usize) -> ShapeStyle {
    RGBColor(1, 1, u8::try_from(column % 8).unwrap_or(0)).filled()
}

pub(super) fn by_column(flow: &ReportedFlow<'_>) -> Markup {
    let amounts = Amounts::new(flow);
    let columns = flow.outline.columns.iter().enumerate().filter(|(_, column)| column.pattern.is_some());
    let bars = columns.map(|(at, column)| {
        let receipts = flow.bill.receipts().filter(|(name, ..)| **name == column.name);
        (at, amounts.of(receipts.map(|(.., receipt)| receipt)))
    });
    let bars: Vec<_> = bars.collect();
    let most = bars.iter().map(|(_, amount)| *amount).fold(0.0, f64::max);
    let draw = |svg: &mut String| -> Result<(), Box<dyn Error>> {
        let height = BAR * u32::try_from(bars.len())? + 40;
        let root = SVGBackend::with_string(svg, (SIZE[0], height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .x_label_area_size(30)
            .y_label_area_size(130)
            .margin_right(20)
            .build_cartesian_2d(0.0..most * 1.05, (0..bars.len()).into_segmented())?;
        let name = |at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(at) => bars
                .get(*at)
                .and_then(|(column, _)| flow.column(*column))
                .map_or_else(String::new, |column| column.name.to_string()),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_mesh()
            .x_labels(6)
            .y_labels(bars.len())
            .y_label_formatter(&name)
            .x_label_formatter(&|amount| amounts.label(*amount))
            .draw()?;
        chart.draw_series(bars.iter().enumerate().map(|(at, (column, amount))| {
            let mut bar = Rectangle::new(
                [(0.0, SegmentValue::Exact(at)), (*amount, SegmentValue::Exact(at + 1))],
                colour(*column),
            );
            bar.set_margin(4, 4, 0, 0);
            bar
        }))?;
        Ok(root.present()?)
    };
    figure(&format!("Cost by column, in {}", amounts.unit()), most, draw)
}

pub(super) fn by_step(flow: &ReportedFlow<'_>) -> Markup {
    let amounts = Amounts::new(flow);
    let steps = flow.steps.div_ceil(BARS).max(1);
    let mut bars = vec![vec![0.0; flow.outline.columns.len()]; flow.steps.div_ceil(steps)];
    for (name, step, receipt) in flow.bill.receipts() {
        let bar = bars.get_mut(step / steps);
        if let Some(amount) = bar.and_then(|bar| bar.get_mut(flow.find(name)?)) {
            *amount += amounts.of([receipt]);
        }
    }
    let most = bars.iter().map(|bar| bar.iter().sum()).fold(0.0, f64::max);
    let draw = |svg: &mut String| -> Result<(), Box<dyn Error>> {
        let root = SVGBackend::with_string(svg, (SIZE[0], SIZE[1])).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .x_label_area_size(30)
            .y_label_area_size(80)
            .margin(10)
            .build_cartesian_2d(0..bars.len() * steps, 0.0..most * 1.05)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_labels(10)
            .y_labels(6)
            .y_label_formatter(&|amount| amounts.label(*amount))
            .draw()?;
        for (at, bar) in bars.iter().enumerate() {
            let mut low = 0.0;
            chart.draw_series(bar.iter().enumerate().filter(|(_, amount)| **amount > 0.0).map(
                |(column, amount)| {
                    let begin = low;
                    low += amount;
                    Rectangle::new([(at * steps, begin), ((at + 1) * steps, low)], colour(column))
                },
            ))?;
        }
        Ok(root.present()?)
    };
    figure(&format!("Cost by step, in {}", amounts.unit()), most, draw)
}

/// A plot, unless there is nothing to draw. The table says the same, so readers of a screen do not get the plot.
fn figure(name: &str, most: f64, draw: impl FnOnce(&mut String) -> Result<(), Box<dyn Error>>) -> Markup {
    let mut svg = String::new();
    if most <= 0.0 || draw(&mut svg).is_err() {
        return html! {};
    }
    html! { figure aria-hidden="true" { figcaption { (name) } (PreEscaped(svg)) } }
}
