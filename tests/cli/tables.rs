//! Tables and recordings of other programs: read correctly, or refused with a correction.

use super::support::{folder, legwork, write};

/// A diagram that plays a column of `log.csv`.
fn player(column: &str) -> String {
    format!(
        r#"Diagram(run: (stop: "2 s", step: "1 s", solver: Rk4), blocks: {{
            "s": SignalFromFile(path: "log.csv", column: "{column}") }}, log: ["s.y"])"#
    )
}

/// Ten kilonewtons at one second, in each spelling; the value is compared in newtons.
#[test]
fn a_force_in_kilonewtons_is_ten_thousand_newtons_in_every_spelling() {
    let here = folder();
    for (header, rows) in [
        ("t [ms],force [kN]", ["0,0", "1000,10", "2000,20"]),
        ("t (ms),force (kN)", ["0,0", "1000,10", "2000,20"]),
        ("t_ms,force_kN", ["0,0", "1000,10", "2000,20"]),
        ("time in ms,force in kN", ["0,0", "1000,10", "2000,20"]),
        ("t/ms,force/kN", ["0,0", "1000,10", "2000,20"]),
        ("\"t, ms\",\"force, kN\"", ["0,0", "1000,10", "2000,20"]),
        ("Time (s);force (kN)", ["0;0", "1,0;10,0", "2,0;20,0"]),
        ("timestamp_ns\tforce [N]", ["0\t0", "1e9\t10000", "2e9\t20000"]),
        ("\u{feff}t [s],force [MN]", ["0,0", "1,0.01", "2,0.02"]),
        ("sep=,\nt [sec],force [kN]", ["0,0", "1,10", "2,20"]),
    ] {
        write(&here, "log.csv", format!("{header}\r\n{}\r\n", rows.join("\r\n")));
        write(&here, "d.ron", player("force"));
        let done = legwork(here.path(), &["run", "d.ron", "--out", "r"]);
        assert!(done.code == 0 && !done.err.contains("warning"), "{header}: {}", done.err);
        let table = legwork(here.path(), &["export", "r"]).out;
        assert_eq!(table, "t [s],s.y [N]\n0.0,0.0\n1.0,10000.0\n2.0,20000.0\n", "{header}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let here = folder();
    write(&here, "d.ron", player("force"));
    for (table, message) in [
        ("t,force [kgf]\n0,0\n1,1\n", "1 kgf is 9.80665 N"),
        ("t [frames],force\n0,0\n1,1\n", "unknown unit `frames`"),
        ("t,force [Nn]\n0,0\n1,1\n", "unknown unit `Nn`"),
        ("t force\n0 0\n1 1\n", "columns are separated by commas, semicolons or tabs"),
        ("t,force\ns,N\n0,0\n1,1\n", "units are in the header"),
        ("# t,force\n0,1\n1,2\n", "names in a comment are not read"),
        ("t,force\n0,0\n2,1\n1,2\n", "line 4, column 1: expected rising times"),
        ("\u{1f}\u{0}", "a binary file"),
        ("PK\u{3}\u{4}", "a zip archive"),
        ("t;force\n0;1.5\n1;2,5\n", "expected decimal points as in the numbers before"),
    ] {
        write(&here, "log.csv", table);
        let done = legwork(here.path(), &["run", "d.ron"]);
        assert!(done.code == 1 && done.err.contains(message), "{table:?}: {}", done.err);
    }
}

/// A unit that is not read is named at the end of a name without brackets too.
#[test]
fn foreign_units_at_the_end_of_a_name_are_refused() {
    let here = folder();
    for (name, unit) in [("force_lbf", "lbf"), ("x inch", "inch"), ("speed_mph", "mph")] {
        write(&here, "d.ron", player(name));
        write(&here, "log.csv", format!("t,{name}\n0,0\n1,1\n"));
        let done = legwork(here.path(), &["run", "d.ron"]);
        let message = format!("unknown unit `{unit}`");
        assert!(done.code == 1 && done.err.contains(&message), "{name}: {}", done.err);
    }
}

#[test]
fn what_may_be_meant_otherwise_is_a_warning() {
    let here = folder();
    for (column, table, message) in [
        ("force", "t,force\n-3,1\n-1,2\n", "only the last values are played"),
        ("force", "t,force\n3,1\n4,2\n", "only the first values are played"),
        ("force", "t,force\n0,1\n1,25", "line 3, column 2: the file ends in this cell"),
        ("x_mm", "t,x_mm\n0,1\n1,2\n", "write `x [mm]`, or `x_mm [1]`"),
        ("x_min", "t,x_min\n0,1\n1,2\n", "write `x [min]` if it is in min"),
    ] {
        write(&here, "d.ron", player(column));
        write(&here, "log.csv", table);
        let done = legwork(here.path(), &["run", "d.ron", "--out", "r"]);
        assert!(done.code == 0 && done.err.contains(message), "{table:?}: {}", done.err);
    }
}

/// Times of a clock, in the units in which loggers write them: the run and the table do not meet.
#[test]
fn times_of_a_clock_are_a_warning() {
    let here = folder();
    write(&here, "d.ron", player("force"));
    for (header, times) in [
        ("t", ["1.7e9", "1.8e9"]),
        ("t [s]", ["1700000000.5", "1700000010.5"]),
        ("timestamp", ["1764444885", "1764444886"]),
        ("t [ms]", ["1.7e12", "1.8e12"]),
        ("timestamp_ms", ["1764444885123", "1764444886123"]),
        ("time (us)", ["1.7e15", "1.8e15"]),
        ("t_us", ["1764444885123456", "1764444886123456"]),
        ("timestamp_ns", ["1764444885123456789", "1764444886123456789"]),
        ("time in min", ["28333333", "28333334"]),
        ("t [h]", ["472222", "472223"]),
        ("Time (s)", ["86400", "86460"]),
        ("t", ["-1.7e9", "-1.6e9"]),
    ] {
        let table = format!("{header},force\n{},1\n{},2\n", times[0], times[1]);
        write(&here, "log.csv", table);
        let done = legwork(here.path(), &["run", "d.ron", "--out", "r"]);
        let told = done.err.contains("warning") && done.err.contains(", and the run");
        assert!(done.code == 0 && told, "{header}: {}", done.err);
    }
}

#[test]
fn compare_reads_the_same_tables() {
    let here = folder();
    write(&here, "a.csv", "t [s],x [m]\n0,1\n1,2\n2,3\n");
    for table in [
        "t_ms;x (mm)\n0;1000\n1000;2000,0\n2000;3000\n",
        "time\tx [cm]\n0\t100\n1\t200\n2\t300\n",
        "Time (min),x in km\n0,0.001\n0.016666666666666666,0.002\n0.03333333333333333,0.003\n",
    ] {
        write(&here, "b.csv", table);
        let done = legwork(here.path(), &["compare", "a.csv", "b.csv", "--tol", "x=1e-12 m"]);
        assert!(done.code == 0 && done.said().contains("up to 3 common rows"), "{}", done.said());
    }
    write(&here, "b.csv", "t,x [m]\n0,1\n1,2\n1,2.5\n2,3\n");
    let done = legwork(here.path(), &["compare", "a.csv", "b.csv"]);
    assert!(done.said().contains("1 row not compared"), "{}", done.said());
    write(&here, "b.csv", "t,x [m]\n0,1\n1,2");
    let done = legwork(here.path(), &["compare", "a.csv", "b.csv"]);
    assert!(done.code == 0 && done.err.contains("without a line break"), "{}", done.err);
    for (table, message) in [
        ("t,x [m]\n1.7e9,1\n1.8e9,2\n", "subtract the time at which the run begins"),
        ("t,x [m]\n0,1\n2,2\n1,3\n", "line 4, column 1: expected a time from 2"),
        ("t,x [kgf]\n0,1\n2,2\n", "1 kgf is 9.80665 N"),
    ] {
        write(&here, "b.csv", table);
        let done = legwork(here.path(), &["compare", "a.csv", "b.csv"]);
        assert!(done.code == 64 && done.err.contains(message), "{table:?}: {}", done.err);
    }
}

#[test]
fn recordings_of_others_and_damaged_ones_are_errors() {
    let here = folder();
    let foreign = include_bytes!("../../src/recording/other_program.mcap");
    write(&here, "foreign.mcap", foreign);
    write(&here, "squeezed.mcap", b"\x1f\x8b\x08");
    write(&here, "d.ron", player("force"));
    write(&here, "log.csv", "t,force\n0,0\n1,1\n");
    assert_eq!(legwork(here.path(), &["run", "d.ron", "--out", "r"]).code, 0);
    let mut bytes = std::fs::read(here.path().join("r/run.mcap")).unwrap();
    // In the last rows, which the checksum of their chunk covers.
    let row = 2.0_f64.to_le_bytes();
    let at = bytes.windows(8).rposition(|window| window == row).unwrap();
    bytes[at + 7] ^= 1;
    write(&here, "damaged.mcap", &bytes);
    let whole = std::fs::read(here.path().join("r/run.mcap")).unwrap();
    write(&here, "joined.mcap", [&whole[..], &whole].concat());
    write(&here, "trailing.mcap", [&whole[..], b"\n"].concat());
    write(&here, "magic.mcap", &whole[..8]);
    write(&here, "begun.mcap", &whole[..60]);
    write(&here, "empty.mcap", "");
    write(&here, "table.mcap", "t,force\n0,0\n1,1\n");
    write(&here, "bag.mcap", b"#ROSBAG V2.0\n");
    write(&here, "database.mcap", b"SQLite format 3\0");
    write(&here, "matrix.mcap", b"MATLAB 5.0 MAT-file");
    write(&here, "page.mcap", b"<!DOCTYPE html><html></html>");
    for command in [&["export"][..], &["compare", "r"], &["plot", "-o", "a.svg"]] {
        for (file, message) in [
            ("foreign.mcap", "an MCAP file of `mcap-python/1.6.0`"),
            ("squeezed.mcap", "a file compressed by gzip"),
            ("damaged.mcap", "is damaged at byte"),
            ("joined.mcap", "found another one behind it"),
            ("trailing.mcap", "found other bytes behind it"),
            ("magic.mcap", "found the first 8 bytes of one, without a signal"),
            ("begun.mcap", "found the first 60 bytes of one, without a signal"),
            ("empty.mcap", "expected an MCAP file"),
            ("table.mcap", "expected an MCAP file"),
            ("bag.mcap", "a bag of ROS 1"),
            ("database.mcap", "an SQLite database"),
            ("matrix.mcap", "a MAT-file of MATLAB"),
            ("page.mcap", "expected an MCAP file"),
        ] {
            let done = legwork(here.path(), &[command, &[file]].concat());
            assert!(done.code == 64 && done.err.contains(message), "{command:?}: {}", done.err);
            assert!(!done.err.contains("cut off"), "{}", done.err);
        }
    }
}

/// Cells beyond 65 535 characters, which formatting cannot pad.
#[test]
fn wide_names_do_not_end_a_table() {
    let here = folder();
    let name = "n".repeat(70_000);
    let text = format!(
        r#"Diagram(run: (stop: "3 ms", step: "1 ms"), params: {{ "{name}": 1 }}, blocks: {{
            "c": Constant(value: "={name}"), "{name}": Integrator(in: {{ "u": "c.y" }}) }},
            judge: {{ "{name}": Max(of: "c.y") }})"#
    );
    write(&here, "a.ron", text);
    let sweep = format!("{name}=1,2");
    let a: &[&[&str]] =
        &[&["linearize", "a.ron"], &["sweep", "a.ron", "--over", &sweep], &["run", "a.ron"]];
    for arguments in a {
        let done = legwork(here.path(), arguments);
        assert!([0, 1, 64].contains(&done.code), "{}", done.code);
    }
}

/// A diagram may state at most 2 GB of memory, unless the command line allows more.
#[test]
fn memory_above_the_default_is_allowed_on_the_command_line_alone() {
    let here = folder();
    let text = |memory: &str| {
        format!(
            r#"Diagram(run: (stop: "1 ms", step: "1 ms"{memory}), blocks: {{
            "w": Constant(value: "=zeros(240)"),
            "d": Delay(every: "1 ms", length: 1000000, in: {{ "u": "w.y" }}) }})"#
        )
    };
    write(&here, "plain.ron", text(""));
    write(&here, "stated.ron", text(", memory: \"1000000 GB\""));
    let code = |arguments: &[&str]| {
        let done = legwork(here.path(), &[&["check"], arguments].concat());
        (done.code, done.err)
    };
    for arguments in [&["plain.ron"][..], &["stated.ron"], &["plain.ron", "--memory", "9 GB"]] {
        let (code, err) = code(arguments);
        assert!(code == 1 && err.contains("more than its 2000 MB of memory"), "{err}");
    }
    assert!(code(&["stated.ron"]).1.contains("--memory \"7681 MB\" on the command line"));
    assert_eq!(code(&["stated.ron", "--memory", "9 GB"]).0, 0);
    assert_eq!(code(&["stated.ron", "--memory", "9"]).0, 64);
}
