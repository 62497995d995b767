//! The tables' text.

/// A diagram with its mutants.
#[derive(Debug, Default)]
pub(crate) struct Subject {
    /// From the root of the repository.
    pub(crate) file: String,
    /// Of all runs.
    pub(crate) settings: Vec<Setting>,
    pub(crate) mutants: Vec<Mutant>,
    /// Checks that no mutant fails.
    pub(crate) idle: Vec<String>,
}

/// As on the command line.
#[derive(Debug)]
pub(crate) enum Setting {
    Value(String, String),
    Variant(String, String),
    /// From the root of the repository.
    Patch(String),
}

/// A wrong model.
#[derive(Debug, Default)]
pub(crate) struct Mutant {
    pub(crate) what: String,
    pub(crate) edits: Vec<Edit>,
    pub(crate) settings: Vec<Setting>,
    /// Why no check can fail.
    pub(crate) passes: Option<String>,
    /// What it is refused with, before it runs.
    pub(crate) refused: Vec<String>,
}

/// A piece of text in place of another.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The end of its path.
    pub(crate) file: String,
    pub(crate) find: String,
    pub(crate) replace: String,
}

/// The subjects of a table.
///
/// # Errors
/// The number of a line and what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Vec<Subject>, String> {
    let mut subjects: Vec<Subject> = Vec::new();
    let mut file = String::new();
    // Whether the line is of the mutant begun last; whether its last edit has a `+` by now.
    let (mut in_mutant, mut replacing) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |why: &str| format!("line {number}: {why}: {line}");
        if let Some(name) = line.strip_prefix("== ") {
            file = format!("diagrams/{name}");
            subjects.push(Subject { file: file.clone(), ..Subject::default() });
            in_mutant = false;
            continue;
        }
        if line.is_empty() {
            in_mutant = false;
            continue;
        }
        let subject = subjects.last_mut().ok_or_else(|| wrong("before the first diagram"))?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if matches!(word, "set" | "variant" | "with") {
            let setting = setting(word, rest).ok_or_else(|| wrong("expected `name = value`"))?;
            match subject.mutants.last_mut() {
                Some(mutant) if in_mutant => mutant.settings.push(setting),
                None => subject.settings.push(setting),
                Some(_) => return Err(wrong("of no mutant")),
            }
            continue;
        }
        if let Some((check, why)) = line.strip_prefix("idle \"").and_then(|l| l.split_once("\": "))
        {
            if why.is_empty() {
                return Err(wrong("expected a reason"));
            }
            subject.idle.push(check.to_owned());
            continue;
        }
        if !in_mutant {
            subject.mutants.push(Mutant { what: line.to_owned(), ..Mutant::default() });
            file.clone_from(&subject.file);
            (in_mutant, replacing) = (true, true);
            continue;
        }
        let mutant = subject.mutants.last_mut().ok_or_else(|| wrong("of no mutant"))?;
        match word {
            "in" => rest.clone_into(&mut file),
            "refused:" => mutant.refused.push(rest.to_owned()),
            "passes:" => mutant.passes = Some(rest.to_owned()),
            "-" if replacing => {
                let (find, replace) = (rest.to_owned(), String::new());
                mutant.edits.push(Edit { file: file.clone(), find, replace });
                replacing = false;
            }
            "-" | "+" => {
                let edit = mutant.edits.last_mut().ok_or_else(|| wrong("of no edit"))?;
                let side = if word == "-" { &mut edit.find } else { &mut edit.replace };
                if word == "-" || replacing {
                    side.push('\n');
                }
                side.push_str(rest);
                replacing = word == "+";
            }
            _ => return Err(wrong("expected in, -, +, set, variant, with, refused or passes")),
        }
    }
    for mutant in subjects.iter().flat_map(|subject| &subject.mutants) {
        if mutant.edits.is_empty() && mutant.settings.is_empty() {
            return Err(format!("`{}` changes nothing", mutant.what));
        }
    }
    Ok(subjects)
}

fn setting(word: &str, rest: &str) -> Option<Setting> {
    if word == "with" {
        return Some(Setting::Patch(rest.to_owned()));
    }
    let (name, value) = rest.split_once(" = ")?;
    let (name, value) = (name.to_owned(), value.to_owned());
    Some(if word == "set" { Setting::Value(name, value) } else { Setting::Variant(name, value) })
}
