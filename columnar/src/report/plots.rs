//! The bills as plots, in dollars if each call has a price, else in tokens. The tables beside them say the same.

use std::error::Error;

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

use super::collect::ReportedFlow;
use super::markup::number;
use crate::model::usage::{Total, grouped};

/// The width of a plot, and the height of a plot by step, in pixels.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 220;

/// The height of the bar of a column.
const BAR: u32 = 28;

/// The bars of a plot by step, each of as many steps as necessary.
const BARS: usize = 100;

/// The unit of the amounts of a flow.
#[derive(Clone, Copy)]
enum PlotUnit {
    Dollars,
    Tokens,
}

impl PlotUnit {
    fn of(flow: &ReportedFlow<'_>) -> Self {
        let Total { unpriced, unreported, .. } = flow.bill.total();
        if unpriced + unreported == 0 { Self::Dollars } else { Self::Tokens }
    }

    #[expect(clippy::cast_precision_loss, reason = "a plot is not exact")]
    fn amount(self, total: &Total) -> f64 {
        match self {
            Self::Dollars => number(total.cost),
            Self::Tokens => (total.usage.input + total.usage.output) as f64,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an axis has whole tokens from 0 on"
    )]
    fn label(self, amount: f64) -> String {
        match self {
            Self::Dollars => format!("${amount:.6}").trim_end_matches('0').trim_end_matches('.').to_owned(),
            Self::Tokens => grouped(amount as usize),
        }
    }
}

/// The colour of a column: the style sheet has another one in its place for each scheme.
fn colour(column: usize) -> ShapeStyle {
    RGBColor(1, 1, u8::try_from(column % 8).unwrap_or(0)).filled()
}

struct ColumnBar<'f> {
    column: usize,
    name: &'f str,
    amount: f64,
}

pub(super) fn by_column(flow: &ReportedFlow<'_>) -> Markup {
    let unit = PlotUnit::of(flow);
    let columns = flow.outline.columns.iter().enumerate().filter(|(_, column)| column.pattern.is_some());
    let bars = columns.map(|(at, column)| {
        let amount = unit.amount(&flow.bill.column(&column.name));
        ColumnBar { column: at, name: &column.name, amount }
    });
    let bars: Vec<ColumnBar<'_>> = bars.collect();
    let most = bars.iter().map(|bar| bar.amount).fold(0.0, f64::max);
    figure("Cost by column", unit, (most > 0.0).then(|| column_plot(&bars, most, unit)))
}

fn column_plot(bars: &[ColumnBar<'_>], most: f64, unit: PlotUnit) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let root =
        SVGBackend::with_string(&mut svg, (WIDTH, BAR * u32::try_from(bars.len())? + 40)).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .x_label_area_size(30)
        .y_label_area_size(130)
        .margin_right(20)
        .build_cartesian_2d(0.0..most * 1.05, (0..bars.len()).into_segmented())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(6)
        .y_labels(bars.len())
        .y_label_formatter(&|at| match at {
            SegmentValue::CenterOf(at) => bars.get(*at).map_or_else(String::new, |bar| bar.name.to_owned()),
            _ => String::new(),
        })
        .x_label_formatter(&|amount| unit.label(*amount))
        .draw()?;
    chart.draw_series(bars.iter().enumerate().map(|(at, bar)| {
        let corners = [(0.0, SegmentValue::Exact(at)), (bar.amount, SegmentValue::Exact(at + 1))];
        let mut rectangle = Rectangle::new(corners, colour(bar.column));
        rectangle.set_margin(4, 4, 0, 0);
        rectangle
    }))?;
    root.present()?;
    drop(chart);
    drop(root);
    Ok(svg)
}

pub(super) fn by_step(flow: &ReportedFlow<'_>) -> Markup {
    let unit = PlotUnit::of(flow);
    let steps = flow.steps.div_ceil(BARS).max(1);
    let mut bars = vec![vec![0.0; flow.outline.columns.len()]; flow.steps.div_ceil(steps)];
    for (name, step, receipt) in flow.bill.receipts() {
        let bar = bars.get_mut(step / steps);
        if let Some(amount) = bar.and_then(|bar| bar.get_mut(flow.find(name)?)) {
            *amount += unit.amount(&Total::from_iter([receipt]));
        }
    }
    let most = bars.iter().map(|bar| bar.iter().sum()).fold(0.0, f64::max);
    figure("Cost by step", unit, (most > 0.0).then(|| step_plot(&bars, steps, most, unit)))
}

/// Bars of amounts on top of each other, in the order of the columns.
fn step_plot(bars: &[Vec<f64>], steps: usize, most: f64, unit: PlotUnit) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .x_label_area_size(30)
        .y_label_area_size(80)
        .margin(10)
        .build_cartesian_2d(0..bars.len() * steps, 0.0..most * 1.05)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_mesh().x_labels(10).y_labels(6).y_label_formatter(&|amount| unit.label(*amount)).draw()?;
    for (at, bar) in bars.iter().enumerate() {
        let mut low = 0.0;
        for (column, amount) in bar.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
            let corners = [(at * steps, low), ((at + 1) * steps, low + amount)];
            low += amount;
            chart.draw_series([Rectangle::new(corners, colour(column))])?;
        }
    }
    root.present()?;
    drop(chart);
    drop(root);
    Ok(svg)
}

/// A plot, unless there is nothing to draw. The table says the same, so readers of a screen do not get the plot.
fn figure(name: &str, unit: PlotUnit, svg: Option<Result<String, Box<dyn Error>>>) -> Markup {
    let unit = match unit {
        PlotUnit::Dollars => "dollars",
        PlotUnit::Tokens => "tokens",
    };
    html! {
        @if let Some(Ok(svg)) = svg {
            figure aria-hidden="true" { figcaption { (name) ", in " (unit) } (PreEscaped(svg)) }
        }
    }
}
