//! `legwork completions` and `legwork man`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::support::{folder, legwork};

/// Names of the commands, as the help lists them.
fn commands() -> Vec<String> {
    let help = legwork(folder().path(), &["--help"]).out;
    let list = help.split("Commands:").nth(1).expect("the help lists commands");
    let list = list.split("\n\n").next().unwrap_or_default();
    // What is said of a command may go on in lines that are further in.
    let heads = list.lines().filter_map(|line| line.strip_prefix("  "));
    heads
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_shell_is_told_every_command() {
    let here = folder();
    let names = commands();
    assert!(names.iter().any(|name| name == "sweep"), "{names:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = legwork(here.path(), &["completions", shell]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{shell}");
        for name in names.iter().filter(|name| *name != "help") {
            assert!(done.out.contains(name.as_str()), "{shell} has no {name}");
        }
        assert!(done.out.contains("roundtrip"), "{shell} has no option of check");
    }
    assert_eq!(legwork(here.path(), &["completions", "csh"]).code, 64);
}

/// What bash offers for a line whose last word has been begun.
#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let script = legwork(folder().path(), &["completions", "bash"]).out;
    let Ok(mut bash) = Command::new("bash")
        .args(["--noprofile", "--norc"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        return;
    };
    let ask = "\nCOMP_WORDS=(legwork sweep --ov); COMP_CWORD=2; _legwork legwork --ov sweep\n\
               echo \"${COMPREPLY[@]}\"\nCOMP_WORDS=(legwork swe); COMP_CWORD=1\n\
               _legwork legwork swe legwork; echo \"${COMPREPLY[@]}\"\n";
    let mut stdin = bash.stdin.take().expect("it was asked for");
    stdin.write_all(format!("{script}{ask}").as_bytes()).expect("bash reads");
    drop(stdin);
    let out = bash.wait_with_output().expect("bash ends").stdout;
    assert_eq!(String::from_utf8_lossy(&out), "--over\nsweep\n");
}

#[test]
fn manual_pages_hold_commands_options_and_examples() {
    let here = folder();
    let page = legwork(here.path(), &["man"]).out;
    assert!(page.contains(".TH legwork 1"), "{page}");
    for name in commands() {
        assert!(page.contains(&format!("legwork\\-{name}(1)")), "no {name} in {page}");
    }
    let sweep = legwork(here.path(), &["man", "sweep"]).out;
    for part in [
        ".TH legwork-sweep 1  \"legwork ",
        "\\-\\-over",
        "\\-\\-quiet",
        "Examples:",
        "143 ended by",
    ] {
        assert!(sweep.contains(part), "no {part} in {sweep}");
    }
    let slip = legwork(here.path(), &["man", "sweeep"]);
    assert_eq!(slip.code, 64);
    assert!(slip.err.contains("did you mean `sweep`?"), "{}", slip.err);
}
