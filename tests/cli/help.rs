//! `legwork help`: pages, commands, the book.

use super::support::{folder, legwork, write};

#[test]
fn help_lists_all_pages_and_all_commands() {
    let here = folder();
    let json = legwork(here.path(), &["help", "--json"]).json();
    let text = legwork(here.path(), &["help"]).out;
    let pages = json["pages"].as_array().expect("a list");
    assert!(pages.len() > 20, "{json}");
    for page in pages {
        let name = page["page"].as_str().expect("a name");
        // A page whose name a command has too is listed by what shows it.
        let listed = [format!("\n  {name} "), format!("\n  {name}: ")];
        assert!(listed.iter().any(|line| text.contains(line)), "{name}");
        let page = legwork(here.path(), &["help", &format!("{name}:")]);
        assert!(page.code == 0 && page.out.starts_with("# "), "{name}: {}", page.said());
    }
    for command in json["commands"].as_array().expect("a list") {
        let name = command.as_str().expect("a name");
        assert!(text.contains(&format!("\n  {name} ")), "{name}");
        let help = legwork(here.path(), &["help", name]);
        let usage = format!("Usage: legwork {name}");
        assert!(help.code == 0 && help.out.contains(&usage), "{name}: {}", help.said());
    }
}

/// A command and a section of a diagram have one name; the first points to the second.
#[test]
fn the_help_of_a_command_points_to_the_page_of_its_name() {
    let here = folder();
    let command = legwork(here.path(), &["help", "run"]).out;
    assert!(command.contains("--snapshot-at"), "{command}");
    assert!(command.contains("\n`legwork help run:` is about The section run."), "{command}");
    let section = legwork(here.path(), &["help", "run:"]).out;
    assert!(section.starts_with("# The section run\n"), "{section}");
    assert!(section.contains("| `Rk4` "), "{section}");
    let list = legwork(here.path(), &["help"]).out;
    assert!(list.contains("\n  run:  ") && list.contains("\n  blocks:  "), "{list}");
}

#[test]
fn one_name_leads_to_one_text_by_help_and_by_blocks() {
    let here = folder();
    for name in ["ForEach", "units", "Pid", "sensors", "FrictionCone", "exit codes", "Mask"] {
        let help = legwork(here.path(), &["help", name]);
        assert_eq!(help.code, 0, "{name}: {}", help.err);
        assert_eq!(help.out, legwork(here.path(), &["blocks", name]).out, "{name}");
    }
    for (name, kind) in [("urdf", "Urdf"), ("hitcrossing", "HitCrossing")] {
        let help = legwork(here.path(), &["help", name]);
        assert!(help.out.starts_with(kind), "{name}: {}", help.said());
    }
    for (slip, near) in [("untis", "units"), ("ForEahc", "ForEach"), ("Gian", "Gain")] {
        let done = legwork(here.path(), &["help", slip]);
        assert_eq!(done.code, 64, "{slip}");
        assert!(done.err.contains(&format!("did you mean `{near}`?")), "{}", done.err);
    }
}

#[test]
fn a_block_goes_before_a_type_of_its_name() {
    let here = folder();
    let of_block = legwork(here.path(), &["help", "Energy"]).out;
    assert!(of_block.starts_with("Energy, of the shelf dynamics\n"), "{of_block}");
    let line = "A type of parameters has this name too: `legwork help Energy:` explains it.\n";
    assert!(of_block.ends_with(line), "{of_block}");
    let of_type = legwork(here.path(), &["help", "Energy:"]).out;
    assert!(of_type.starts_with("Energy, of ContactInverseDynamics\n"), "{of_type}");
}

/// The last column of the glossary: every name is a page, a block or a command.
#[test]
fn every_name_of_the_glossary_leads_to_a_text() {
    let here = folder();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("src/study/reference/pages/glossary.md"));
    let page = page.expect("a page");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_end_matches(['|', ' ']).rsplit('|').next());
    let names: std::collections::BTreeSet<&str> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 80, "{names:?}");
    for name in names {
        let help = legwork(here.path(), &["help", name]);
        assert_eq!(help.code, 0, "{name}: {}", help.said());
    }
    let shown = legwork(here.path(), &["help", "simulink"]).out;
    assert!(shown.starts_with("# Words of other tools\n"), "{shown}");
}

/// The codes of the page and of the command's own help are those that commands end with.
#[test]
fn exit_codes_are_told_as_they_are() {
    let here = folder();
    write(&here, "wrong.ron", "Diagram(");
    let page = legwork(here.path(), &["help", "exit_codes"]).out;
    let help = legwork(here.path(), &["--help"]).out;
    for (arguments, meaning) in [
        (vec!["check", "wrong.ron"], "the diagram has errors"),
        (vec!["check", "absent.ron"], "the command line is wrong, or a file cannot be read"),
        (vec!["demo"], "success: it is done, and every check holds"),
    ] {
        let code = legwork(here.path(), &arguments).code;
        assert!(page.contains(&format!("| {code:4} | {meaning} |")), "{page}");
        assert!(help.contains(&format!("  {code:>3}  {meaning}\n")), "{help}");
    }
}

#[test]
fn the_example_of_a_page_runs_and_can_be_copied() {
    let here = folder();
    let done = legwork(here.path(), &["run", "help:ForEach", "--out", "made"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(legwork(here.path(), &["new", "mine.ron", "--from", "help:for_each"]).code, 0);
    assert_eq!(legwork(here.path(), &["check", "mine.ron"]).code, 0);
}

/// What mdbook needs is there: its settings, a summary whose links lead to files, and pages whose
/// pictures and links do.
#[test]
fn the_book_is_whole() {
    let here = folder();
    assert_eq!(legwork(here.path(), &["help", "--book", "book"]).code, 0);
    let book = here.path().join("book");
    let settings = std::fs::read_to_string(book.join("book.toml")).expect("settings");
    assert!(settings.contains("\n[book]\n") && settings.contains("src = \"src\""), "{settings}");
    let source = book.join("src");
    let summary = std::fs::read_to_string(source.join("SUMMARY.md")).expect("a summary");
    let (mut files, mut pictures) = (std::collections::BTreeSet::new(), 0);
    for entry in std::fs::read_dir(&source).expect("a folder").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        let Some(page) = name.strip_suffix(".md") else { continue };
        let text = std::fs::read_to_string(entry.path()).expect("a page");
        // The manuals of blocks are set as they are, between four strokes.
        let text: String = text.split("````").step_by(2).collect();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(source.join(link).is_file(), "{name}: {link}");
            pictures += usize::from(link.ends_with(".svg"));
        }
        if page != "SUMMARY" {
            files.insert(name.clone());
            assert!(summary.contains(&format!("]({name})")), "{name} is not in the summary");
        }
    }
    assert!(pictures > 20 && files.len() > 35, "{pictures} pictures, {} pages", files.len());
    // It may be written anew, but over nothing else.
    assert_eq!(legwork(here.path(), &["help", "--book", "book"]).code, 0);
    write(&here, "mine.txt", "mine");
    let other = legwork(here.path(), &["help", "--book", "."]);
    assert!(other.code == 64 && other.err.contains("something else"), "{}", other.err);
}

/// Every option of the section `run:` leads to its page.
#[test]
fn choices_of_a_run_lead_to_their_page() {
    let here = folder();
    let solvers = [
        "Euler",
        "Heun",
        "Rk4",
        "SemiImplicitEuler",
        "ImplicitEuler",
        "DormandPrince",
        "Esdirk",
        "Bdf",
        "semi_implicit_euler",
        "solver",
        "seed",
        "memory",
        "warn",
    ];
    for name in solvers {
        let done = legwork(here.path(), &["help", name]);
        assert!(
            done.code == 0 && done.out.contains("# The section run"),
            "{name}: {}",
            done.said()
        );
    }
    assert_ne!(legwork(here.path(), &["help", "Eulerian"]).code, 0);
}

/// A choice of a parameter leads to the types that have it, and a file is only suggested for a
/// diagram if it is one.
#[test]
fn choices_of_parameters_are_explained_and_files_of_other_kinds_are_not_suggested() {
    let here = folder();
    for (choice, ty) in [("Circular", "FrictionCone"), ("HoldLast", "OnFail")] {
        let told = legwork(here.path(), &["help", choice]);
        assert_eq!(told.code, 0, "{}", told.err);
        assert!(told.out.contains(&format!("`{choice}` is a choice of `{ty}`")), "{}", told.out);
    }
    write(&here, "rest.ron", "Patch(set: {})");
    let missing = legwork(here.path(), &["run", "cart.ron"]);
    assert!(missing.code == 64 && !missing.err.contains("rest.ron"), "{}", missing.err);
    // Without ports, what could be asked for is named.
    let bare = legwork(here.path(), &["linearize", "demo:stand"]);
    assert!(bare.out.contains("`--in SIGNAL`") && bare.out.contains("pd.tau"), "{}", bare.out);
}

/// A code is explained as it is printed, `error[unit]`, and without brackets if nothing else has
/// its name. What an explanation refers to exists.
#[test]
fn codes_of_mistakes_are_explained() {
    let here = folder();
    for topic in ["error[unit]", "warning[missing-load]", "[robot]", "unknown-port", "makes-energy"]
    {
        let help = legwork(here.path(), &["help", topic]);
        let name = topic.rsplit('[').next().unwrap_or(topic).trim_end_matches(']');
        assert!(
            help.code == 0 && help.out.starts_with(&format!("# {name}\n\n")),
            "{}",
            help.said()
        );
    }
    let robot = legwork(here.path(), &["help", "robot"]);
    assert!(robot.out.contains("Usage: legwork robot"), "{}", robot.said());
    let list = legwork(here.path(), &["help", "codes"]).out;
    let runs = legwork_blocks::run_warnings::ALL;
    for code in legwork_block::code::ALL.iter().chain(runs) {
        assert!(list.contains(&format!("| `{code}` | ")), "{code}");
        for topic in code.about().split("`legwork help ").skip(1) {
            let topic = topic.split('`').next().unwrap_or_default();
            if topic != topic.to_uppercase() {
                let help = legwork(here.path(), &["help", topic]);
                assert_eq!(help.code, 0, "{code} refers to `legwork help {topic}`");
            }
        }
    }
}
