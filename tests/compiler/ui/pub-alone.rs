use columnar::prelude::*;

flow! {
    pub
}

fn main() {}
