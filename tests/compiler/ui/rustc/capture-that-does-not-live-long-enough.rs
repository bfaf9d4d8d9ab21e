use columnar::prelude::*;

fn main() {
    drop(talk());
}

fn talk() -> impl Send {
    let style = String::from("Be formal.");
    flow! {
        source user;
        column styled(user) = |_: Context| async { style.clone() };
    }
}
