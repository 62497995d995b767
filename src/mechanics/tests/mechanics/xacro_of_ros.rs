//! Expressions and elements of xacro compared with the ROS package, and their limits.

use std::collections::BTreeMap;

use legwork_mechanics::{Expanded, XacroError, XacroOptions, expand_xacro};
use serde_json::Value;

/// The files, and the version that made them, are named in it.
const TABLE: &str = include_str!("ros_xacro.json");

fn expand(body: &str, yaml: &str) -> Result<Expanded, XacroError> {
    let text = format!(
        "<robot name=\"r\" xmlns:xacro=\"x\"><xacro:arg name=\"m\" default=\"2\"/>{body}</robot>"
    );
    let read = |name: &str, _: &str| match name.trim_start_matches("./") {
        "d.yaml" => Ok((name.to_owned(), yaml.to_owned())),
        _ => Err(format!("no file `{name}`")),
    };
    let arguments = BTreeMap::new();
    let options = XacroOptions { file: "main.xacro", arguments: &arguments, read: &read };
    expand_xacro(&text, &options)
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&#10;", "\n").replace("&amp;", "&")
}

/// Attributes `v` of the elements `<a>`.
fn values(body: &str, yaml: &str) -> Result<Vec<String>, String> {
    let expanded = expand(body, yaml).map_err(|error| error.to_string())?;
    let lines = expanded.text.lines().filter_map(|line| line.strip_prefix("<a v=\""));
    Ok(lines.filter_map(|line| Some(unescaped(line.rsplit_once('"')?.0))).collect())
}

#[test]
fn expressions_and_elements_are_those_of_ros() {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let yaml = table["yaml"].as_str().unwrap();
    let mut count = 0;
    for row in table["expressions"].as_array().unwrap() {
        let expression = row[0].as_str().unwrap();
        let escaped = expression.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let found = values(&format!("<a v=\"${{{escaped}}}\"/>"), yaml);
        match row[1].as_str() {
            Some(expected) => assert_eq!(found, Ok(vec![expected.to_owned()]), "{expression}"),
            None => assert!(found.is_err(), "{expression}: {found:?}"),
        }
        count += 1;
    }
    for row in table["files"].as_array().unwrap() {
        let body = row[0].as_str().unwrap();
        let expected: Vec<String> =
            row[1].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        assert_eq!(values(body, yaml), Ok(expected), "{body}");
        count += 1;
    }
    assert!(count > 150, "{count}");
}

/// A file that is missing is another error than a name that is wrong.
#[test]
fn a_file_that_is_missing_is_another_mistake_than_a_name() {
    for (body, is_unread) in [
        ("<xacro:include filename=\"no.xacro\"/>", true),
        ("<a v=\"${xacro.load_yaml('no.yaml')}\"/>", true),
        ("<a v=\"${oops}\"/>", false),
        ("<xacro:include filename=\"no.xacro\" optional=\"true\"/><a v=\"${oops}\"/>", false),
        ("<a v=\"${xacro.load_yaml('d.yaml').oops}\"/>", false),
    ] {
        let error = expand(body, "a: 1").unwrap_err();
        assert_eq!(error.is_unread, is_unread, "{body}: {error}");
    }
}

/// An expression of quadratic length, or one that calls itself, ends with an error.
#[test]
fn expressions_and_files_of_yaml_have_a_bound() {
    let entries = |k: usize| format!("k{k}: 1, ");
    let base: String = (0..5000).map(entries).collect();
    let merged: String = (0..10_000).map(|k| format!("m{k}: {{<<: *b}}\n")).collect();
    let listed = format!("b: &b {{{base}}}\nm: {{<<: [{}]}}\n", "*b, ".repeat(20_000));
    let numbers: String = (0..60_000).map(|k| format!("{k}: 1, ")).collect();
    let load = "<a v=\"${len(xacro.load_yaml('d.yaml'))}\"/>";
    for (body, yaml) in [
        (load, format!("b: &b {{{base}}}\n{merged}")),
        (load, listed),
        (load, format!("{{{numbers}}}")),
        ("<a v=\"${[[x for x in range(60000)] for y in range(60000)]}\"/>", String::new()),
        ("<a v=\"${[x for x in range(60000) for y in range(60000) if False]}\"/>", String::new()),
        ("<a v=\"${python.sum(map(lambda x: [0]*60000, range(60000)), [])}\"/>", String::new()),
        ("<a v=\"${python.set(range(60000))}\"/>", String::new()),
        ("<a v=\"${[1]*10**9}\"/>", String::new()),
        ("<a v=\"${1 &lt;&lt; 100}\"/>", String::new()),
        ("<a v=\"${'x'.ljust(10**12)}\"/>", String::new()),
        ("<a v=\"${math.factorial(10**15)}\"/>", String::new()),
        (
            "<xacro:property name=\"f\" value=\"${lambda n: f(n-1) + f(n-2)}\"/><a v=\"${f(9)}\"/>",
            String::new(),
        ),
        (
            "<xacro:property name=\"f\" value=\"${lambda n: 1 if n == 0 else f(n-1) + f(n-1)}\"/>\
             <a v=\"${f(60)}\"/>",
            String::new(),
        ),
    ] {
        let found = expand(body, &yaml).map(|expanded| expanded.text.len());
        assert!(found.is_err(), "{body}: {found:?}");
    }
    // A file with this many merged entries is read.
    let some: String = (0..200).map(|k| format!("m{k}: {{<<: *b, own: {k}}}\n")).collect();
    let yaml = format!("b: &b {{p: 1, q: 2, r: 3}}\n{some}");
    let found = values("<a v=\"${xacro.load_yaml('d.yaml').m7.q}\"/>", &yaml);
    assert_eq!(found, Ok(vec!["2".to_owned()]));
}
