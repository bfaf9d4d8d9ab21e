//! The verbs that copy or check flows: backups, tables, reports, verification.

use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use columnar::store::{FileStore, ReadOnly, SqliteStore};
use columnar::{BoxError, reopen, report, rows};

use crate::output::Output;
use crate::place::{Selection, StorePlace};

/// The format of a table.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TableFormat {
    JsonLines,
    Csv,
    Parquet,
}

pub(crate) async fn verify(
    place: &StorePlace,
    keys: &[String],
    output: &mut Output,
) -> Result<ExitCode, BoxError> {
    let mut count = 0;
    for key in keys {
        let defects = match place {
            // Its own check finds files that belong to no value, too.
            StorePlace::Folder(path) => FileStore::new(path).verify().await,
            StorePlace::Folders(path) => FileStore::new(path.join(key)).verify().await,
            _ => reopen::verify(&ReadOnly::new(place.store(key))).await,
        };
        let about = if key.is_empty() { String::new() } else { format!("{key}: ") };
        match defects {
            Ok(defects) => {
                count += defects.len();
                defects.iter().try_for_each(|defect| output.line(format_args!("{about}{defect}")))?;
            }
            Err(error) => {
                count += 1;
                output.line(format_args!("{about}{error}"))?;
            }
        }
    }
    output.line(format_args!("flows: {}, defects: {count}", keys.len()))?;
    Ok(if count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Copies all flows. A file of SQLite is copied to another one as it is, at one moment; other flows one after another.
pub(crate) async fn backup(place: &StorePlace, to: &str, output: &mut Output) -> Result<ExitCode, BoxError> {
    let target = match (StorePlace::target(to), place) {
        // A store that is copied into a folder is that folder, and several are folders in it.
        (StorePlace::Folders(path), StorePlace::Folder(_)) => StorePlace::Folder(path),
        (target, _) => target,
    };
    if let (StorePlace::Sqlite(file), StorePlace::Sqlite(copy)) = (place, &target) {
        SqliteStore::backup(file, copy).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let StorePlace::Folders(path) = &target {
        fs::create_dir_all(path).map_err(|error| format!("the folder {to} cannot be made: {error}"))?;
    }
    let keys = place.keys().await?;
    let mut count = 0;
    for key in &keys {
        check_name(&target, key)?;
        let defects = reopen::salvage(&ReadOnly::new(place.store(key)), &target.store(key)).await?;
        count += defects.len();
        defects.iter().try_for_each(|defect| output.line(format_args!("{key}: not copied: {defect}")))?;
    }
    output.line(format_args!("flows: {}, defects: {count}", keys.len()))?;
    Ok(if count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fails if a key, which may be any text, would lead out of the folder of the copies.
fn check_name(target: &StorePlace, key: &str) -> Result<(), BoxError> {
    let is_name = Path::new(key).file_name().is_some_and(|name| name == key) && !key.starts_with('.');
    match target {
        StorePlace::Folders(_) if !is_name => {
            Err(format!("`{key}` cannot be the name of a folder: copy into a file of SQLite").into())
        }
        _ => Ok(()),
    }
}

pub(crate) async fn export(
    selection: &Selection,
    to: Option<&Path>,
    format: Option<TableFormat>,
    output: &mut Output,
) -> Result<(), BoxError> {
    let format = format.or_else(|| by_name(to?)).unwrap_or(TableFormat::JsonLines);
    // Rows are read from the store, and not kept.
    let flow = selection.whole()?.open_last(0).await?;
    let file = to.map(|path| {
        // Nothing is overwritten.
        File::create_new(path).map_err(|error| format!("{} cannot be made: {error}", path.display()))
    });
    match (format, file.transpose()?) {
        (TableFormat::JsonLines, Some(file)) => rows::write_json_lines(&flow, file).await?,
        (TableFormat::JsonLines, None) => rows::write_json_lines(&flow, output).await?,
        (TableFormat::Csv, Some(file)) => rows::write_csv(&flow, file).await?,
        (TableFormat::Csv, None) => rows::write_csv(&flow, output).await?,
        (TableFormat::Parquet, Some(file)) => rows::write_parquet(&flow, file).await?,
        (TableFormat::Parquet, None) => {
            return Err("a table in Parquet needs a file: pass `--to rows.parquet`".into());
        }
    };
    Ok(())
}

/// The format that the end of a name tells.
fn by_name(path: &Path) -> Option<TableFormat> {
    match path.extension()?.to_str()? {
        "jsonl" | "ndjson" | "json" => Some(TableFormat::JsonLines),
        "csv" => Some(TableFormat::Csv),
        "parquet" => Some(TableFormat::Parquet),
        _ => None,
    }
}

pub(crate) async fn report(selection: &Selection, to: &Path, output: &mut Output) -> Result<(), BoxError> {
    let flow = selection.whole()?.open().await?;
    report::write(&flow, to)?;
    Ok(output.line(to.display())?)
}
