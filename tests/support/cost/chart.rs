//! A bar chart with groups, as SVG.

use std::fmt::Write;

const BAR: usize = 9;
const GAP: usize = 14;
const TOP: usize = 40;
const HEIGHT: usize = 260;
const LEFT: usize = 50;
const COLORS: [&str; 8] =
    ["#d62728", "#bbbbbb", "#ff9f40", "#9467bd", "#1f77b4", "#17becf", "#bcbd22", "#8c564b"];

/// Draws bars from 1 to 16 on a logarithmic scale: a group for each name, with a bar for each series.
pub fn chart(title: &str, series: &[&str], groups: &[(String, Vec<f64>)]) -> String {
    let group = series.len() * BAR + GAP;
    let (width, bottom) = (LEFT + groups.len() * group + GAP, TOP + HEIGHT);
    let mut bars = String::new();
    for (at, scale) in [1.0_f64, 2.0, 4.0, 8.0, 16.0].into_iter().enumerate() {
        let y = bottom - at * HEIGHT / 4;
        let line = format!(r##"<path d="M{LEFT} {y}H{width}" stroke="#ddd"/>"##);
        let _ = writeln!(bars, r#"{line}<text x="{}" y="{}">{scale}</text>"#, LEFT - 22, y + 4);
    }
    for (at, (name, values)) in groups.iter().enumerate() {
        let left = LEFT + GAP + at * group;
        for (which, (value, color)) in values.iter().zip(COLORS.iter().cycle()).enumerate() {
            // The whole height is 16, whose logarithm is 4.
            let share = value.clamp(1.0, 16.0).log2() / 4.0;
            let (x, total) = (left + which * BAR, f64::from(u32::try_from(HEIGHT).unwrap_or(0)));
            let height = (share * total).max(1.0);
            let y = f64::from(u32::try_from(bottom).unwrap_or(0)) - height;
            let position = format!(r#"x="{x}" y="{y:.1}" width="{BAR}" height="{height:.1}" fill="{color}""#);
            let _ = writeln!(bars, "<rect {position}><title>{name}: {value:.3}</title></rect>");
        }
        let position = format!(r#"x="{left}" y="{}""#, bottom + 14);
        let _ =
            writeln!(bars, r#"<text {position} transform="rotate(30 {left} {})">{name}</text>"#, bottom + 14);
    }
    for (which, (name, color)) in series.iter().zip(COLORS.iter().cycle()).enumerate() {
        let x = LEFT + which * 85;
        let _ = writeln!(bars, r#"<text x="{x}" y="34" fill="{color}">■ {name}</text>"#);
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
<text x="{LEFT}" y="16" font-size="13">{title}</text>
{bars}</svg>
"#,
        bottom + 80
    )
}
