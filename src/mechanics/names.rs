//! Names that are nearly right.

/// The name with the fewest edits to `name`, if they are fewer than half its letters.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a &'a str>,
) -> Option<String> {
    // Edit distance is quadratic; overly long names are not typing errors.
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    candidates
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|(edits, _)| 2 * edits < name.chars().count())
        .min()
        .map(|(_, candidate)| (*candidate).to_owned())
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
