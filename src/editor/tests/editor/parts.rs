//! Masks and patches that are open by themselves.

use std::path::Path;

use legwork_editor::Service;

use crate::support::{complete, labels, open, service, unmarked};

/// Code and text under each mistake of a file by itself.
fn mistakes(service: &Service, path: &Path, text: &str) -> Vec<(&'static str, String)> {
    let diagram = service.library().diagram(&path.to_string_lossy(), text);
    let survey = service.survey(&diagram);
    let own = |span: legwork_block::Span| text[span.start as usize..span.end as usize].to_owned();
    survey.diagnostics.iter().map(|one| (one.code.name(), own(one.primary.span))).collect()
}

/// What is explained at the mark.
fn hover(service: &Service, marked: &str) -> String {
    let (text, at) = unmarked(marked);
    let (document, diagram, survey) = open(service, &text);
    service.hover(&document, at, &diagram, Some(&survey)).unwrap().markdown
}

fn in_repository(folder: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

/// Whatever diagrams use, nothing is wrong with by itself.
#[test]
fn masks_that_work_have_no_mistakes() {
    let service = service();
    let mut count = 0;
    for folder in ["blocks/masks", "tests/data/masks"] {
        for entry in std::fs::read_dir(in_repository(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let is_wrong = path.file_name().unwrap().to_string_lossy().starts_with("faulty");
            let found = mistakes(&service, &path, &text);
            assert_eq!(found.is_empty(), !is_wrong, "{}: {found:?}", path.display());
            count += 1;
        }
    }
    assert!(count > 25, "{count} files");
}

/// A mask of a robot with everything in it that there may be; `{}` are mistakes of the table below.
const MASK: &str = r#"Mask(
    format: 2,
    params: {
        "robot": Robot(doc: "the robot"),
        "k": Real(unit: "N/m"),
        "count": Int(min: 2),
        "end": Name(),
        "twice": Any(default: "=2*k"),
    },
    holes: { "part": (in: { "u": "Vector" }, out: { "y": "Vector" }) },
    ports: (in: { "state": "State(robot)", "tau": "Vector(robot.n)" }, out: { "f": "Vector(robot.n)" }),
    blocks: {
        "pd": JointPd(kp: "=k*1[m*m/rad]", kd: 2.0, in: { "s_ref": "zero.y", "state": "^state" }),
        "zero": Constant(value: "=zeros(robot.n)"),
        "foot": ForwardKinematics(robot: "=robot", frame: "=end", in: { "state": "^state" }),
        "part": Use(of: "part", in: { "u": "pd.tau" }),
        "sum": Sum(signs: "++", in: { "u1": "pd.tau", "u2": "^tau" }),
        "each": ForEach(
            over: { "i": [1, 2] },
            body: { "g": Gain(gain: "=i + count", in: { "u": "sum.y" }) },
            collect: { "y": Array("g.y") },
        ),
    },
    out: { "f": "sum.y" },
)"#;

#[test]
fn mistakes_of_a_mask_stand_where_they_are() {
    let service = service();
    let path = in_repository("diagrams/basics/text.mask");
    assert_eq!(mistakes(&service, &path, MASK), []);
    let mut missed = Vec::new();
    for (right, wrong, code, place) in [
        ("JointPd(kp", "JointPD(kp", "unknown-block-kind", "JointPD"),
        ("kd: 2.0", "kdd: 2.0", "unknown-parameter", "kdd"),
        ("kd: 2.0", "kd: \"2 kg\"", "parameter", "\"2 kg\""),
        (
            "\"state\": \"^state\" }),\n        \"zero",
            "\"stat\": \"^state\" }),\n        \"zero",
            "unknown-port",
            "\"^state\"",
        ),
        ("\"u2\": \"^tau\"", "\"u2\": \"^tua\"", "unknown-port", "^tua"),
        ("\"s_ref\": \"zero.y\"", "\"s_ref\": \"zero.z\"", "unknown-port", "z"),
        ("\"s_ref\": \"zero.y\"", "\"s_ref\": \"nil.y\"", "unknown-block", "nil"),
        ("=k*1", "=kk*1", "unknown-name", "kk"),
        ("=k*1[m*m/rad]", "=k*1[m/rad]", "parameter", "\"=k*1[m/rad]\""),
        ("=zeros(robot.n)", "=zeros(robot.m)", "unknown-name", "m"),
        ("=zeros(robot.n)", "=zeros(robot.n", "expression-syntax", ""),
        ("\"=i + count\"", "\"=j + count\"", "unknown-name", "j"),
        ("of: \"part\"", "of: \"prat\"", "unknown-variant", "\"prat\""),
        ("Name()", "Nmae()", "unknown-parameter-kind", "Nmae()"),
        ("out: { \"f\": \"sum.y\" }", "out: { \"g\": \"sum.y\" }", "unknown-port", "\"g\""),
        ("out: { \"f\": \"sum.y\" }", "out: { \"f\": \"^state\" }", "wrong-type", "\"^state\""),
        ("format: 2", "fromat: 2", "unknown-field", "fromat"),
    ] {
        let text = MASK.replacen(right, wrong, 1);
        assert_ne!(text, MASK, "{right}");
        let found = mistakes(&service, &path, &text);
        if !found.iter().any(|(own, at)| *own == code && at.contains(place)) {
            missed.push(format!("{wrong}: {code} at {place}, found {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

const PATCH: &str = r#"Patch(
    doc: "Other gains.",
    set: { "pd.kp": "=2*kp", "run.stop": "2 s" },
    replace: { "soft": Mask(file: "beside/the_diagram.mask", k: 1.0), "one": Use(of: "law", in: { "u": "a.b" }) },
    add: {
        "limited": Saturation(lower: "=-go.effort[0]", upper: 1.0, in: { "u": "pd.tau" }),
        "base": ForwardKinematics(robot: "go", frame: "trunk", in: { "state": "body.state" }),
    },
    judge: { "height": "=body.state.base.position[2]" },
    checks: { "stands": Always(that: "=height > 20[cm]") },
)"#;

#[test]
fn mistakes_of_a_patch_stand_where_they_are() {
    let service = service();
    let path = in_repository("diagrams/basics/text.patch");
    assert_eq!(mistakes(&service, &path, PATCH), []);
    let mut missed = Vec::new();
    for (right, wrong, code, place) in [
        ("set: {", "sett: {", "unknown-field", "sett"),
        ("\"pd.kp\"", "\"pd..kp\"", "bad-path", "."),
        ("=2*kp", "=2*", "expression-syntax", ""),
        ("Saturation(", "Saturate(", "unknown-block-kind", "Saturate"),
        ("upper: 1.0", "uper: 1.0", "unknown-parameter", "uper"),
        ("upper: 1.0", "upper: [true]", "parameter", "true"),
        ("Always(that", "Allways(that", "unknown-check", "Allways"),
        ("=height > 20[cm]", "=height > 20[cmm]", "unit", "cmm"),
        ("=body.state", "=body..state", "expression-syntax", ".."),
    ] {
        let text = PATCH.replacen(right, wrong, 1);
        assert_ne!(text, PATCH, "{right}");
        let found = mistakes(&service, &path, &text);
        if !found.iter().any(|(own, at)| *own == code && at.contains(place)) {
            missed.push(format!("{wrong}: {code} at {place}, found {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Signals inside of a mask are known with their types, and what a patch adds is a block.
#[test]
fn parts_are_completed_and_explained() {
    let service = service();
    let ports = labels(&service, &MASK.replacen("\"u1\": \"pd.tau\"", "\"u1\": \"pd.‸\"", 1));
    assert!(ports.contains(&"tau".to_owned()), "{ports:?}");
    let inputs = labels(&service, &MASK.replacen("\"u2\": \"^tau\"", "\"u2\": \"‸\"", 1));
    assert!(inputs.contains(&"^tau".to_owned()), "{inputs:?}");
    let names = complete(&service, &MASK.replacen("=k*1", "=‸k*1", 1));
    let names: Vec<&str> = names.iter().map(|one| one.label.as_str()).collect();
    assert!(names.contains(&"count") && names.contains(&"robot"), "{names:?}");
    let told = hover(&service, &MASK.replacen("\"pd.tau\" }", "\"pd.t‸au\" }", 1));
    assert!(told.contains("Vector(12)") && told.contains("N*m"), "{told}");
    let fields = labels(&service, &PATCH.replacen("upper: 1.0", "‸", 1));
    assert!(fields.contains(&"upper".to_owned()), "{fields:?}");
    let told = hover(&service, &PATCH.replacen("Saturation(", "Satu‸ration(", 1));
    assert!(told.contains("Saturation"), "{told}");
}
