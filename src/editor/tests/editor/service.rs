//! The language service, asked at marks in texts.

use super::support::{complete, labels, open, service, unmarked};
use legwork_editor::{Definition, Document, Position, offset_at, position_at};

/// A diagram of which the block `pd` and what follows are given.
fn stand(rest: &str) -> String {
    format!(
        r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: SemiImplicitEuler),
    params: {{ "kp": Param(value: "60 N*m/rad", doc: "joint stiffness — é"), "mu": 0.7 }},
    robots: {{ "go": Robot(file: "std:robots/mini_cheetah.ron") }},
    variants: {{ "qp": Variant(default: "a", choices: {{ "a": ActiveSetQp(), "b": Lemke() }}) }},
    blocks: {{
        "pose": Constant(value: "=go.keyframes.stand.s"),
        "body": FloatingBase(robot: "go", in: {{ "nu_dot": "accel.nu_dot" }}),
        "accel": ForwardDynamics(robot: "go", in: {{ "state": "body.state", "tau": "pd.tau" }}),
        {rest}
    }},
    log: ["body.state"],
    checks: {{ "up": Always(that: "=body.state.base.position[2] > 0.2") }},
)"#
    )
}

const PD: &str = r#""pd": JointPd(kp: "=kp", kd: "1 N*m*s/rad", in: { "s_ref": "pose.y", "state": "body.state" }),"#;

fn has(labels: &[String], wanted: &[&str]) {
    for name in wanted {
        assert!(labels.iter().any(|label| label == name), "{name} in {labels:?}");
    }
}

#[test]
fn sections_of_a_diagram_that_are_not_there_yet_are_offered() {
    let service = service();
    let found = labels(&service, "Diagram(\n    format: 2,\n    ‸\n)");
    has(&found, &["run", "blocks", "params", "variants", "checks"]);
    assert_eq!(found[..2], ["run", "blocks"], "required ones come first");
    assert!(!found.contains(&"format".to_owned()));
    has(&labels(&service, "Diagram(format: 2, run: (st‸))"), &["stop", "step", "solver", "seed"]);
    has(&labels(&service, "Diagram(run: (solver: R‸))"), &["Rk4", "DormandPrince"]);
    has(&labels(&service, "‸"), &["Diagram", "Mask", "Study", "Patch"]);
}

#[test]
fn every_kind_of_block_is_offered_with_its_required_parameters() {
    let service = service();
    let found = complete(&service, &stand("\"pd\": J‸"));
    let kinds = service.library().registry().blocks().map(|kind| kind.kind);
    for kind in kinds {
        assert!(found.iter().any(|one| one.label == kind), "{kind}");
    }
    let pd = found.iter().find(|one| one.label == "JointPd").unwrap();
    assert_eq!(pd.insert, "JointPd(kd: $1, kp: $2, in: { $0 })");
    assert!(pd.detail.starts_with("Proportional-derivative control"), "{}", pd.detail);
    for part in ["ForEach", "Mask", "Subsystem", "Use", "Group"] {
        assert!(found.iter().any(|one| one.label == part), "{part}");
    }
}

#[test]
fn parameters_choices_and_units_come_from_the_schema() {
    let service = service();
    let found = labels(&service, &stand("\"pd\": JointPd(kp: 1, ‸)"));
    has(&found, &["kd", "robot", "in", "every", "doc"]);
    assert!(!found.contains(&"kp".to_owned()), "{found:?}");
    let found = labels(&service, &stand("\"p\": Pid(kp: 1.0, anti_windup: ‸)"));
    has(&found, &["Clamping", "BackCalculation"]);
    has(
        &labels(&service, &stand("\"p\": Pid(kp: 1.0, anti_windup: BackCalculation(‸))")),
        &["gain"],
    );
    has(
        &labels(&service, &stand("\"b\": FloatingBase(robot: \"go\", init: (‸))")),
        &["keyframe", "place", "position"],
    );
    has(&labels(&service, &stand("\"b\": FloatingBase(robot: \"‸\")")), &["go"]);
    let units = labels(&service, &stand("\"pd\": JointPd(kp: \"60 ‸\")"));
    assert_eq!(units[0], "N*m/rad");
    has(&units, &["N", "kg", "deg"]);
}

#[test]
fn wires_offer_ports_blocks_outputs_and_fields_of_buses() {
    let service = service();
    let at = |wire: &str| stand(&format!("\"pd\": JointPd(kp: 1, kd: 1, in: {{ {wire} }}),"));
    let found = labels(&service, &at("‸"));
    has(&found, &["s_ref", "state", "s_dot_ref", "tau_ff"]);
    let found = labels(&service, &at("\"state\": \"body.state\", \"‸\""));
    has(&found, &["s_ref"]);
    assert!(!found.contains(&"state".to_owned()), "{found:?}");
    has(&labels(&service, &at("\"state\": \"‸\"")), &["pose", "body", "accel", "pd"]);
    assert_eq!(labels(&service, &at("\"state\": \"body.‸\"")), ["state"]);
    let found = complete(&service, &at("\"state\": \"body.state.‸\""));
    let position = found.iter().find(|one| one.label == "base.position").unwrap();
    assert_eq!(position.detail, "base.position: Vector(3) [m] in world");
    let found = labels(&service, &at("\"state\": \"body.state.base.po‸\""));
    has(&found, &["position", "velocity"]);
    has(&labels(&service, &at("\"state\": ‸")), &["pose", "body", "Join", "Bus"]);
}

#[test]
fn text_that_is_no_ron_is_completed_all_the_same() {
    let service = service();
    for broken in [
        // A text without end, brackets without end.
        "\"pd\": JointPd(kp: 1, in: { \"state\": \"body.state.‸",
        "\"pd\": JointPd(kp: 1, in: { \"state\": \"body.state.‸ }),",
        "\"pd\": JointPd(kp: 1 kd: 2, in: { \"state\": \"body.state.‸\" }),",
        "\"pd\": JointPd(kp: , in: { \"state\": \"body.state.‸\" }),",
        "\"pd\": JointPd(\n            in: { \"state\": \"body.state.‸\"\n",
        "\"x\": Gain(gain: 2.0\n        \"pd\": JointPd(in: { \"state\": \"body.state.‸\" }),",
    ] {
        let found = labels(&service, &stand(broken));
        assert!(found.contains(&"base.position".to_owned()), "{broken}: {found:?}");
        has(&found, &["q", "nu"]);
    }
    // What follows stays known.
    let after = stand(
        "\"pd\": JointPd(in: { \"state\": \"x\n        \"g\": Gain(gain: 1.0, in: { \"u\": \"‸\" }),",
    );
    has(&labels(&service, &after), &["pose", "body", "pd", "g"]);
}

#[test]
fn expressions_know_parameters_facts_functions_and_units() {
    let service = service();
    let at = |text: &str| stand(&format!("\"g\": Gain(gain: \"{text}\"),"));
    has(&labels(&service, &at("=2*‸")), &["kp", "mu", "go", "variants", "sqrt"]);
    let found = labels(&service, &at("=go.‸"));
    has(&found, &["feet", "nv", "keyframes"]);
    has(&labels(&service, &at("=go.keyframes.stand.‸")), &["s"]);
    has(
        &labels(&service, &at("=0.1[m‸")),
        &["mm", "N"].map(|unit| if unit == "mm" { "m" } else { unit }),
    );
    let check = stand(PD).replace("0.2\"", "0.2 and pd.‸\"");
    has(&labels(&service, &check), &["tau"]);
    has(&labels(&service, &stand(PD).replace("\"=body", "\"=‸body")), &["t", "norm", "pd"]);
}

#[test]
fn names_of_variants_choices_files_and_masks_are_offered() {
    let service = service();
    has(&labels(&service, &stand("\"s\": Use(of: \"‸\"),")), &["qp"]);
    let choice = stand(PD).replace("default: \"a\"", "default: \"‸\"");
    has(&labels(&service, &choice), &["a", "b"]);
    let files = labels(&service, &stand("\"m\": Mask(file: \"‸\"),"));
    has(&files, &["std:masks/gauss_contact.ron", "pendulum.ron"]);
    let mask = "\"m\": Mask(file: \"std:masks/gauss_contact.ron\", ‸),";
    has(&labels(&service, &stand(mask)), &["robot", "mu", "qp", "in"]);
}

#[test]
fn inside_a_for_each_the_blocks_around_are_seen_and_inside_a_subsystem_not() {
    let service = service();
    let each = "\"foot\": ForEach(over: { \"f\": \"=go.feet\" }, body: { \"point\": ContactPoint(robot: \"go\", frame: \"=f\", in: { \"state\": \"‸\" }) }),";
    has(&labels(&service, &stand(each)), &["body", "point", "foot"]);
    let outside = each.replace("‸", "body.state")
        + "\"g\": Gain(gain: 1.0, in: { \"u\": \"foot[FL_foot].point.‸\" }),";
    has(&labels(&service, &stand(&outside)), &["contact", "jacobian"]);
    let part = "\"s\": Subsystem(ports: (in: { \"u\": \"Real\" }), blocks: { \"g\": Gain(gain: 1.0, in: { \"u\": \"‸\" }) }),";
    let found = labels(&service, &stand(part));
    has(&found, &["g", "^u"]);
    assert!(!found.contains(&"body".to_owned()), "{found:?}");
}

#[test]
fn hover_gives_manuals_parameters_ports_and_types() {
    let service = service();
    let explain = |marked: &str| {
        let (text, at) = unmarked(marked);
        let (document, diagram, survey) = open(&service, &text);
        let hover = service.hover(&document, at, &diagram, Some(&survey));
        hover.map(|hover| (text[hover.range].to_owned(), hover.markdown))
    };
    let said = |marked: &str, range: &str, words: &[&str]| {
        let (found, markdown) = explain(marked).expect(marked);
        assert_eq!(found, range, "{marked}");
        words.iter().for_each(|word| assert!(markdown.contains(word), "{word}: {markdown}"));
    };
    let pd = |from: &str, to: &str| stand(&PD.replace(from, to));
    let manual = legwork_study::manual::manual("JointPd", service.library().registry()).unwrap();
    said(&pd("JointPd", "Joint‸Pd"), "JointPd", &[&manual.doc, "of the shelf control"]);
    said(&pd("kd:", "k‸d:"), "kd", &["kd: quantity", "[N*m*s/rad], required", "Damping"]);
    said(&pd("\"state\"", "\"st‸ate\""), "\"state\"", &["State(go)", "from `body.state"]);
    said(&pd("pose.y", "pose.‸y"), "pose.y", &["`pose.y: Vector(12)"]);
    said(&pd("body.state", "body.sta‸te"), "body.state", &["body.state: State(go)"]);
    said(&pd("body.state", "bo‸dy.state"), "body", &["body: FloatingBase", "state: State(go)"]);
    said(&pd("=kp", "=k‸p"), "kp", &["60 N*m/rad", "joint stiffness — é"]);
    said(&pd("\"pd\"", "\"‸pd\""), "\"pd\"", &["pd: JointPd", "tau: Vector(12) [N*m]"]);
    said(&stand(PD).replace("blocks: {", "blo‸cks: {"), "blocks", &["The blocks inside"]);
    said(&stand(PD).replace("SemiImp", "Semi‸Imp"), "SemiImplicitEuler", &["Euler"]);
    said(&stand(PD).replace("Always", "Al‸ways"), "Always", &["must hold at every step"]);
    said(
        &stand(PD).replace("base.position[2]", "base.posi‸tion[2]"),
        "body.state.base.position",
        &["Vector(3) [m]"],
    );
    assert_eq!(explain(&stand(PD).replace("log:", "// no‸thing\n    log:")), None);
}

#[test]
fn definitions_lead_to_blocks_parameters_variants_and_files() {
    let service = service();
    let defined = |marked: &str| {
        let (text, at) = unmarked(marked);
        let (document, diagram, survey) = open(&service, &text);
        match service.define(&document, at, &diagram, Some(&survey)) {
            Some(Definition::Here(range)) => format!("{}@{}", &text[range.clone()], range.start),
            Some(Definition::File(file)) => file,
            None => String::new(),
        }
    };
    let whole = stand(PD);
    let here = |name: &str| {
        let entry = format!("\"{name}\": ");
        format!("\"{name}\"@{}", whole.find(&entry).unwrap())
    };
    assert_eq!(defined(&whole.replace("\"body.state\" }),", "\"body.‸state\" }),")), here("body"));
    assert_eq!(defined(&stand(&PD.replace("=kp", "=k‸p"))), here("kp"));
    assert_eq!(defined(&whole.replace("=go.key", "=g‸o.key")), here("go"));
    assert_eq!(defined(&whole.replace("std:robots", "std:‸robots")), "std:robots/mini_cheetah.ron");
    let part = "\"s\": Use(of: \"q‸p\"),";
    assert!(defined(&stand(part)).starts_with("\"qp\"@"));
    let mask = "\"m\": Mas‸k(file: \"../contact/landing.mask\"),";
    assert!(
        defined(&stand(mask)).ends_with("diagrams/contact/landing.mask"),
        "{}",
        defined(&stand(mask))
    );
}

#[test]
fn the_outline_has_sections_blocks_and_what_is_inside() {
    let document = Document::new("a.ron", &stand(PD));
    let outline = document.outline();
    let blocks = outline.iter().find(|symbol| symbol.name == "blocks").unwrap();
    let names: Vec<_> = blocks.inside.iter().map(|one| (&*one.name, &*one.kind)).collect();
    assert_eq!(names[0], ("pose", "Constant"));
    assert_eq!(names[3], ("pd", "JointPd"));
    let variants = outline.iter().find(|symbol| symbol.name == "variants").unwrap();
    assert_eq!(variants.inside[0].inside[1].name, "b");
}

/// Between the letter of a raw text and its quotes nothing is written.
#[test]
fn every_place_of_a_text_can_be_asked_about() {
    let service = service();
    let text = stand(&PD.replace("\"body.state\"", "r#\"body.state\"#"));
    let (document, diagram, survey) = open(&service, &text);
    let mut said = 0;
    for at in 0..=text.len() {
        said += service.complete(&document, at, &diagram, Some(&survey)).len().min(1);
        service.hover(&document, at, &diagram, Some(&survey));
        service.define(&document, at, &diagram, Some(&survey));
    }
    assert!(said > text.len() / 4, "{said}");
}

#[test]
fn positions_count_utf_16_units_and_return() {
    let text = "é😀b\r\nα\n";
    assert_eq!(position_at(text, text.find('b').unwrap()), Position { line: 0, character: 3 });
    for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
        assert_eq!(offset_at(text, position_at(text, offset)), offset);
    }
    assert_eq!(offset_at(text, Position { line: 0, character: 99 }), text.find('\r').unwrap());
    assert_eq!(offset_at(text, Position { line: 99, character: 0 }), text.len());
}
