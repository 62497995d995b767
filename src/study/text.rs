//! Numbers and names of files as people read them.

use std::path::Path;

/// `1 block`, `2 blocks`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A time [s] with four digits: `3 s`, `12.35 ms`.
pub fn seconds(t: f64) -> String {
    let (value, unit) = match t.abs() {
        s if s == 0.0 || s >= 1.0 => (t, "s"),
        s if s >= 1e-3 => (t * 1e3, "ms"),
        _ => (t * 1e6, "us"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with four digits and no zeros behind them.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let places = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.places$}");
    if places > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number with nine decimal places and no zeros behind them.
pub fn trimmed(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A file's name without the directory that the process runs in.
pub fn relative(name: &str) -> &str {
    let Ok(here) = std::env::current_dir() else { return name };
    Path::new(name).strip_prefix(here).ok().and_then(Path::to_str).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (3.0, "3"),
            (12.3456, "12.35"),
            (123_456.0, "123456"),
            (1.0e7, "1.000e7"),
            (-0.012_345_6, "-0.01235"),
            (1.5e-9, "1.500e-9"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
        assert_eq!(seconds(0.0421), "42.1 ms");
        assert_eq!(seconds(90.0), "90 s");
        assert_eq!(trimmed(0.102), "0.102");
    }
}
