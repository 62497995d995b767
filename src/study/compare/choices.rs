//! Which runs a comparison asks for.

use crate::error::Error;
use crate::grid::{self, MOST_RUNS};

/// One run: a choice for every variant that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    /// Name in tables: the choices of the variants that have several.
    pub name: String,
    /// Variant and choice, in the order of the request.
    pub choices: Vec<(String, String)>,
}

/// Every combination of the choices; those of the first variant change last.
///
/// # Errors
/// If there is but one, or far too many, or a choice is empty or named twice.
pub(super) fn combinations(variants: &[(String, Vec<String>)]) -> Result<Vec<Combination>, Error> {
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for (name, choices) in variants {
        let at = axes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            axes.push((name.clone(), Vec::new()));
            axes.len() - 1
        });
        for choice in choices {
            let known = &mut axes[at].1;
            if choice.is_empty() {
                let list = choices.join(",");
                let message = format!("expected choices of `{name}`, found `{name}={list}`");
                return Err(Error::request(message));
            }
            if known.contains(choice) {
                let message = format!("the choice `{name}={choice}` is named twice");
                return Err(Error::request(message));
            }
            known.push(choice.clone());
        }
    }
    match grid::count(&axes) {
        Some(1) => {
            let named: Vec<String> =
                axes.iter().map(|(name, choices)| format!("{name}={}", choices[0])).collect();
            return Err(Error::request(format!(
                "expected two choices at least, separated by a comma, found `{}`",
                named.join("`, `")
            )));
        }
        Some(_) => {}
        None => {
            return Err(Error::request(format!("expected at most {MOST_RUNS} combinations")));
        }
    }
    let varies = |i: usize| axes[i].1.len() > 1;
    Ok(grid::product(&axes)
        .into_iter()
        .map(|choices| {
            let names: Vec<&str> = choices
                .iter()
                .enumerate()
                .filter(|(i, _)| varies(*i))
                .map(|(_, (_, choice))| choice.as_str())
                .collect();
            Combination { name: names.join(","), choices }
        })
        .collect())
}

/// Parts a list of signals at its commas, but for those in brackets: `a.M[0, 1]` is one.
///
/// # Errors
/// If one is empty or named twice.
pub fn split_signals(lists: &[String]) -> Result<Vec<String>, Error> {
    let mut out: Vec<String> = Vec::new();
    for list in lists {
        for signal in grid::split_list(list) {
            if signal.is_empty() {
                let message = format!("expected paths of signals, found `{list}`");
                return Err(Error::request(message));
            }
            if out.iter().any(|known| known == signal) {
                return Err(Error::request(format!("the signal `{signal}` is named twice")));
            }
            out.push(signal.to_owned());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variants: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let split = |list: &str| {
            grid::split_list(list).into_iter().map(str::to_owned).collect::<Vec<String>>()
        };
        let variants: Vec<(String, Vec<String>)> =
            variants.iter().map(|(a, b)| (a.to_string(), split(b))).collect();
        match combinations(&variants) {
            Ok(all) => Ok(all.into_iter().map(|one| one.name).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn several_variants_give_every_combination() {
        let all = names(&[("qp", "a, b"), ("contact", "x,y"), ("gait", "trot")]);
        assert_eq!(all.unwrap(), ["a,x", "a,y", "b,x", "b,y"]);
        assert_eq!(names(&[("qp", "a"), ("qp", "b")]).unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_comparison_needs_two_runs_and_no_choice_twice() {
        assert!(names(&[("qp", "a")]).unwrap_err().contains("separated by a comma, found `qp=a`"));
        assert!(names(&[("qp", "a,a")]).unwrap_err().contains("twice"));
        assert!(names(&[("qp", "a,")]).is_err());
        let many: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        let many = many.join(",");
        assert!(names(&[("a", &many), ("b", &many)]).unwrap_err().contains("at most"));
    }

    #[test]
    fn signals_part_at_commas_outside_brackets() {
        let lists = ["a.M[0, 1],b.y".to_owned(), " c.z ".to_owned()];
        assert_eq!(split_signals(&lists).unwrap(), ["a.M[0, 1]", "b.y", "c.z"]);
        assert!(split_signals(&["a.b,".to_owned()]).is_err());
        assert!(split_signals(&["a.b,a.b".to_owned()]).is_err());
    }
}
