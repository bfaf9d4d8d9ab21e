use columnar::prelude::*;

flow! {}

fn main() {}
