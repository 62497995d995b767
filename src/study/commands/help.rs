//! What the commands do.

use super::name;

const TEXTS: [(&str, &str, &str); 23] = [
    (
        "next",
        "next [N]",
        "Does the next piece of the step, N times: a block's outputs, the guards, recording, \
         a\nblock's update, integration.",
    ),
    ("step", "step [N]", "Does the rest of the major step; N times. Stops at breakpoints."),
    (
        "into",
        "into [PART]",
        "Goes to the next block that lies in a subsystem, mask or copy in which the present one \
         does\nnot lie; with PART, in that one.",
    ),
    (
        "out",
        "out",
        "Goes behind the last block of the subsystem around the present one, in this phase.",
    ),
    (
        "continue",
        "continue",
        "Goes on to the next breakpoint, a fault or the end. Ctrl-C stops it.",
    ),
    (
        "until",
        "until T",
        "Goes on to the first step at or after T, as in `until 0.4 s`. Stops at breakpoints.",
    ),
    (
        "goto",
        "goto T",
        "Goes to the first step at or after T, forth or back, whatever the breakpoints.",
    ),
    (
        "back",
        "back [N], back N steps",
        "Goes N pieces, or N steps, back. What follows then repeats bit for bit; edits that lie \
         ahead\nare undone.",
    ),
    (
        "break",
        "break [PATH [CONDITION]]",
        "Stops before a block, `break pd`, or where a condition on signals comes true, after the \
         outputs of\na step: `break body.state.base.position[2] < 0.3`, `break x.y touches 0`, \
         `break stuck.y` for a Bool.\nAlone it lists.",
    ),
    ("delete", "delete [N]", "Removes breakpoint N, or all."),
    ("watch", "watch [PATH]", "Shows a signal at each stop. Alone it lists."),
    ("unwatch", "unwatch [N]", "Stops showing watch N, or all."),
    ("print", "print PATH", "Shows a signal, or a block with its inputs, outputs and state."),
    (
        "set",
        "set PATH VALUE",
        "Changes a parameter as --set does, before the next step: `set pd.kp 80`, `set mu 0.4`. \
         What is\ndue next computes with it, what is held stays held. The recording keeps the \
         edit, and `legwork run\n--replay-edits` repeats it. Outputs and states cannot be set: \
         they are computed.",
    ),
    (
        "input",
        "input NAME VALUE",
        "Gives an input of the diagram another value before the next step: `input u = 3 N`. It is \
         held until\nthe next; the recording keeps it as an edit.",
    ),
    ("where", "where", "Time, step, phase, place in the order, and the block's line in the file."),
    (
        "schedule",
        "schedule",
        "The order of execution. `>` marks what comes next, `*` what is due in this step.",
    ),
    (
        "snapshot",
        "snapshot FILE",
        "Writes the present state; `legwork run --resume` and `restore` continue it bit for bit.",
    ),
    (
        "restore",
        "restore FILE",
        "Goes on from a snapshot. The history and the recording begin there.",
    ),
    (
        "fork",
        "fork NAME [CHANGE..]",
        "Makes a second session from the present state, between two steps, and goes on in it. A \
         change is\na parameter or a choice: `fork soft kp=40`, `fork other qp=clarabel`. It says \
         which states could\nnot be carried over. Its recording begins at the fork and goes into \
         a directory of its name.",
    ),
    (
        "session",
        "session [NAME]",
        "Goes on in another session; the first is `main`. Alone it lists them.",
    ),
    ("help", "help [COMMAND]", "This."),
    ("quit", "quit", "Leaves; with --out, the recording is written."),
];

/// The help on one command, or a line on each.
///
/// # Errors
/// If there is no such command.
pub fn help(word: Option<&str>) -> Result<String, String> {
    let Some(word) = word else {
        let line = |(_, usage, text): &(&str, &str, &str)| {
            let sentence = text.replace('\n', " ");
            let sentence = sentence.split_inclusive(". ").next().unwrap_or_default().to_owned();
            format!("  {usage:24}  {}\n", sentence.trim())
        };
        return Ok(TEXTS.iter().map(line).collect());
    };
    let name = name(word)?;
    let found = TEXTS.iter().find(|(known, ..)| *known == name);
    Ok(found.map_or(String::new(), |(_, usage, text)| format!("{usage}\n{text}\n")))
}

#[cfg(test)]
mod tests {
    use super::super::NAMES;
    use super::*;

    #[test]
    fn every_command_has_help() {
        for name in NAMES {
            assert!(help(Some(name)).is_ok_and(|text| text.len() > name.len() + 5), "{name}");
        }
        assert_eq!(help(None).map(|text| text.lines().count()), Ok(NAMES.len()));
    }
}
