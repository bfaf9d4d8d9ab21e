//! The arguments of a program about the files of a folder.

use std::ffi::OsString;
use std::path::PathBuf;

use columnar::BoxError;

/// The arguments that are not read yet.
#[derive(Debug)]
pub struct Arguments(Vec<OsString>);

impl Arguments {
    /// The arguments of this process.
    pub fn of_process() -> Self {
        std::env::args_os().skip(1).collect()
    }

    /// Whether an argument asks for help.
    pub fn has_help(&self) -> bool {
        self.0.iter().any(|argument| argument == "--help")
    }

    /// Takes an option and the number behind; the last one counts.
    ///
    /// # Errors
    ///
    /// No number follows.
    pub fn number(&mut self, option: &str) -> Result<Option<usize>, BoxError> {
        let mut number = None;
        while let Some(at) = self.0.iter().position(|argument| argument == option) {
            let value = self.0.drain(at..self.0.len().min(at + 2)).nth(1).unwrap_or_default();
            let parsed = value.to_str().and_then(|value| value.parse().ok());
            let fault = || format!("{option} needs a number such as 8000, and has `{}`", value.display());
            number = Some(parsed.ok_or_else(fault)?);
        }
        Ok(number)
    }

    /// The folder and the folder of the chat, which are the last arguments. `options` lists the options of the program.
    ///
    /// # Errors
    ///
    /// Another option, or a third argument.
    pub fn folder_and_chat(self, options: &str) -> Result<[Option<PathBuf>; 2], BoxError> {
        if let Some(option) = self.0.iter().find(|argument| argument.to_string_lossy().starts_with('-')) {
            let option = option.display();
            return Err(format!("no option `{option}`; possible are FOLDER, CHAT, {options}").into());
        }
        let mut folders = self.0.into_iter().map(PathBuf::from);
        match [folders.next(), folders.next(), folders.next()] {
            [folder, chat, None] => Ok([folder, chat]),
            _ => Err("there can be one FOLDER and one CHAT only".into()),
        }
    }
}

impl<A: Into<OsString>> FromIterator<A> for Arguments {
    fn from_iter<I: IntoIterator<Item = A>>(arguments: I) -> Self {
        Self(arguments.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_be_anywhere_and_the_rest_are_folders() {
        for (arguments, number, folders) in [
            (&[][..], None, [None, None]),
            (&["a"], None, [Some("a"), None]),
            (&["a", "--map", "5", "b"], Some(5), [Some("a"), Some("b")]),
            (&["--map", "5", "--map", "0"], Some(0), [None, None]),
        ] {
            let mut parsed = arguments.iter().collect::<Arguments>();
            assert_eq!(parsed.number("--map").expect("it has a number"), number);
            let found = parsed.folder_and_chat("--help").expect("they are folders");
            assert_eq!(found, folders.map(|folder| folder.map(PathBuf::from)), "{arguments:?}");
        }
    }
}
