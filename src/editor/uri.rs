//! Addresses of files, `file:///home/a.ron`, and their paths.

/// The path of a file's address; of another address, the address itself.
pub(crate) fn path_of(uri: &str) -> String {
    let Some(rest) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let path = rest.find('/').map_or(rest, |at| &rest[at..]);
    let decoded = decoded(path);
    // `/C:/a.ron`
    match decoded.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => decoded[1..].to_owned(),
        _ => decoded,
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let code = match rest {
            [b'%', a, b, ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                digit(*a).zip(digit(*b)).map(|(a, b)| (a * 16 + b) as u8)
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[3..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address of a file.
pub(crate) fn uri_of(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = if path.starts_with('/') { "file://" } else { "file:///" }.to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_address_and_back() {
        for path in ["/home/ä b/100%.ron", "/a/b.ron", "/x/#?[].mask"] {
            assert_eq!(path_of(&uri_of(path)), path);
        }
        assert_eq!(path_of("file:///C:/a%20b.ron"), "C:/a b.ron");
        assert_eq!(path_of("file://host/a.ron"), "/a.ron");
        assert_eq!(path_of("untitled:1"), "untitled:1");
        assert_eq!(path_of("file:///a%zz%"), "/a%zz%");
    }
}
