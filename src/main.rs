//! The `legwork` command with the standard library of blocks.

use std::process::ExitCode;

fn main() -> ExitCode {
    legwork::command(legwork::blocks::register)
}
