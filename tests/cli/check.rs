//! `legwork check`: every mistake and every warning, with its place.

use super::support::{self, folder, legwork, ramp, with_variant, write};

#[test]
fn check_tries_every_choice_and_names_the_one_that_is_wrong() {
    let here = folder();
    write(&here, "v.ron", with_variant());
    assert_eq!(legwork(here.path(), &["run", "v.ron"]).code, 0);
    let done = legwork(here.path(), &["check", "v.ron", "--json"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("with --variant v=broken"), "{}", done.err);
    let json = done.json();
    let diagnostics = &json["diagrams"][0]["diagnostics"];
    assert!(!diagnostics.as_array().unwrap().is_empty(), "{json}");
    for diagnostic in diagnostics.as_array().unwrap() {
        assert_eq!(diagnostic["choices"], serde_json::json!(["v=broken"]), "{diagnostic}");
    }
    assert_eq!(json["diagrams"][0]["variants"]["v"], serde_json::json!(["twice", "broken"]));
}

#[test]
fn an_unknown_variant_or_choice_is_a_diagram_error_with_advice() {
    let here = folder();
    write(&here, "v.ron", with_variant());
    let choice = legwork(here.path(), &["run", "v.ron", "--variant", "v=twise"]);
    assert_eq!(choice.code, 1);
    assert!(choice.err.contains("did you mean `twice`?"), "{}", choice.err);
    let variant = legwork(here.path(), &["run", "v.ron", "--variant", "w=twice", "--json"]);
    assert_eq!(variant.code, 1);
    assert_eq!(variant.json()["diagnostics"][0]["code"], "unknown-variant");
}

#[test]
fn check_expand_prints_the_order_of_execution() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let done = legwork(here.path(), &["check", "--expand", "a.ron"]);
    assert!(done.out.contains("order:") && done.out.contains("ramp: Integrator"), "{}", done.out);
}

#[test]
fn a_diagnostic_shows_file_line_column_and_the_nearest_name() {
    let here = folder();
    write(&here, "a.ron", ramp("").replace("rate.y\" }", "rat.y\" }"));
    let done = legwork(here.path(), &["check", "a.ron"]);
    for part in ["error[unknown-block]", "a.ron:8:", "^", "did you mean `rate`?"] {
        assert!(done.err.contains(part), "no `{part}` in {}", done.err);
    }
    assert_eq!(done.out, "a.ron: 1 error\n");
}

#[test]
fn a_folder_stands_for_the_diagrams_below_it() {
    let here = folder();
    std::fs::create_dir_all(here.path().join("all/more/.hidden")).expect("folders");
    write(&here, "all/b.ron", ramp(""));
    write(&here, "all/more/a.ron", ramp(""));
    write(&here, "all/more/.hidden/c.ron", "Diagram(");
    write(&here, "all/more/part.ron", "Mask(blocks: {})");
    write(&here, "all/with.ron", "Patch(set: {})");
    write(&here, "all/table.ron", "[1, 2]");
    for command in ["check", "test"] {
        let done = legwork(here.path(), &[command, "all"]);
        assert_eq!(done.code, 0, "{}", done.said());
        let left_out = "left out below `all`: 3 files of another kind, 1 Mask, 1 Patch, 1 data\n";
        assert_eq!(done.err, left_out);
        let places = ["all/b.ron", "all/more/a.ron"].map(|name| done.out.find(name));
        assert!(places[0].is_some() && places[0] < places[1], "{}", done.out);
    }
    write(&here, "all/more/a.ron", "Diagram(");
    let done = legwork(here.path(), &["check", "all"]);
    assert_eq!(done.code, 1, "{}", done.said());
    std::fs::create_dir(here.path().join("empty")).expect("a folder");
    let done = legwork(here.path(), &["test", "empty"]);
    assert_eq!((done.code, done.out.as_str()), (64, ""), "{}", done.err);
    assert!(done.err.contains("the folder `empty` holds no diagram"), "{}", done.err);
}

#[test]
fn what_one_run_sets_makes_nothing_unused() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    // `idle` is read by `log:` alone, which a comparison replaces.
    let more = "\"idle\": Constant(value: 1.0), \"ramp\":";
    let text = ramp("").replace("\"ramp\":", more).replace("[\"ramp.y\"", "[\"idle.y\"");
    let choices = r#"variants: { "v": Variant(
        default: "one", choices: { "one": Gain(gain: 1.0), "two": Gain(gain: 2.0) },
    ) },
    blocks: { "choice": Use(of: "v", in: { "u": "rate.y" }),"#;
    let text = text.replace("\"u\": \"rate.y\"", "\"u\": \"choice.y\"");
    write(&here, "b.ron", text.replace("blocks: {", choices));
    write(&here, "patch.ron", r#"Patch(add: { "idle": Constant(value: 1.0) })"#);
    let said = |arguments: &[&str]| legwork(here.path(), arguments).err;
    for quiet in [
        &["run", "a.ron", "--set", "rate.value=2"][..],
        &["run", "a.ron", "--until", "0.5 s"],
        &["compare", "b.ron", "--variant", "v=one,two", "--signals", "ramp.y"],
    ] {
        assert!(!said(quiet).contains("nothing reads"), "{quiet:?}: {}", said(quiet));
    }
    // What is added for one run is looked at as ever.
    let patched = said(&["run", "a.ron", "--with", "patch.ron"]);
    assert!(patched.contains("nothing reads the block `idle`"), "{patched}");
}

/// A mask or a patch is looked at by itself: those that are here are good, and a slip in one is
/// told without a diagram that uses it.
#[test]
fn masks_and_patches_are_looked_at_by_themselves() {
    let here = folder();
    let mut parts = Vec::new();
    for below in ["diagrams", "blocks/masks"] {
        let mut open = vec![support::repository().join(below)];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let ending =
                    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
                let is_part = ["mask", "patch"].contains(&ending) || below == "blocks/masks";
                if path.is_dir() {
                    open.push(path);
                } else if is_part {
                    parts.push(path.display().to_string());
                }
            }
        }
    }
    parts.sort();
    assert!(parts.len() > 35, "{parts:?}");
    let arguments: Vec<&str> =
        std::iter::once("check").chain(parts.iter().map(String::as_str)).collect();
    let done = legwork(here.path(), &arguments);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.out.matches(", by itself\n").count(), parts.len(), "{}", done.out);
    let mask = r#"Mask(
    ports: (in: { "u": "Real" }, out: { "on": "Bool" }),
    blocks: { "twice": Gain(gain: 2, in: { "u": "^u" }) },
    out: { "on": "twice.y" },
)"#;
    write(&here, "a.mask", mask);
    let done = legwork(here.path(), &["check", "a.mask"]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.err.contains("expected Bool, found Real"), "{}", done.err);
    assert!(done.err.contains("a.mask:4:18"), "{}", done.err);
}

/// An input without a connection can be connected from outside, like a connected one.
#[test]
fn an_open_input_is_connected_by_set_and_by_a_patch() {
    let here = folder();
    let diagram = "Diagram(run: (stop: \"10 ms\", step: \"1 ms\"), blocks: {
        \"c\": Constant(value: 3), \"g\": Gain(gain: 2),
        \"s\": Sum(in: { \"u1\": \"c.y\" }) }, log: [\"g.y\", \"s.y\"])";
    write(&here, "a.ron", diagram);
    assert_ne!(legwork(here.path(), &["check", "a.ron"]).code, 0);
    let set = ["--set", "g.in.u=c.y", "--set", "blocks.s.in.u2=g.y"];
    let done = legwork(here.path(), &[&["check", "a.ron"][..], &set].concat());
    assert_eq!(done.code, 0, "{}", done.said());
    write(&here, "p.ron", "Patch(set: { \"g.in.u\": \"c.y\", \"s.in.u2\": \"g.y\" })");
    let done = legwork(here.path(), &["check", "a.ron", "--with", "p.ron"]);
    assert_eq!(done.code, 0, "{}", done.said());
    // A name that is not an input is still an error.
    let done = legwork(here.path(), &["check", "a.ron", "--set", "g.in.v=c.y"]);
    assert!(done.code != 0 && done.said().contains("`v`"), "{}", done.said());
}
