use std::collections::BTreeSet;

use crate::constructs;

#[test]
fn every_construct_and_every_field_has_a_manual() {
    for manual in constructs() {
        assert!(!manual.doc.is_empty(), "{} has no manual", manual.name);
        let mut names = BTreeSet::new();
        for field in manual.fields.iter().chain(manual.shared) {
            assert!(!field.doc.is_empty(), "{}.{} has no manual", manual.name, field.name);
            assert!(names.insert(field.name), "{}.{} is there twice", manual.name, field.name);
        }
    }
}

#[test]
fn fields_have_the_names_of_the_language() {
    let all = constructs();
    let names = |construct: &str| -> Vec<&str> {
        let manual = all.iter().find(|manual| manual.name == construct);
        manual.map_or_else(Vec::new, |manual| manual.names().collect())
    };
    assert_eq!(names("ForEach"), ["over", "share", "body", "collect", "doc"]);
    assert_eq!(names("Subsystem"), ["in", "doc", "ports", "blocks", "out"]);
    assert_eq!(names("Field"), ["type", "unit", "frame", "doc"]);
}
