//! CSV of other programs, by the rules of RFC 4180 and the cases that its readers are known to differ in.

use std::io::Cursor;

use columnar::prelude::*;
use columnar::rows::{InvalidRow, RowOptions, RowsError, read_csv};
use columnar::store::{MemoryStore, Store};
use columnar::{Column, Name};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The columns `a`, `b`, … of rows, empty where there is none.
async fn read(csv: &[u8]) -> Result<Vec<Vec<String>>, RowsError> {
    let store = MemoryStore::new();
    // All are computed, so that an empty field is no error.
    let rows = RowOptions::new().source("a").read_csv(&store, Cursor::new(csv)).await?;
    let mut table = Vec::new();
    for step in 0..rows {
        let mut row = Vec::new();
        for column in ["a", "b", "c"] {
            let entries = store.load(Name::new(column).expect("a name"), step..step + 1).await?;
            row.push(
                entries
                    .into_iter()
                    .find_map(|(_, entry)| entry.value)
                    .map_or(String::new(), |text| text.to_string()),
            );
        }
        table.push(row);
    }
    Ok(table)
}

#[tokio::test]
async fn fields_are_read_as_rfc_4180_says() -> Outcome {
    #[rustfmt::skip]
    let cases: [(&str, &[[&str; 3]]); 14] = [
        // Each record on a line of its own, with and without a line break after the last one.
        ("a,b,c\r\nx,y,z\r\nu,v,w\r\n", &[["x", "y", "z"], ["u", "v", "w"]]),
        ("a,b,c\r\nx,y,z\r\nu,v,w", &[["x", "y", "z"], ["u", "v", "w"]]),
        ("a,b,c\nx,y,z\n", &[["x", "y", "z"]]),
        ("a,b,c\rx,y,z\r", &[["x", "y", "z"]]),
        // Spaces are part of a field.
        ("a,b,c\r\n x , y,z \r\n", &[[" x ", " y", "z "]]),
        // Quotes around all fields, or some.
        ("\"a\",\"b\",\"c\"\r\n\"x\",y,\"z\"\r\n", &[["x", "y", "z"]]),
        // Line breaks, commas and quotes in a field.
        ("a,b,c\r\n\"x\r\nx\",\"y,y\",\"z\"\"z\"\r\n", &[["x\r\nx", "y,y", "z\"z"]]),
        ("a,b,c\n\"x\nx\n\n\",\"\"\"y\"\"\",\"\"\"\"\n", &[["x\nx\n\n", "\"y\"", "\""]]),
        // Empty fields, quoted or not, and an empty line.
        ("a,b,c\n1,,\"\"\n\n2,\"\",3\n", &[["1", "", ""], ["2", "", "3"]]),
        // A document of another format in a field.
        ("a,b\n1,\"{\"\"type\"\": \"\"Point\"\", \"\"at\"\": [102.0, 0.5]}\"\n", &[["1", "{\"type\": \"Point\", \"at\": [102.0, 0.5]}", ""]]),
        // Texts beyond ASCII, and a separator of other programs.
        ("a,b,c\n\u{4f60}\u{597d},\u{e9};\u{e8},\u{1f980}\n", &[["\u{4f60}\u{597d}", "\u{e9};\u{e8}", "\u{1f980}"]]),
        // A mark at the beginning, also before a quote, and one elsewhere.
        ("\u{feff}a,b,c\nx,\u{feff}y,z\n", &[["x", "\u{feff}y", "z"]]),
        ("\u{feff}\"a\",b,c\nx,y,z\n", &[["x", "y", "z"]]),
        // A header alone.
        ("a,b,c\n", &[]),
    ];
    for (csv, expected) in cases {
        assert_eq!(read(csv.as_bytes()).await?, expected, "{csv:?}");
    }
    assert_eq!(read(b"").await?, Vec::<Vec<String>>::new());
    Ok(())
}

#[tokio::test]
async fn a_damaged_row_is_an_error_and_nothing_is_imported() -> Outcome {
    let cases: [(&[u8], &str); 7] = [
        (b"a,b\nx,y\nx\n", "row 2: the header has 2 fields, and the row 1"),
        (b"a,b\nx,y\nx,secret,z\n", "row 2: the header has 2 fields, and the row 3"),
        (b"a,b\nx,y\n\"secret,z\n", "row 2: the header has 2 fields, and the row 1"),
        (b"a,b\nx,y\nx,secret\xff\n", "row 2: it is not UTF-8"),
        (b"a,b\nx,y\n,secret\n", "row 2: `a` has no value, and a source needs one in each row"),
        (b"a,\xff\nx,y\n", "rows cannot be written or read: the header is not UTF-8"),
        (b"\xff\xfea\0", "rows cannot be written or read: the file is UTF-16; save it as UTF-8"),
    ];
    for (csv, expected) in cases {
        let store = MemoryStore::new();
        let error = read_csv(&store, Cursor::new(csv)).await.expect_err("it is damaged");
        assert_eq!(error.to_string(), expected);
        assert!(!format!("{error:?}").contains("secret"));
        store.open().await?;
        assert_eq!(store.stored_steps(Name::new("a")?).await?.prefix, 0);
    }
    let error = read(b"_step,a\n1.5,x\n").await.expect_err("no step");
    assert!(matches!(error, RowsError::Row { row: 1, source: InvalidRow::Step }));
    // A column of an index without a name, as pandas writes it.
    let error = read(b",a\n0,x\n").await.expect_err("no name");
    assert!(error.to_string().starts_with("row 1: `` cannot be a name"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_text_that_is_empty_is_told_from_none() -> Outcome {
    let columns = || -> [Column; 1] {
        let odd = |cx: Context| async move { if cx.step() == 1 { Err("it is odd") } else { Ok("") } };
        [column("topics", source("user").latest(), odd.or_skip())]
    };
    let f = flow(columns())?;
    f.push_all("user", ["a", "b"]).await?;
    f.run().await?;
    f.push("user", "").await?;
    let mut table = Vec::new();
    columnar::rows::write_csv(&f, &mut table).await?;
    let expected = "_step,user,topics,_skipped,_skip_reasons,_empty\n0,a,,,,topics\n\
        1,b,,topics,\"[\"\"failed: it is odd\"\"]\",\n2,,,,,user\n";
    assert_eq!(std::str::from_utf8(&table)?, expected);
    let store = MemoryStore::new();
    assert_eq!(read_csv(&store, Cursor::new(table)).await?, 3);
    let again = Flow::open(store, columns()).await?;
    assert_eq!((again.get("topics", 0).as_deref(), again.get("user", 2).as_deref()), (Some(""), Some("")));
    assert_eq!((again.cell("topics", 1)?, again.forecast().cells), (f.cell("topics", 1)?, 1));
    Ok(())
}

/// A spreadsheet had a column `ID`, which no name of a column can be, and each such column had to get a name.
#[tokio::test]
async fn columns_of_the_file_can_be_left_out() -> Outcome {
    let store = MemoryStore::new();
    let options = RowOptions::new().rename("Review", "review").leave_out("ID").leave_out("stars");
    let rows = Cursor::new("ID,Review,stars\n7,Too slow.,2\n8,Good.,5\n");
    assert_eq!(options.read_csv(&store, rows).await?, 2);
    assert_eq!(store.stored_steps(Name::new("review")?).await?.prefix, 2);
    assert_eq!(store.stored_steps(Name::new("stars")?).await?.prefix, 0);
    Ok(())
}
