//! The drawings of outlines, as other programs read them.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use columnar::prelude::*;
use columnar::{Outline, Result};
use columnar_tests::live::Live;
use columnar_tests::strategies::flows;
use proptest::prelude::*;
use regex_lite::Regex;

mod flow_with_a_module {
    use super::*;

    flow! {
        pub struct Debate {
            source topic;
            column critic(topic.latest, self) = prompt("Criticise.");
        }
    }

    flow! {
        pub struct Chat {
            source user;
            source files: Documents;
            use Debate { topic: user } as debate;
            column verdict(files.tiered(), debate.critic.latest.context(), user.prev, self) =
                prompt("Judge.");
            column trend(verdict.latest, self.window(2)) = prompt("Compare.");
        }
    }
}

use flow_with_a_module::Chat;

/// Checks each line, and that each line of the drawing leads from one column to another one.
fn check_dot(outline: &Outline) {
    let dot = outline.dot();
    let text = r#""(?:[^"\\]|\\n)+""#;
    let settings = format!(r"\w+=(?:\w+|{text})(?:, \w+=(?:\w+|{text}))*");
    let node = Regex::new(&format!(r#"^    "([\w.]+)" \[{settings}\]$"#)).unwrap();
    let edge = Regex::new(&format!(r#"^    "([\w.]+)" -> "([\w.]+)"(?: \[{settings}\])?$"#)).unwrap();
    let body = dot.strip_prefix("digraph {\n    rankdir=LR\n").unwrap().strip_suffix("}\n").unwrap();
    let mut columns = BTreeSet::new();
    let mut edges = 0;
    for line in body.lines() {
        if let Some(found) = node.captures(line) {
            assert!(columns.insert(found[1].to_owned()), "{line}");
        } else {
            let found = edge.captures(line).unwrap_or_else(|| panic!("{line}"));
            assert!(columns.contains(&found[1]) && columns.contains(&found[2]), "{line}");
            edges += 1;
        }
    }
    assert_eq!(columns.len(), outline.columns.len());
    let views =
        outline.columns.iter().map(|column| column.reads.len() + usize::from(column.self_window.is_some()));
    assert_eq!(edges, views.sum::<usize>());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_column_and_each_view_is_drawn(flow in flows()) {
        let outline = Live::declare(&flow, &[0]).unwrap().flow.outline();
        check_dot(&outline);
        let svg = outline.svg();
        prop_assert_eq!(svg.matches("<rect ").count(), outline.columns.len());
        for column in &outline.columns {
            for view in column.reads.iter().filter(|view| view.lag == 0) {
                let title = format!("<title>{} reads {}", column.name, view.column);
                prop_assert!(svg.contains(&title), "{}", title);
            }
        }
    }
}

#[test]
fn views_have_their_words() {
    let outline = Chat::GRAPH.outline();
    check_dot(&outline);
    let dot = outline.dot();
    for line in [
        r#""files" [shape=cylinder, label="files\ndocuments"]"#,
        r#""debate.critic" [shape=box, label="debate.critic\njournal"]"#,
        r#""files" -> "verdict" [label="tiered()"]"#,
        r#""debate.critic" -> "verdict" [label="latest.context()"]"#,
        r#""user" -> "verdict" [label="prev", style=dashed]"#,
        r#""verdict" -> "verdict" [style=dashed]"#,
        r#""trend" -> "trend" [label="window(2)", style=dashed]"#,
    ] {
        assert!(dot.contains(line), "{line} is not in {dot}");
    }
    let svg = outline.svg();
    assert!(svg.contains("<title>verdict reads debate.critic.latest.context()</title>"), "{svg}");
    assert!(svg.contains(">user.prev</text>") && !svg.contains("reads user.prev<"), "{svg}");
}

/// Graphviz itself, where it is installed.
#[test]
fn graphviz_reads_the_drawing() {
    let dot = Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut dot) = dot else {
        eprintln!("SKIPPED: there is no `dot` of Graphviz, so the drawing was checked by a pattern alone");
        return;
    };
    let outline = Chat::GRAPH.outline();
    dot.stdin.take().unwrap().write_all(outline.dot().as_bytes()).unwrap();
    let output = dot.wait_with_output().unwrap();
    assert!(output.status.success());
    let plain = String::from_utf8(output.stdout).unwrap();
    let nodes = plain.lines().filter(|line| line.starts_with("node ")).count();
    let edges = plain.lines().filter(|line| line.starts_with("edge ")).count();
    assert_eq!((nodes, edges), (5, 8), "{plain}");
}

#[test]
fn a_drawing_of_many_columns_is_a_sentence() -> Result<()> {
    for (count, is_drawn) in [(59, true), (60, false)] {
        let user = source("user");
        let columns = (0..count).map(|at| column(format!("c{at}"), user.latest(), prompt("Go on.")));
        let svg = flow(columns.collect::<Vec<_>>())?.outline().svg();
        assert_eq!(svg.contains("<rect "), is_drawn);
        let sentence = ">61 columns are too many to draw; the table of the outline lists them</text>";
        assert_eq!(svg.contains(sentence), !is_drawn, "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    }
    Ok(())
}
