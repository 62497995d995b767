//! Editors: the language service, and its two protocols.
//!
//! ```text
//! text ──Document──► its shape ──┐
//! Diagram ──survey──► types ─────┼──Service──► completion, hover, definition, outline
//! Library ──manuals──► words ────┘
//! ```
//!
//! A [`Document`] is a text that somebody is writing: it may be broken anywhere. What is known of it
//! comes from the compiler (`legwork_study::Survey`), of the text as it is or, if it is no RON, of
//! the text without the lines that have mistakes. What may be written comes from the manuals. The
//! [`Service`] prints nothing and speaks no protocol; places are bytes. [`lsp`] speaks one for it.
//!
//! [`dap`] is a debugger's view of a `legwork_study::Session`: what stops it, what it holds, and the
//! lines of `legwork step` in its console are those of the session.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod complete;
pub mod dap;
mod define;
mod document;
mod findings;
pub mod frames;
mod grammar;
mod hover;
pub mod lsp;
mod outline;
mod repair;
mod schema;
mod service;
mod signals;
mod text;
mod token;
mod tree;
mod uri;
mod vocabulary;

pub use complete::{Completion, CompletionKind};
pub use define::Definition;
pub use document::Document;
pub use hover::Hover;
pub use outline::Symbol;
pub use service::Service;
pub use text::{Position, offset_at, position_at};
