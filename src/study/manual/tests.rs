//! What holds for every manual of the library, and for searches in them.

use legwork_block::Registry;

use super::*;

fn registry() -> Registry {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry
}

fn found(words: &str) -> Vec<String> {
    search(words, &registry()).into_iter().map(|hit| hit.kind).collect()
}

#[test]
fn summaries_are_sentences_that_fit_on_a_line() {
    let listed: Vec<Listed> =
        shelves(&registry()).into_iter().flat_map(|shelf| shelf.kinds).collect();
    assert!(listed.len() > 140, "{}", listed.len());
    for Listed { kind, summary, .. } in listed {
        let len = summary.chars().count();
        assert!(len <= 80, "{kind}: {len} characters: {summary}");
        assert!(summary.ends_with(['.', ':']), "{kind}: {summary}");
    }
}

#[test]
fn built_in_files_that_diagrams_name_say_what_they_are() {
    let registry = registry();
    for folder in ["masks", "interfaces", "variants", "robots", "diagrams"] {
        let mut files = built_in(folder, &registry);
        files.retain(|file| file.file.ends_with(".ron"));
        assert!(!files.is_empty(), "{folder}");
        for BuiltIn { file, summary, .. } in files {
            let count = |sign: char| summary.chars().filter(|one| *one == sign).count();
            assert!(summary.ends_with('.') && !summary.ends_with(".."), "{file}: {summary}");
            assert_eq!(count('('), count(')'), "{file}: {summary}");
        }
    }
    let one = built_in("masks/low_pass.ron", &registry);
    assert_eq!(one, [], "a file is no folder");
}

#[test]
fn built_in_files_are_found_and_words_in_the_head_come_before_scattered_ones() {
    assert_eq!(found("low pass")[..2], ["std:masks/low_pass.ron", "TransferFunction"]);
    let heads = search("contact feet", &registry());
    let is_head = |hit: &Hit| {
        hit.matches.iter().all(|found| ["kind", "alias", "summary"].contains(&found.part))
    };
    assert!(heads.iter().any(is_head) && !heads.iter().all(is_head));
    assert!(heads.is_sorted_by_key(|hit| !is_head(hit)), "{heads:?}");
    let registry = registry();
    assert_eq!(also_called("go2", &registry), ["std:robots/go2.ron"]);
    assert_eq!(also_called("low pass", &registry), ["TransferFunction", "std:masks/low_pass.ron"]);
}

#[test]
fn every_kind_is_listed_once() {
    let registry = registry();
    let mut listed: Vec<&str> =
        shelves(&registry).iter().flat_map(|shelf| &shelf.kinds).map(|one| one.kind).collect();
    listed.sort_unstable();
    let mut known: Vec<&str> = kinds(&registry).map(Kind::name).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn what_is_called_by_the_words_comes_first() {
    let manuals = manuals(&registry());
    let found = |words: &str| -> Vec<String> {
        search_among(words, &manuals).into_iter().map(|hit| hit.kind).collect()
    };
    for Manual { kind, aliases, .. } in &manuals {
        assert_eq!(found(kind).first().map(String::as_str), Some(*kind));
        for alias in aliases {
            let same = |other: &str| other.to_lowercase() == alias.to_lowercase();
            let called =
                |other: &&Manual| same(other.kind) || other.aliases.iter().any(|one| same(one));
            let mut called: Vec<&str> =
                manuals.iter().filter(called).map(|other| other.kind).collect();
            let mut first: Vec<String> = found(alias).into_iter().take(called.len()).collect();
            first.sort_unstable();
            called.sort_unstable();
            assert_eq!(first, called, "{kind} by {alias}");
        }
    }
}

#[test]
fn all_words_must_match_in_any_order() {
    let one = found("torque");
    let both = found("torque limit");
    assert!(!both.is_empty() && both.len() < one.len(), "{both:?}");
    assert!(both.iter().all(|kind| one.contains(kind)), "{both:?}");
    assert_eq!(both, found("LIMIT, torque"));
    assert_eq!(found("torque xyzzy"), [""; 0]);
    assert_eq!(found("  "), [""; 0]);
}

#[test]
fn the_algorithms_of_rigid_bodies_are_found_by_their_short_names() {
    for (word, kind) in [
        ("crba", "MassMatrix"),
        ("rnea", "InverseDynamics"),
        ("aba", "ForwardDynamics"),
        ("mass matrix", "MassMatrix"),
        ("zoh", "ZeroOrderHold"),
        ("pid", "Pid"),
        ("proportional", "Pid"),
        ("quaternion", "QuaternionProduct"),
    ] {
        assert_eq!(found(word).first().map(String::as_str), Some(kind), "{word}");
    }
}

#[test]
fn a_match_is_shown_by_its_line() {
    let hits = search("backlash", &registry());
    assert_eq!(hits[0].matches[0], Match { part: "kind", line: "Backlash".to_owned() });
    for hit in search("bandwidth", &registry()) {
        assert!(hit.matches[0].line.to_lowercase().contains("bandwidth"), "{hit:?}");
    }
}

#[test]
fn what_is_nearly_right_is_suggested() {
    let registry = registry();
    assert_eq!(suggest("Gian", &registry), Suggestion::Near("Gain"));
    assert_eq!(suggest("foreach", &registry), Suggestion::Near("ForEach"));
    assert_eq!(suggest("sensor", &registry), Suggestion::Near("sensors"));
    assert_eq!(suggest("xyzzy-plugh", &registry), Suggestion::Nothing);
    let Suggestion::Alike(alike) = suggest("Qua", &registry) else { panic!("no names") };
    assert!(alike.contains(&"QuaternionProduct"), "{alike:?}");
    let mut without = Registry::default();
    without.absent_block("Slow", "built with the feature `slow`");
    assert_eq!(suggest("Slow", &without), Suggestion::Absent("built with the feature `slow`"));
}

#[test]
fn a_construct_has_a_manual_with_its_fields() {
    let [each] = &constructs("ForEach")[..] else { panic!("one construct") };
    let names: Vec<&str> = each.fields.iter().map(|field| field.name).collect();
    assert_eq!(names, ["over", "share", "body", "collect", "doc"]);
    assert_eq!(constructs("Gain"), []);
    assert_eq!(constructs("Mask").len(), 2, "its file and its use");
    let registry = registry();
    for manual in legwork_diagram::constructs() {
        assert!(!kinds(&registry).any(|kind| kind.name() == manual.name), "{}", manual.name);
    }
}
