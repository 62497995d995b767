//! Names of files in URIs.

/// A name in which `%` and two hexadecimal digits are the byte of that number: `foot%20pad.stl` is
/// `foot pad.stl` (RFC 3986, 2.1). What is no such number, or makes no text, stays as it is.
#[must_use]
pub fn percent_decoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.filter(|_| byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        let number = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(number.unwrap_or(byte));
        at += if number.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn numbers_of_bytes_are_bytes() {
        for (name, expected) in [
            ("foot%20pad.stl", "foot pad.stl"),
            ("%C3%a9t%C3%A9", "été"),
            ("100%", "100%"),
            ("100%2", "100%2"),
            ("%zz%2g", "%zz%2g"),
            ("%ff", "%ff"),
            ("%2525", "%25"),
        ] {
            assert_eq!(percent_decoded(name), expected);
        }
    }
}
