//! The live page: a session of a diagram in the browser, as it runs, goes back and forks.
//!
//! ```text
//! browser ◄─ HTTP, WebSocket ─► connections ─ events ─► engine ─► study::Session
//!                                    ◄─ texts, frames ─┘
//! ```
//!
//! One thread, the engine, owns all sessions and drives them by their own means of travel: what is
//! viewed computes the same bits as what is not. A thread or two for each connection carry what
//! page and engine say to each other, see [`protocol`]. The engine never waits for a page: it keeps
//! one unacknowledged batch of frames under way to each, and merges what comes meanwhile.
//!
//! [`offline()`] puts recorded runs into one file, with the same page in it.
//!
//! The server listens on the loopback interface, and answers nobody who does not know its token, or
//! who comes from another page.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod assets;
mod engine;
mod frames;
mod http;
pub mod keep;
pub mod limits;
mod offline;
pub mod protocol;
mod server;
mod socket;
mod store;

pub use engine::{Subject, converse};
pub use offline::{Offline, OfflineError, offline};
pub use server::{PageError, Server, ServerOptions};
