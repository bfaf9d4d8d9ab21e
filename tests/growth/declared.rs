//! Flows that a program declares when it runs.

use columnar::prelude::*;
use futures::executor::block_on;

/// A chain of columns: each reads the one before.
fn chain(size: usize) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for at in 0..size {
        let before = columns.last().map_or_else(|| source("user").latest(), Column::latest);
        columns.push(column(format!("column_{at}"), before, |cx: Context| async move {
            cx.messages().last_text().into_owned()
        }));
    }
    columns
}

pub(super) fn columns(size: usize) {
    assert!(flow(chain(size)).is_ok());
}

/// Each column has the name of another one.
pub(super) fn mistakes(size: usize) {
    let columns = (0..size).map(|at| {
        let name = format!("column_{}", at / 2);
        column(name, source("user").latest().r#as(format!("tag {at}")), |cx: Context| async move {
            cx.messages().last_text().into_owned()
        })
    });
    assert!(flow(columns).is_err());
}

pub(super) fn pushes(size: usize) {
    let sources: Vec<Column> = (0..size).map(|at| source(format!("source_{at}"))).collect();
    let views: Vec<_> = sources.iter().map(Column::latest).collect();
    let flow = flow([column("all", views, async |cx: Context| cx.messages().to_json())]);
    let flow = flow.expect("the declaration is right");
    block_on(async {
        for at in 0..size {
            flow.push(format!("source_{at}"), "a").await.expect("memory takes it");
        }
    });
}
