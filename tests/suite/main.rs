//! The tests that use the public API of `columnar`, in one program: it is linked once, and its tests share the cores.
//!
//! A test that needs a feature is behind the `cfg` of that feature. A test that needs its own process, because the
//! library reads a variable of the environment once or because a process is killed, starts this program again with
//! [`columnar_tests::process`]. Modules are public, so that the lint `unreachable_pub` checks generated code as it does
//! in a library.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

/// How the messages of a cell are assembled: views, budgets, renderings, counts of tokens.
pub mod assembly {
    pub mod budget;
    pub mod document;
    #[cfg(feature = "tiktoken")]
    pub mod exact;
    pub mod laws;
    pub mod media;
    pub mod messages;
    pub mod purposes;
    pub mod rendering;
    pub mod skips;
    pub mod threads;
    pub mod tokens;
    pub mod views;
}

/// Runs by batches.
#[cfg(feature = "providers")]
pub mod batches;

/// The cost of requests: caches of providers, receipts, limits.
pub mod cost {
    pub mod audit;
    pub mod cache_plan;
    pub mod cached_prefix;
    pub mod clairvoyant;
    pub mod layouts;
    pub mod learnt;
    pub mod prices;
    pub mod simulator;
    pub mod spending;
}

/// Documents, their updates, and the text of an update.
pub mod documents {
    pub mod compacted;
    pub mod compacted_edits;
    pub mod compacted_laws;
    pub mod flows;
    pub mod laws;
    pub mod set;
    pub mod update;
}

/// Flows that engines give to workers.
pub mod engines {
    #[cfg(feature = "providers")]
    mod batches;
    mod calls;
    mod local;
    #[cfg(all(feature = "restate", unix))]
    mod restate;
    #[cfg(feature = "temporal")]
    mod temporal;
}

/// Files beside the text of a value: their types and sizes, and damage.
pub mod files {
    mod damage;
    mod kinds;
}

/// Flows that `flow!` generates, used as programs use them. Its messages are in `tests/compiler`.
pub mod language {
    pub mod column_types;
    pub mod data;
    pub mod documents;
    pub mod drawings;
    pub mod extension;
    pub mod flows;
    pub mod inputs;
    pub mod limits;
    pub mod media;
    pub mod modules;
    pub mod names;
    pub mod purposes;
    pub mod surroundings;
}

/// Trees of texts and their paths, by the rows of `tests/LOOM.md`.
pub mod loom {
    mod branches;
    mod ids;
    mod laws;
    pub mod live;
    pub mod live_damage;
    mod long;
    mod long_requests;
    mod media;
    mod naive;
    mod named;
    mod open_loom;
    mod request_laws;
    mod requests;
    mod rules;
    mod stored;
}

/// Models, and the providers that they call.
pub mod models {
    pub mod adaptive;
    pub mod choice;
    #[cfg(feature = "providers")]
    pub mod local_model;
    pub mod offline;
    #[cfg(feature = "providers")]
    pub mod provider;
    pub mod replay;
    pub mod unfinished;
    pub mod warm_up;
}

/// Programs as a user writes them, from one end to the other.
pub mod programs {
    #[cfg(feature = "csv")]
    pub mod annotate;
    #[cfg(feature = "providers")]
    pub mod debate;
    pub mod minutes;
}

/// Repositories as documents.
#[cfg(feature = "repo")]
pub mod repo {
    mod faults;
    mod folder;
    mod laws;
    mod limit;
    mod map;
    mod scale;
    mod updates;
}

/// Flows as pages for a browser.
#[cfg(feature = "report")]
pub mod report {
    mod browser;
    mod bytes;
    mod edits;
    mod essentials;
    mod hostile;
    mod parsed;
    mod timeline;
}

/// Flows as tables for other programs.
pub mod rows {
    #[cfg(feature = "csv")]
    pub mod csv;
    pub mod foreign_reader;
    pub mod formats;
    pub mod imports;
    #[cfg(feature = "parquet")]
    pub mod typed;
}

/// Runs of flows: order, failures, policies, time.
pub mod runs {
    pub mod answers;
    pub mod changes;
    pub mod exclusions;
    pub mod faults;
    pub mod forecast;
    pub mod interrupted;
    pub mod lifecycle;
    pub mod policies;
    pub mod rehearsals;
    pub mod settings;
    pub mod simulation;
    pub mod skip_reasons;
    pub mod time;
    pub mod token_rates;
    #[cfg(feature = "tracing")]
    pub mod tracing;
    pub mod user_code;
    pub mod values;
    pub mod windows;
}

/// Spawned flows: subscriptions, shutdown, many conversations.
pub mod services {
    pub mod flows;
    pub mod laws;
    #[cfg(feature = "sqlite")]
    pub mod many;
    pub mod spawned;
    pub mod subscriptions;
}

/// Stores, and flows that are opened again.
pub mod stores {
    pub mod attachments;
    pub mod contract;
    pub mod copies;
    pub mod file;
    pub mod flows;
    pub mod impossible;
    pub mod opening;
    #[cfg(feature = "postgres")]
    pub mod postgres;
    pub mod pushes;
    pub mod readers;
    pub mod reopened;
    pub mod reopened_laws;
    pub mod repair;
    #[cfg(feature = "sqlite")]
    pub mod sqlite;
    pub mod stale;
}

/// The tiers of documents and exchanges, by the rows of `tests/TIERS.md`.
pub mod tiers {
    mod breakdown;
    mod broken;
    mod composed;
    mod context_laws;
    pub mod contexts;
    mod elsewhere;
    mod laws;
    mod media;
    mod naive;
    pub mod rules;
}

/// Web pages, from servers of the tests.
#[cfg(feature = "web")]
pub mod web {
    mod addresses;
    mod faults;
    mod flows;
    mod pages;

    use std::net::{IpAddr, Ipv4Addr};

    use columnar::web::Web;
    use columnar_tests::scripted::{Act, Server};

    /// The address of the servers of tests.
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// A client that may read from the servers of tests, and from no other address of this machine.
    fn web() -> Web {
        Web::new().allow(HERE)
    }

    /// A response with a type and a length.
    fn response(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<Act> {
        let body = body.as_ref();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        vec![Act::Send([head.as_bytes(), body].concat())]
    }

    fn html(body: &str) -> Vec<Act> {
        response("200 OK", "text/html; charset=utf-8", body)
    }

    fn redirect(to: &str) -> Vec<Act> {
        vec![Act::Send(
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes(),
        )]
    }

    /// The path in a request.
    fn path(request: &str) -> &str {
        request.split(' ').nth(1).unwrap_or_default()
    }

    /// A server with the same response for each request.
    async fn server(acts: Vec<Act>) -> Server {
        Server::always(acts).await
    }
}

pub mod layers;
pub mod links;
pub mod measures;
pub mod plots;
pub mod records;
#[cfg(feature = "terminal")]
pub mod terminal;
