//! `legwork sweep` of a study: its table, the figures of others beside it, its plots.

use std::path::Path;

use legwork_picture::plot::{self, Look};
use legwork_study::sweep::Sweep;
use legwork_study::{Agreement, Compared, Diagram, Findings, StudyError, StudyPlot, files};
use serde_json::json;

use super::super::answer::{Answer, Code, Failure};
use super::super::summary::{digits, write_table};
use super::super::{console, diagnostics, interrupt};
use super::{SweepArguments, request, run, tell, text};

/// Runs a study.
///
/// # Errors
/// If the command line makes no sense, or a file cannot be written.
pub(super) fn sweep(opened: &Diagram, arguments: &SweepArguments) -> Result<Answer, Failure> {
    let study = match opened.study() {
        Ok(study) => study,
        Err(findings) => return Ok(wrong(opened, &findings)),
    };
    let until = arguments.until.as_deref();
    let diagram = arguments.overrides.apply(study.diagram().clone(), until)?;
    let study = study.with_diagram(diagram);
    let plan = match study.plan(&request(arguments)?, interrupt::listen()) {
        Ok(plan) => plan,
        Err(StudyError::File(findings)) => return Ok(wrong(opened, &findings)),
        Err(StudyError::Request(error)) => return Err(error.into()),
    };
    if !study.doc().is_empty() {
        console::note(&format!("{}\n", study.doc().trim_end()));
    }
    let sweep = match run(plan, opened.name(), arguments)? {
        Ok(sweep) => sweep,
        Err(answer) => return Ok(answer),
    };
    let table = sweep.table();
    console::tell(&text(&sweep, &table, &table.figures.iter().collect::<Vec<_>>()))?;
    let compared = study.compare(&sweep);
    if !compared.is_empty() {
        console::tell(&comparison(&compared))?;
    }
    let mut json = sweep.to_json();
    json.insert("study".to_owned(), opened.name().into());
    json.insert("expected".to_owned(), compared.iter().map(Compared::to_json).collect());
    let mut answer = tell(&sweep, arguments, json)?;
    if let Some(directory) = &arguments.out {
        for one in study.plots() {
            if let Err(failure) = draw(one, &sweep, directory) {
                console::say(&format!("error: {}", failure.message));
                answer.code = answer.code.worse(failure.code);
            }
        }
    } else if !study.plots().is_empty() {
        console::note("its plots are drawn into the directory of --out");
    }
    if compared.iter().any(|one| one.agreement == Agreement::Fails) {
        answer.code = answer.code.worse(Code::Check);
    }
    Ok(answer)
}

/// The answer to a file with mistakes.
pub(in super::super) fn wrong(opened: &Diagram, findings: &Findings) -> Answer {
    diagnostics::say_findings(findings, "");
    let json = json!({ "diagram": opened.name(), "diagnostics": findings.to_json() });
    Answer::new(Code::Diagram, json)
}

/// The figures of others beside ours.
fn comparison(compared: &[Compared]) -> String {
    let heading = ["run", "column", "expected", "ours", "off by", "within", ""];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for one in compared {
        let unit = one.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
        let off = one.found.map(|found| (found - one.expected) / one.expected.abs());
        let off = off.filter(|off| off.is_finite());
        let said = match &one.agreement {
            Agreement::Agrees => "agrees".to_owned(),
            Agreement::Differs(reason) => format!("differs: {reason}"),
            Agreement::Fails => match one.here {
                Some([least, greatest]) => {
                    format!("FAILS: expected {} to {} here", digits(least), digits(greatest))
                }
                None => "FAILS".to_owned(),
            },
        };
        rows.push(vec![
            one.cell.clone(),
            one.column.clone(),
            format!("{}{unit}", digits(one.expected)),
            one.found.map_or("-".to_owned(), |found| format!("{}{unit}", digits(found))),
            off.map_or("-".to_owned(), |off| format!("{:+.1} %", 100.0 * off)),
            format!("{} %", digits(100.0 * one.within)),
            said,
        ]);
    }
    // To the left, although it is the last.
    let width = rows.iter().filter_map(|row| row.last()).map(|said| said.chars().count()).max();
    for said in rows.iter_mut().filter_map(|row| row.last_mut()) {
        let missing = width.unwrap_or(0) - said.chars().count();
        said.extend(std::iter::repeat_n(' ', missing));
    }
    let mut out = String::from("\nbeside the figures of others\n\n");
    // Writing to a string cannot fail.
    let _ = write_table(&rows, "  ", 2, &mut out);
    out.trim_end().to_owned()
}

/// Draws columns into a file in the directory of the sweep.
fn draw(one: &StudyPlot, sweep: &Sweep, directory: &Path) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let table = sweep.table();
    let written = table.write(&mut bytes);
    let path = directory.join(&one.file);
    written.map_err(|error| files::cannot_write(&path, &error))?;
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot draw `{}`: {why}", path.display()))
    };
    let drawn = plot::Table::parse(&bytes).map_err(|error| cannot(&error))?;
    let heading = |name: &String| {
        let column = table.figures.iter().find(|column| column.name == *name);
        column.map_or(name.clone(), |column| column.heading())
    };
    let columns: Vec<String> = one.columns.iter().map(|(name, _)| heading(name)).collect();
    let title = one.title.clone().unwrap_or_else(|| one.file.trim_end_matches(".svg").to_owned());
    let look = Look {
        title: Some(title),
        label: one.label.clone(),
        log_x: one.log[0],
        log_y: one.log[1],
        size: None,
    };
    let svg = plot::table(&drawn, &columns, &look).map_err(|error| cannot(&error))?.svg;
    files::write(&path, svg)?;
    console::note(&format!("wrote {}", path.display()));
    Ok(())
}
