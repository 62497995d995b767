//! The language service asked directly, and its protocols driven by scripted clients.

#![allow(clippy::unwrap_used, reason = "tests state what must hold")]
#![allow(clippy::needless_pass_by_value, reason = "messages are written where they are sent")]

mod dap;
mod lsp;
mod parts;
mod service;
mod support;
