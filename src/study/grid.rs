//! Lists of values as people write them, and every combination of their values.

/// Most runs of one request.
pub(crate) const MOST_RUNS: usize = 1000;

/// Parts a list at its commas, but for those in brackets and quotes: `a.M[0, 1]` is one value. The
/// values are trimmed; an empty one is left to the caller to refuse.
pub fn split_list(list: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut quote = None;
    let mut escaped = false;
    list.split(|c| {
        if let Some(open) = quote {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == open => quote = None,
                _ => {}
            }
            return false;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// How many combinations there are; `None` if more than [`MOST_RUNS`].
pub(crate) fn count(axes: &[(String, Vec<String>)]) -> Option<usize> {
    let count = axes.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
    count.filter(|count| *count <= MOST_RUNS)
}

/// Every combination, as name and value by axis; the values of the first axis change last.
pub(crate) fn product(axes: &[(String, Vec<String>)]) -> Vec<Vec<(String, String)>> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, values) in axes {
        all = all
            .into_iter()
            .flat_map(|before| {
                values.iter().map(move |value| {
                    let mut longer = before.clone();
                    longer.push((name.clone(), value.clone()));
                    longer
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_part_at_commas_outside_brackets_and_quotes() {
        assert_eq!(split_list("a.M[0, 1],b.y"), ["a.M[0, 1]", "b.y"]);
        assert_eq!(split_list("[a,b], [c,d]"), ["[a,b]", "[c,d]"]);
        assert_eq!(split_list(r#"Gain(k: [1,2]),"x,y",{"a":1,"b":2}"#).len(), 3);
        assert_eq!(split_list(r#""a\",b",c"#), [r#""a\",b""#, "c"]);
        assert_eq!(split_list("a,,b"), ["a", "", "b"]);
        assert_eq!(split_list("a],b"), ["a]", "b"]);
        assert_eq!(split_list("[a,b"), ["[a,b"]);
    }

    #[test]
    fn the_values_of_the_first_axis_change_last() {
        let axis = |name: &str, values: &[&str]| {
            (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
        };
        let axes = [axis("a", &["1", "2"]), axis("b", &["x", "y", "z"])];
        let all: Vec<String> = product(&axes)
            .into_iter()
            .map(|cell| cell.into_iter().map(|(_, value)| value).collect())
            .collect();
        assert_eq!(all, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(count(&axes), Some(6));
        let many: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        assert_eq!(count(&[("a".to_owned(), many.clone()), ("b".to_owned(), many)]), None);
    }
}
