//! The built page, compressed, as it is in the binary.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// Name and gzip of every file.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Name of the page itself.
pub(crate) const INDEX: &str = "index.html";

/// The gzip of a file.
pub(crate) fn packed(name: &str) -> Option<&'static [u8]> {
    Some(FILES.iter().find(|(known, _)| *known == name)?.1)
}

/// A file as it was built.
pub(crate) fn unpacked(name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed(name)?).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The media type of a file, by its ending.
pub(crate) fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most bytes of the whole page as it is sent.
    const MOST: usize = 1_500_000;

    #[test]
    fn the_page_is_small() {
        let size: usize = FILES.iter().map(|(_, packed)| packed.len()).sum();
        assert!(size <= MOST, "{size} bytes");
        assert!(unpacked(INDEX).is_some());
    }
}
