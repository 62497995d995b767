//! `legwork report`.

use serde_json::Value;

use super::support::{folder, legwork, write};

/// A run with a check that passes, one that fails, and texts that would be HTML.
const DIAGRAM: &str = r#"Diagram(
    format: 2,
    doc: "A <b>ramp</b> & more.",
    run: (stop: "1 s", step: "10 ms", solver: Euler, seed: 3),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
        "wave": Sine(frequency: "1 Hz"),
    },
    log: ["ramp.y", "wave.y", "rate.y"],
    checks: {
        "rises": Finally(that: "=ramp.y > 1.5"),
        "<i>stays</i>": Always(that: "=ramp.y < 1.5"),
    },
)"#;

/// Whether every element is closed in its order; `meta` and `!DOCTYPE` have no end.
fn is_balanced(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let name = tag.split([' ', '\n', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        match tag {
            _ if tag.starts_with('!') || name == "meta" || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => {
                if open.pop() != Some(name) {
                    return false;
                }
            }
            _ => open.push(name),
        }
    }
    open.is_empty()
}

#[test]
fn a_report_is_one_page_with_all_that_is_known_of_a_run() {
    let here = folder();
    write(&here, "a.ron", DIAGRAM);
    let ran = legwork(
        here.path(),
        &["run", "a.ron", "--out", "run", "--set", "slope=2", "--no-checks", "--profile"],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let done = legwork(here.path(), &["report", "run", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    assert_eq!(json["report"], "run/report.html");
    assert_eq!(json["plots"], serde_json::json!(["ramp.y", "wave.y"]), "a constant is not drawn");
    assert_eq!(json["picture"], true);
    let html = std::fs::read_to_string(here.path().join("run/report.html")).expect("the page");
    for part in [
        "<h1>a</h1>",
        "A &lt;b&gt;ramp&lt;/b&gt; &amp; more.",
        "<td class=\"pass\">pass</td><td>rises</td><td>Finally: ",
        "<td class=\"fail\">FAIL</td><td>&lt;i&gt;stays&lt;/i&gt;</td>",
        "1 of 2 passed.",
        "<td>override</td><td>slope=2</td>",
        "Euler in steps of ",
        "1 s in 100 steps",
        ">ramp.y</text>",
        "class=\"block\"",
        ">Integrator</text>",
        "<h2>Profile</h2>",
    ] {
        assert!(html.contains(part), "no `{part}` in {html}");
    }
    assert!(is_balanced(&html), "{html}");
    // Nothing is fetched: the only addresses are names of XML.
    let addresses = html.split("http").skip(1).map(|rest| rest.split('"').next());
    assert!(addresses.into_iter().all(|rest| rest == Some("://www.w3.org/2000/svg")), "{html}");
    assert!(!html.contains("<script") && !html.contains("src=") && !html.contains("href="));
    legwork(here.path(), &["report", "run", "-o", "again.html"]);
    assert!(html == std::fs::read_to_string(here.path().join("again.html")).unwrap());

    // The same run again differs in clock readings alone, which run.json has.
    legwork(here.path(), &["run", "a.ron", "--out", "twin", "--set", "slope=2", "--no-checks"]);
    for run in ["run", "twin"] {
        std::fs::copy(
            here.path().join(run).join("run.mcap"),
            here.path().join(format!("{run}.mcap")),
        )
        .expect("a copy");
    }
    std::fs::create_dir(here.path().join("bare")).unwrap();
    for (from, to) in [("run.mcap", "x.html"), ("twin.mcap", "y.html")] {
        std::fs::copy(here.path().join(from), here.path().join("bare/rec.mcap")).expect("a copy");
        let done = legwork(here.path(), &["report", "bare/rec.mcap", "-o", to, "--plot", "ramp.y"]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
    let bare = std::fs::read_to_string(here.path().join("x.html")).unwrap();
    assert!(bare == std::fs::read_to_string(here.path().join("y.html")).unwrap());
    assert!(bare.contains("no run.json") && bare.contains("class=\"block\""), "{bare}");
    assert!(!bare.contains(">wave.y</text>\n<g"), "only what was asked for is drawn");
}

#[test]
fn a_report_of_a_fault_says_it() {
    let here = folder();
    let text = DIAGRAM.replace("Constant(value: \"=slope\")", "Fcn(expression: \"1/(t - 0.5)\")");
    write(&here, "f.ron", text);
    assert_eq!(legwork(here.path(), &["run", "f.ron", "--out", "run"]).code, 2);
    assert_eq!(legwork(here.path(), &["report", "run"]).code, 0);
    let html = std::fs::read_to_string(here.path().join("run/report.html")).expect("the page");
    assert!(html.contains("<h2>Fault</h2>") && html.contains("t=500 ms, output, rate: "), "{html}");
    assert!(html.contains("<td class=\"open\">open</td><td>rises</td>"), "{html}");
}

#[test]
fn a_slip_in_a_report_is_told_in_words() {
    let here = folder();
    write(&here, "a.ron", DIAGRAM);
    legwork(here.path(), &["run", "a.ron", "--out", "run", "--no-checks"]);
    write(&here, "taken", "a file");
    let fails = |words: &[&str], expected: &str| {
        let done = legwork(here.path(), words);
        assert_eq!(done.code, 64, "{words:?}: {}", done.err);
        assert!(done.err.contains(expected), "no `{expected}` in {}", done.err);
    };
    fails(&["report", "nowhere"], "no recording `nowhere`");
    fails(&["report", "taken"], "expected an MCAP file");
    fails(&["report", "run", "--plot", "ramp.x"], "did you mean `ramp.y`?");
    fails(&["report", "run", "-o", "no/x.html"], "cannot write");
    // The run.json of another run is not believed.
    let kept = here.path().join("run/run.json");
    let facts = std::fs::read_to_string(&kept).unwrap();
    let mut other: Value = serde_json::from_str(&facts).unwrap();
    other["program_hash"] = "0".into();
    std::fs::write(&kept, other.to_string()).unwrap();
    let done = legwork(here.path(), &["report", "run"]);
    assert!(done.code == 0 && done.err.contains("is of another run"), "{}", done.err);
    std::fs::write(&kept, "{").unwrap();
    fails(&["report", "run"], "run.json");
}
