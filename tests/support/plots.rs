//! Plots of recorded figures: horizontal bars from 0 on, each with its value, in panels with a scale of their own.
//!
//! The colours are neither light nor dark and the ground is transparent, so a plot can be read on a page of any colour.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Deserialize;

const WIDTH: i32 = 760;
/// The room for names, and for values.
const NAMES: i32 = 240;
const VALUES: i32 = 100;
const BAR: i32 = 22;
const TITLE: i32 = 34;
const OURS: RGBColor = RGBColor(38, 132, 219);
const OTHERS: RGBColor = RGBColor(150, 158, 167);
const TEXT: RGBColor = RGBColor(118, 128, 138);

/// A file with plots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plots {
    /// Each plot.
    pub plot: Vec<Plot>,
}

/// The plot of a benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// The name of the benchmark.
    pub bench: String,
    /// The path of the SVG, from the root of the repository on.
    pub file: String,
    panel: Vec<PlotPanel>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlotPanel {
    title: String,
    unit: String,
    /// The names of bars and of figures.
    bars: Vec<[String; 2]>,
}

impl Plot {
    /// The plot of these figures as SVG. A figure that was not measured has no bar; `None` if nothing was measured.
    ///
    /// # Errors
    ///
    /// If the library of the plot refuses.
    pub fn draw(&self, figures: &BTreeMap<String, f64>) -> Result<Option<String>, Box<dyn Error>> {
        let panels: Vec<(&PlotPanel, Vec<(&str, f64)>)> =
            self.panel.iter().map(|panel| (panel, panel.measured(figures))).collect();
        let panels: Vec<_> = panels.into_iter().filter(|(_, bars)| !bars.is_empty()).collect();
        if panels.is_empty() {
            return Ok(None);
        }
        let bars: usize = panels.iter().map(|(_, bars)| bars.len()).sum();
        let height = TITLE * i32::try_from(panels.len())? + BAR * i32::try_from(bars)? + BAR / 2;
        let mut svg = String::new();
        let root =
            SVGBackend::with_string(&mut svg, (WIDTH.try_into()?, height.try_into()?)).into_drawing_area();
        let mut top = 0;
        for (panel, bars) in panels {
            let title = format!("{}, in {}", panel.title, panel.unit);
            root.draw(&Text::new(title, (8, top + TITLE - 10), style(18, HPos::Left)))?;
            top += TITLE;
            let most = bars.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
            for (name, value) in bars {
                draw_bar(&root, top, name, value, value / most)?;
                top += BAR;
            }
        }
        root.present()?;
        drop(root);
        Ok(Some(svg))
    }
}

impl PlotPanel {
    fn measured<'p>(&'p self, figures: &BTreeMap<String, f64>) -> Vec<(&'p str, f64)> {
        self.bars.iter().filter_map(|[name, figure]| Some((&**name, *figures.get(figure)?))).collect()
    }
}

fn style(size: i32, at: HPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&TEXT).pos(Pos::new(at, VPos::Bottom))
}

#[expect(clippy::cast_possible_truncation, reason = "a pixel is whole")]
fn draw_bar(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    top: i32,
    name: &str,
    value: f64,
    share: f64,
) -> Result<(), DrawingAreaErrorKind<io::Error>> {
    let length = ((share * f64::from(WIDTH - NAMES - VALUES)).round() as i32).max(1);
    let color = if name.starts_with("columnar") { OURS } else { OTHERS };
    let corners = [(NAMES, top + 3), (NAMES + length, top + BAR - 3)];
    root.draw(&Rectangle::new(corners, color.filled()))?;
    root.draw(&Text::new(name.to_owned(), (NAMES - 8, top + BAR - 5), style(16, HPos::Right)))?;
    root.draw(&Text::new(shown(value), (NAMES + length + 6, top + BAR - 5), style(16, HPos::Left)))?;
    Ok(())
}

/// The value with three digits.
fn shown(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
