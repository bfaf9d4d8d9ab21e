//! Processes that are killed between any two operations of a store on the disk of this machine.

use std::fs::TryLockError;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use super::super::disk::{Disk, FileKind, FileStatus, Local};
use super::super::layout::FolderLocation;
use super::script::{Action, Violations, check, deletion, read_store, run_script, script};

/// The variable that marks the child process, and has the operation at which it is killed.
const AT: &str = "COLUMNAR_KILLED_AT";
const FOLDER: &str = "COLUMNAR_KILLED_IN";

/// The disk of this machine, up to an operation that never completes.
#[derive(Clone)]
struct Ending {
    left: Arc<AtomicUsize>,
}

impl Ending {
    fn operation(&self) {
        self.operation_after(|| {});
    }

    /// The part of the last operation that is done.
    fn operation_after(&self, begin: impl FnOnce()) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            begin();
            eprintln!("kill");
            loop {
                thread::park();
            }
        }
    }
}

struct Open(Ending, std::fs::File);

impl Write for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self(ending, file) = self;
        ending.operation_after(|| file.write_all(&bytes[..bytes.len() / 2]).expect("it can be written"));
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

impl Disk for Ending {
    type File = Open;
    type Lock = <Local as Disk>::Lock;

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Local.canonical(path)
    }

    fn lock(&self, path: &Path) -> Result<Self::Lock, TryLockError> {
        self.operation();
        Local.lock(path)
    }

    fn is_locked_by(&self, path: &Path, lock: &Self::Lock) -> io::Result<bool> {
        Local.is_locked_by(path, lock)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Local.list(folder)
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        Local.read(path, at_most)
    }

    fn status(&self, path: &Path) -> io::Result<FileStatus> {
        Local.status(path)
    }

    fn status_of(&self, file: &Open) -> io::Result<FileStatus> {
        Local.status_of(&file.1)
    }

    fn reader(&self, path: &Path) -> io::Result<impl BufRead> {
        Local.reader(path)
    }

    fn create(&self, path: &Path) -> io::Result<Open> {
        self.operation();
        Local.create(path).map(|file| Open(self.clone(), file))
    }

    fn append(&self, path: &Path) -> io::Result<Open> {
        Local.append(path).map(|file| Open(self.clone(), file))
    }

    fn sync(&self, file: &Open) -> io::Result<()> {
        self.operation();
        Local.sync(&file.1)
    }

    fn sync_path(&self, path: &Path) -> io::Result<()> {
        self.operation();
        Local.sync_path(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.operation();
        Local.create_dir(path)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation();
        Local.link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation();
        Local.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operation();
        Local.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.operation();
        Local.remove_dir(path)
    }
}

/// A script, and then another flow in the place of the first one.
fn actions() -> Vec<Action> {
    script()
        .into_iter()
        .chain(deletion().into_iter().skip_while(|action| !matches!(action, Action::Delete)))
        .collect()
}

/// Runs in the child process: prints the confirmed actions until the kill.
fn live_until(at: usize) {
    let path = PathBuf::from(env::var_os(FOLDER).expect("the folder is set"));
    let disk = Ending { left: Arc::new(AtomicUsize::new(at)) };
    run_script(&FolderLocation { disk, path }, &actions(), || eprintln!("confirmed")).expect("nothing fails");
}

/// Starts the child in a folder, and kills it. Returns the number of confirmed actions, and whether there was a kill.
fn killed_at(at: usize, folder: &Path) -> (usize, bool) {
    let this = env::current_exe().expect("a program");
    let test = "store::file::tests::killed::c2_a_killed_process_loses_no_confirmed_value";
    let mut child = Command::new(this)
        .args([test, "--exact", "--nocapture"])
        .envs([(AT, at.to_string().as_ref()), (FOLDER, folder.as_os_str())])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut confirmed = 0;
    let mut killed = false;
    for line in BufReader::new(child.stderr.take().expect("it is piped")).lines() {
        match line.expect("text").as_str() {
            "confirmed" => confirmed += 1,
            "kill" => {
                // SIGKILL, on Unix.
                child.kill().expect("it lives");
                killed = true;
                break;
            }
            other => panic!("unexpected output {other}"),
        }
    }
    let status = child.wait().expect("it ends");
    assert_eq!(status.success(), !killed, "{status}");
    (confirmed, killed)
}

#[test]
fn c2_a_killed_process_loses_no_confirmed_value() {
    if let Ok(at) = env::var(AT) {
        return live_until(at.parse().expect("a number"));
    }
    let mut at = 0;
    let mut ends_by_itself = false;
    while !ends_by_itself {
        at += 1;
        let folder = tempfile::tempdir().expect("a folder");
        let location = FolderLocation { disk: Local, path: folder.path().join("today") };
        let (confirmed, killed) = killed_at(at, &location.path);
        let contents = read_store(&location).unwrap_or_else(|error| panic!("killed at {at}: {error}"));
        assert_eq!(
            check(&contents, &actions(), confirmed),
            Violations::default(),
            "killed at {at}: {contents:?}"
        );
        let staged = std::fs::read_dir(location.path.join(".columnar/staged")).expect("a folder").count();
        assert_eq!(staged, 0, "killed at {at}");
        assert_eq!(read_store(&location).expect("it opens"), contents, "killed at {at}");
        ends_by_itself = !killed;
    }
    assert!(at > 110, "{at}");
}
