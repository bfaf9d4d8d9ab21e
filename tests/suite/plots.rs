//! The plots of the benchmarks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use columnar_tests::plots::Plots;

const PLOTS: &str = r#"
    [[plot]]
    bench = "b"
    file = "b.svg"
    [[plot.panel]]
    title = "Time of a step"
    unit = "ms"
    bars = [["columnar", "ours_ms"], ["a peer", "theirs_ms"], ["by <hand>", "by_hand_ms"]]
    [[plot.panel]]
    title = "Space of a step"
    unit = "bytes"
    bars = [["columnar", "bytes"]]
"#;

#[test]
fn a_plot_has_a_bar_for_each_measured_figure() {
    let plots: Plots = toml::from_str(PLOTS).unwrap();
    let draw = |figures: &[(&str, f64)]| {
        let figures: BTreeMap<_, _> =
            figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        plots.plot[0].draw(&figures).unwrap()
    };
    let svg = draw(&[("ours_ms", 2.0), ("by_hand_ms", 1.0), ("other", 7.0)]).unwrap();
    let lengths: Vec<u32> = svg
        .lines()
        .filter_map(|line| {
            line.split_once("<rect ")?.1.split_once(" width=\"")?.1.split('"').next()?.parse().ok()
        })
        .collect();
    assert_eq!(lengths, [420, 210], "{svg}");
    assert!(svg.contains("Time of a step, in ms") && svg.contains("by &lt;hand&gt;"), "{svg}");
    // A figure that was not measured has no bar, and a panel without bars no title.
    assert!(!svg.contains("a peer") && !svg.contains("Space of a step"), "{svg}");
    assert_eq!(draw(&[("other", 7.0)]), None);
}

#[test]
fn each_plot_is_drawn_from_a_benchmark() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plots = fs::read_to_string(tests.join("benches/plots/plots.toml")).unwrap();
    let plots: Plots = toml::from_str(&plots).unwrap();
    let manifest = fs::read_to_string(tests.join("Cargo.toml")).unwrap();
    assert!(plots.plot.len() >= 6);
    for plot in plots.plot {
        assert!(manifest.contains(&format!("[[bench]]\nname = \"{}\"\n", plot.bench)), "{}", plot.bench);
        let svg = fs::read_to_string(tests.join("..").join(&plot.file)).expect(&plot.file);
        assert!(svg.len() < 30_000 && svg.contains("columnar"), "{}", plot.file);
    }
}
