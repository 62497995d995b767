//! What a server takes at most of whoever comes.

use std::time::Duration;

/// Bytes of the head of a request.
pub const HEAD: usize = 16 << 10;
/// How long a head may take, however slowly it comes.
pub const HEAD_TIME: Duration = Duration::from_secs(5);
/// Headers of a request.
pub const HEADERS: usize = 64;
/// Bytes of a message of a page, in however many pieces it comes.
pub const MESSAGE: usize = 4 << 20;
/// Connections at a time.
pub const CONNECTIONS: usize = 16;
/// Messages that wait for a page that does not read; one that asks for more is given up.
pub const QUEUED: usize = 256;
/// Bytes of such messages.
pub const QUEUED_BYTES: usize = 64 << 20;
