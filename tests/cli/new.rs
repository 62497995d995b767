//! `legwork new` and `legwork demo`.

use super::support::{folder, legwork, repository, write};

#[test]
fn a_new_diagram_runs_and_passes_its_checks() {
    let here = folder();
    assert_eq!(legwork(here.path(), &["new", "cart.ron"]).code, 0);
    let done = legwork(here.path(), &["test", "cart.ron", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["passed"], 1);
    assert_eq!(legwork(here.path(), &["check", "cart.ron"]).code, 0);
}

/// In an empty folder, away from this repository.
#[test]
fn every_template_checks_runs_and_passes_its_checks() {
    let list = legwork(folder().path(), &["new", "--list", "--json"]).json();
    let templates = list["templates"].as_array().expect("a list");
    assert!(templates.len() >= 6, "{list}");
    for template in templates {
        let name = template["name"].as_str().expect("a name");
        if name == "block" {
            continue;
        }
        let here = folder();
        let made = legwork(here.path(), &["new", "mine", "--template", name, "--json"]);
        assert_eq!(made.code, 0, "{}", made.err);
        let files = made.json()["files"].as_array().expect("a list").len();
        assert_eq!(std::fs::read_dir(here.path()).expect("a folder").count(), files);
        let done = legwork(here.path(), &["check", "mine.ron"]);
        assert_eq!(done.code, 0, "{name}: {}", done.said());
        let done = legwork(here.path(), &["test", "mine.ron", "--json"]);
        assert_eq!((done.code, &done.json()["passed"]), (0, &1.into()), "{name}: {}", done.err);
        let again = legwork(here.path(), &["new", "mine", "--template", name]);
        assert!(again.code == 64 && again.err.contains("exists"), "{name}: {}", again.err);
    }
}

/// A crate is compiled by hand; what it needs to be one is here.
#[test]
fn the_template_of_a_block_is_a_crate() {
    let here = folder();
    assert_eq!(legwork(here.path(), &["new", "my_blocks", "--template", "block"]).code, 0);
    let text = |file: &str| {
        std::fs::read_to_string(here.path().join("my_blocks").join(file)).expect("a file")
    };
    let (manifest, main, block) = (text("Cargo.toml"), text("src/main.rs"), text("src/leak.rs"));
    assert!(manifest.contains("name = \"my_blocks\""), "{manifest}");
    for text in [&manifest, &main, &block] {
        assert!(!text.contains("NAME") && !text.contains("REPOSITORY"), "{text}");
    }
    assert!(main.contains("mod leak;") && main.contains("block::<leak::Leak>"), "{main}");
    assert!(block.contains("impl Block for Leak"), "{block}");
    // The diagram lacks nothing but the block, which this program does not have.
    let done = legwork(here.path(), &["check", "my_blocks/demo.ron"]);
    assert!(done.code == 1 && done.err.contains("`Leak`"), "{}", done.err);
    assert!(done.said().contains("1 error"), "{}", done.said());
}

#[test]
fn what_is_asked_of_new_is_named_where_it_is_wrong() {
    let here = folder();
    let said = |arguments: &[&str]| {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}");
        done.err
    };
    let slip = said(&["new", "a", "--template", "quadrupde"]);
    assert!(slip.contains("did you mean `quadruped`?"), "{slip}");
    assert!(said(&["new", "1 a", "--template", "arm"]).contains("expected a name"));
    assert!(said(&["new"]).contains("required"));
    assert_eq!(std::fs::read_dir(here.path()).expect("a folder").count(), 0);
    // The name that is asked for may have an ending.
    assert_eq!(legwork(here.path(), &["new", "part.mask", "--template", "mask"]).code, 0);
    let mask = std::fs::read_to_string(here.path().join("part.mask")).expect("a file");
    assert!(mask.contains("\nMask("), "{mask}");
}

#[test]
fn every_demo_has_a_word_of_its_own_and_can_be_copied() {
    let here = folder();
    let json = legwork(here.path(), &["demo", "--json"]).json();
    for demo in json["demos"].as_array().expect("a list") {
        let file = demo["file"].as_str().expect("a name");
        assert!(!demo["doc"].as_str().expect("a text").is_empty(), "{file} has no `doc:`");
        let copy = format!("{}.ron", demo["name"].as_str().unwrap().replace('/', "_"));
        assert_eq!(legwork(here.path(), &["new", &copy, "--from", file]).code, 0);
        let done = legwork(here.path(), &["check", file, &copy]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

/// Cargo and Rust refuse such crates: the error comes earlier here, with a name that is free.
#[test]
fn a_crate_is_not_called_by_a_word_of_rust() {
    let here = folder();
    for name in ["fn", "self", "Self", "async", "gen", "crate", "test", "deps", "core", "type"] {
        let done = legwork(here.path(), &["new", name, "--template", "block"]);
        assert!(
            done.code == 64 && done.err.contains(&format!("{name}_blocks")),
            "{name}: {}",
            done.err
        );
        assert!(!here.path().join(name).exists());
    }
    assert_eq!(legwork(here.path(), &["new", "fn_blocks", "--template", "block"]).code, 0);
    // A diagram may have this name: it is a file.
    assert_eq!(legwork(here.path(), &["new", "self"]).code, 0);
    assert_eq!(legwork(here.path(), &["check", "self.ron"]).code, 0);
}

/// From a robot file of another program comes a diagram with the robot, by a path from its folder.
#[test]
fn a_diagram_is_made_around_a_robot_file() {
    let here = folder();
    let robots = repository().join("diagrams/robots");
    for (file, base) in [("cart_pole/cart_pole.xml", "Mjcf"), ("ur5/ur5.urdf", "Urdf")] {
        let text = std::fs::read(robots.join(file)).expect("a robot");
        let name = file.split('/').next_back().expect("a name");
        write(&here, name, text);
        std::fs::create_dir_all(here.path().join("below")).expect("a folder");
        for made in [format!("{base}.ron"), format!("below/{base}.ron")] {
            assert_eq!(legwork(here.path(), &["new", &made, "--from", name]).code, 0);
            let text = std::fs::read_to_string(here.path().join(&made)).expect("a diagram");
            assert!(text.contains(&format!("{base}(path: \"")), "{text}");
            let run = legwork(here.path(), &["run", &made, "--until", "10 ms"]);
            assert_eq!(run.code, 0, "{}", run.err);
        }
        // The same file under its own ending is a copy.
        let copy = format!("copy_of_{name}");
        assert_eq!(legwork(here.path(), &["new", &copy, "--from", name]).code, 0);
        let [one, other] = [name, &copy].map(|name| std::fs::read(here.path().join(name)));
        assert_eq!(one.expect("a file"), other.expect("a copy"));
    }
}
