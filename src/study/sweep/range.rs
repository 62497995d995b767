//! Values of an axis as people write them: lists, and ranges in them.

use super::columns::quantity;
use crate::error::Error;
use crate::grid::{MOST_RUNS, split_list};

/// The values of an axis: those of a list parted at its commas, where `lin(a, b, n)` stands for `n`
/// evenly spaced values from `a` to `b`, and `log(a, b, n)` for `n` of a constant ratio.
///
/// Either end may have a unit, which is then that of all. Values between the ends are rounded to
/// twelve digits.
///
/// ```
/// use legwork_study::sweep::parse_values;
///
/// assert_eq!(parse_values("0.5,lin(1, 2, 3)")?, ["0.5", "1", "1.5", "2"]);
/// assert_eq!(parse_values("log(1, 100 N/m, 3)")?, ["1 N/m", "10 N/m", "100 N/m"]);
/// # Ok::<(), legwork_study::Error>(())
/// ```
///
/// # Errors
/// If a range is none.
pub fn parse_values(list: &str) -> Result<Vec<String>, Error> {
    let mut values = Vec::new();
    for item in split_list(list) {
        let wrong = |why: &str| Error::request(format!("{why}, found `{item}`"));
        let inside = |name: &str| item.strip_prefix(name)?.trim_start().strip_prefix('(');
        let (inside, is_log) = match (inside("lin"), inside("log")) {
            (Some(inside), _) => (inside, false),
            (None, Some(inside)) => (inside, true),
            (None, None) => {
                values.push(item.to_owned());
                continue;
            }
        };
        let parts = inside.strip_suffix(')').map(split_list).unwrap_or_default();
        let [from, to, count] = parts[..] else {
            return Err(wrong("expected two ends and a count, as in `lin(0, 1, 11)`"));
        };
        let (Some((low, unit)), Some((high, other))) = (quantity(from), quantity(to)) else {
            return Err(wrong("expected a number at both ends, as in `lin(0, 1 m, 11)`"));
        };
        if !unit.is_empty() && !other.is_empty() && unit != other {
            return Err(wrong(&format!("expected ends of one unit, `{unit}` or `{other}`")));
        }
        let count = count.parse().ok().filter(|count| (2..=MOST_RUNS).contains(count));
        let Some(count) = count else {
            return Err(wrong(&format!("expected a count from 2 to {MOST_RUNS}")));
        };
        if is_log && !(low > 0.0 && high > 0.0) {
            return Err(wrong("expected ends above zero, of which there is a ratio"));
        }
        let unit = if unit.is_empty() { other } else { unit };
        let value = |i: usize| match i {
            0 => low,
            i if i + 1 == count => high,
            i => {
                let part = i as f64 / (count - 1) as f64;
                let between = |low: f64, high: f64| low * (1.0 - part) + high * part;
                rounded(if is_log {
                    between(low.ln(), high.ln()).exp()
                } else {
                    between(low, high)
                })
            }
        };
        values.extend((0..count).map(|i| format!("{} {unit}", value(i)).trim_end().to_owned()));
    }
    Ok(values)
}

/// To twelve digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &str) -> Vec<String> {
        parse_values(list).unwrap_or_else(|error| panic!("{list}: {error}"))
    }

    #[test]
    fn ranges_hold_their_ends_and_round_values_between() {
        let tenths = ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"];
        assert_eq!(values("lin(0, 1, 11)"), tenths);
        assert_eq!(values("lin(1 cm, -1 cm, 3)"), ["1 cm", "0 cm", "-1 cm"]);
        assert_eq!(values("log(1e-6,1,3)"), ["0.000001", "0.001", "1"]);
        assert_eq!(values("log (100 Hz, 1, 2)"), ["100 Hz", "1 Hz"]);
        assert_eq!(values("a, lin(1,2,2),[lin, log],log"), ["a", "1", "2", "[lin, log]", "log"]);
        // The law of each: equal differences, equal ratios.
        let number = |text: &String| text.parse::<f64>().expect("a number");
        let linear: Vec<f64> = values("lin(0.3, 7.7, 38)").iter().map(number).collect();
        let ratios: Vec<f64> = values("log(0.3, 7.7, 38)").iter().map(number).collect();
        for k in 1..linear.len() {
            // Each number is off by 5e-12 at most, of itself or, up to 10, of 1.
            assert!((linear[k] - linear[k - 1] - 7.4 / 37.0).abs() < 1.1e-11, "{k}");
            let ratio = (7.7_f64 / 0.3).powf(1.0 / 37.0);
            assert!((ratios[k] / ratios[k - 1] - ratio).abs() < 1.2e-11, "{k}");
        }
    }

    #[test]
    fn ranges_that_are_none_are_refused() {
        let cases = [
            ("lin(0, 1)", "two ends and a count"),
            ("lin(0, 1, 3, 4)", "two ends and a count"),
            ("log(1, 2, 3", "two ends and a count"),
            ("lin(a, 1, 3)", "a number at both ends"),
            ("lin(0, inf, 3)", "a number at both ends"),
            ("lin(0, 1 zork, 3)", "a number at both ends"),
            ("lin(0 m, 1 cm, 3)", "one unit, `m` or `cm`"),
            ("lin(0, 1, 1)", "a count from 2 to 1000"),
            ("lin(0, 1, 1e9)", "a count from 2 to 1000"),
            ("log(0, 1, 3)", "ends above zero"),
            ("log(-1, -2, 3)", "ends above zero"),
        ];
        for (text, expected) in cases {
            let error = parse_values(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected) && error.ends_with(&format!("`{text}`")), "{error}");
        }
    }
}
