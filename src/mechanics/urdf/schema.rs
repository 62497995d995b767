//! Which elements and attributes describe the mechanism, and what they may hold.
//!
//! Everything in the tables is checked and copied into a canonical text; everything else is
//! dropped, so that the typed reader meets nothing but well-formed values.

use super::error::UrdfError;
use super::version::{Version, roll_pitch_yaw};
use super::xml::Element;

/// The checked text, and the lines of links and joints in the original.
pub(super) struct Canonical {
    pub(super) text: String,
    pub(super) lines: Lines,
}

/// Line of each link and joint, in file order, and what else the typed values do not keep.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) links: Vec<usize>,
    pub(super) joints: Vec<usize>,
    /// Whether each joint states a `<limit>`, which the typed values cannot tell.
    pub(super) limited: Vec<bool>,
}

/// How often an element may occur in its parent.
#[derive(Clone, Copy, PartialEq)]
enum Count {
    One,
    Optional,
    Many,
}

/// What the numbers of an attribute may be.
#[derive(Clone, Copy, PartialEq)]
enum Range {
    /// Finite.
    Finite,
    /// Finite, not below zero.
    NotNegative,
    /// Not below zero, may be infinite.
    Limit,
    /// May be infinite.
    Bound,
}

/// A numeric attribute.
struct Numbers {
    name: &'static str,
    count: usize,
    range: Range,
    required: bool,
}

const fn required(name: &'static str, count: usize, range: Range) -> Numbers {
    Numbers { name, count, range, required: true }
}

const fn optional(name: &'static str, count: usize, range: Range) -> Numbers {
    Numbers { name, count, range, required: false }
}

/// What an element may hold.
struct Rule {
    name: &'static str,
    /// Text attributes, and whether they are required.
    texts: &'static [(&'static str, bool)],
    numbers: &'static [Numbers],
    children: &'static [(&'static str, Count)],
}

const SHAPES: &[(&str, Count)] = &[
    ("box", Count::Optional),
    ("cylinder", Count::Optional),
    ("sphere", Count::Optional),
    ("capsule", Count::Optional),
    ("mesh", Count::Optional),
];

/// Orientation of an `<origin>` that is converted before the typed reader sees it.
const QUATERNION: &str = "quat_xyzw";

const RULES: &[Rule] = &[
    Rule {
        name: "robot",
        texts: &[("name", false)],
        numbers: &[],
        children: &[("link", Count::Many), ("joint", Count::Many)],
    },
    Rule {
        name: "link",
        texts: &[("name", true)],
        numbers: &[],
        children: &[("inertial", Count::Optional), ("collision", Count::Many)],
    },
    Rule {
        name: "inertial",
        texts: &[],
        numbers: &[],
        children: &[("origin", Count::Optional), ("mass", Count::One), ("inertia", Count::One)],
    },
    Rule {
        name: "origin",
        texts: &[],
        numbers: &[
            optional("xyz", 3, Range::Finite),
            optional("rpy", 3, Range::Finite),
            optional(QUATERNION, 4, Range::Finite),
        ],
        children: &[],
    },
    Rule {
        name: "mass",
        texts: &[],
        numbers: &[required("value", 1, Range::NotNegative)],
        children: &[],
    },
    Rule {
        name: "inertia",
        texts: &[],
        numbers: &[
            required("ixx", 1, Range::Finite),
            required("ixy", 1, Range::Finite),
            required("ixz", 1, Range::Finite),
            required("iyy", 1, Range::Finite),
            required("iyz", 1, Range::Finite),
            required("izz", 1, Range::Finite),
        ],
        children: &[],
    },
    Rule {
        name: "collision",
        texts: &[("name", false)],
        numbers: &[],
        children: &[("origin", Count::Optional), ("geometry", Count::One)],
    },
    Rule { name: "geometry", texts: &[], numbers: &[], children: SHAPES },
    Rule {
        name: "box",
        texts: &[],
        numbers: &[required("size", 3, Range::NotNegative)],
        children: &[],
    },
    Rule {
        name: "cylinder",
        texts: &[],
        numbers: &[
            required("radius", 1, Range::NotNegative),
            required("length", 1, Range::NotNegative),
        ],
        children: &[],
    },
    Rule {
        name: "capsule",
        texts: &[],
        numbers: &[
            required("radius", 1, Range::NotNegative),
            required("length", 1, Range::NotNegative),
        ],
        children: &[],
    },
    Rule {
        name: "sphere",
        texts: &[],
        numbers: &[required("radius", 1, Range::NotNegative)],
        children: &[],
    },
    Rule {
        name: "mesh",
        texts: &[("filename", true)],
        numbers: &[optional("scale", 3, Range::Finite)],
        children: &[],
    },
    Rule {
        name: "joint",
        texts: &[("name", true), ("type", true)],
        numbers: &[],
        children: &[
            ("origin", Count::Optional),
            ("parent", Count::One),
            ("child", Count::One),
            ("axis", Count::Optional),
            ("limit", Count::Optional),
            ("dynamics", Count::Optional),
            ("mimic", Count::Optional),
        ],
    },
    Rule { name: "parent", texts: &[("link", true)], numbers: &[], children: &[] },
    Rule { name: "child", texts: &[("link", true)], numbers: &[], children: &[] },
    Rule { name: "axis", texts: &[], numbers: &[required("xyz", 3, Range::Finite)], children: &[] },
    Rule {
        name: "limit",
        texts: &[],
        numbers: &[
            optional("lower", 1, Range::Bound),
            optional("upper", 1, Range::Bound),
            optional("effort", 1, Range::Limit),
            optional("velocity", 1, Range::Limit),
        ],
        children: &[],
    },
    Rule {
        name: "dynamics",
        texts: &[],
        numbers: &[
            optional("damping", 1, Range::NotNegative),
            optional("friction", 1, Range::NotNegative),
        ],
        children: &[],
    },
    Rule {
        name: "mimic",
        texts: &[("joint", true)],
        numbers: &[optional("multiplier", 1, Range::Finite), optional("offset", 1, Range::Finite)],
        children: &[],
    },
];

const JOINT_TYPES: [&str; 7] =
    ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Checks the document and writes what describes the mechanism.
pub(super) fn canonical(elements: &[Element]) -> Result<Canonical, UrdfError> {
    let root = &elements[0];
    if root.name != "robot" {
        return Err(schema_error(root, format!("expected <robot>, found <{}>", root.name)));
    }
    let version = Version::new(root.attribute("version"));
    let mut out = Canonical { text: String::new(), lines: Lines::default() };
    write(elements, root, version, &mut out)?;
    Ok(out)
}

fn schema_error(element: &Element, problem: String) -> UrdfError {
    UrdfError::Schema { line: element.line, problem }
}

/// Writes an element that has a rule. The rules nest five deep, so the recursion ends.
fn write(
    elements: &[Element],
    element: &Element,
    version: Version,
    out: &mut Canonical,
) -> Result<(), UrdfError> {
    let Some(rule) = RULES.iter().find(|rule| rule.name == element.name) else {
        return Ok(());
    };
    match rule.name {
        "link" => out.lines.links.push(element.line),
        "joint" => {
            out.lines.joints.push(element.line);
            let limited = element.children.iter().any(|&child| elements[child].name == "limit");
            out.lines.limited.push(limited);
        }
        _ => {}
    }
    out.text.push('<');
    out.text.push_str(rule.name);
    write_texts(rule, element, &mut out.text)?;
    write_numbers(rule, element, version, &mut out.text)?;
    out.text.push('>');
    for &(name, count) in rule.children {
        let mut found = 0;
        for &child in &element.children {
            let child = &elements[child];
            if child.name != name {
                continue;
            }
            found += 1;
            if found > 1 && count != Count::Many {
                let problem = format!("a second <{name}> in <{}>", rule.name);
                return Err(schema_error(child, problem));
            }
            write(elements, child, version, out)?;
        }
        if found == 0 && count == Count::One {
            let problem = format!("<{}>{} has no <{name}>", rule.name, named(element));
            return Err(schema_error(element, problem));
        }
    }
    if rule.name == "geometry" {
        let shapes = element.children.iter().map(|&child| &elements[child].name);
        let count = shapes.filter(|name| SHAPES.iter().any(|(shape, _)| shape == name)).count();
        if count != 1 {
            let problem = format!(
                "expected one of box, cylinder, sphere, capsule, mesh in <geometry>, found {count}"
            );
            return Err(schema_error(element, problem));
        }
    }
    out.text.push_str("</");
    out.text.push_str(rule.name);
    out.text.push('>');
    Ok(())
}

fn write_texts(rule: &Rule, element: &Element, out: &mut String) -> Result<(), UrdfError> {
    for &(name, required) in rule.texts {
        match element.attribute(name) {
            Some(value) => {
                if required && value.trim().is_empty() {
                    let problem = format!("<{}> has an empty `{name}`", rule.name);
                    return Err(schema_error(element, problem));
                }
                if value.chars().any(char::is_control) {
                    let problem = format!("<{}>: control character in `{name}`", rule.name);
                    return Err(schema_error(element, problem));
                }
                if name == "type" && !JOINT_TYPES.contains(&value) {
                    let expected = JOINT_TYPES.join(", ");
                    let problem = format!("joint type: expected {expected}, found `{value}`");
                    return Err(schema_error(element, problem));
                }
                push_attribute(name, value, out);
            }
            None if required => {
                let problem = format!("<{}>{} has no `{name}`", rule.name, named(element));
                return Err(schema_error(element, problem));
            }
            None => {}
        }
    }
    Ok(())
}

fn write_numbers(
    rule: &Rule,
    element: &Element,
    version: Version,
    out: &mut String,
) -> Result<(), UrdfError> {
    for numbers in rule.numbers {
        match element.attribute(numbers.name) {
            Some(value) => {
                if !readable(value, numbers) {
                    return Err(number_error(rule, element, numbers, value));
                }
                if numbers.name == QUATERNION {
                    if version >= Version::V1_1 {
                        let angles = angles(rule, element, numbers, value)?;
                        push_attribute("rpy", &angles, out);
                    }
                    continue;
                }
                let words: Vec<&str> = value.split_whitespace().collect();
                push_attribute(numbers.name, &words.join(" "), out);
            }
            None if numbers.required => {
                let problem = format!("<{}> has no `{}`", rule.name, numbers.name);
                return Err(schema_error(element, problem));
            }
            None => {
                if let Some(default) = version.default_of(rule.name, numbers.name) {
                    push_attribute(numbers.name, default, out);
                }
            }
        }
    }
    Ok(())
}

/// The three angles that an `<origin>` states as a quaternion.
fn angles(
    rule: &Rule,
    element: &Element,
    numbers: &Numbers,
    value: &str,
) -> Result<String, UrdfError> {
    if element.attribute("rpy").is_some() {
        let problem = format!("<origin> has both `rpy` and `{QUATERNION}`");
        return Err(schema_error(element, problem));
    }
    let mut quaternion = [0.0; 4];
    for (part, word) in quaternion.iter_mut().zip(value.split_whitespace()) {
        *part = word.parse().unwrap_or(f64::NAN);
    }
    let [roll, pitch, yaw] =
        roll_pitch_yaw(quaternion).ok_or_else(|| number_error(rule, element, numbers, value))?;
    // The shortest text that reads back as the same number.
    Ok(format!("{roll:?} {pitch:?} {yaw:?}"))
}

fn number_error(rule: &Rule, element: &Element, numbers: &Numbers, value: &str) -> UrdfError {
    UrdfError::Number {
        line: element.line,
        element: rule.name.to_owned(),
        attribute: numbers.name.to_owned(),
        expected: description(numbers),
        found: value.to_owned(),
    }
}

fn readable(value: &str, numbers: &Numbers) -> bool {
    let mut count = 0;
    for word in value.split_whitespace() {
        let Ok(number) = word.parse::<f64>() else { return false };
        let inside = match numbers.range {
            Range::Finite => number.is_finite(),
            Range::NotNegative => number.is_finite() && number >= 0.0,
            Range::Limit => number >= 0.0,
            Range::Bound => !number.is_nan(),
        };
        if !inside {
            return false;
        }
        count += 1;
    }
    count == numbers.count
}

fn description(numbers: &Numbers) -> String {
    let what = match numbers.range {
        Range::Finite => "finite number",
        Range::NotNegative => "finite number not below zero",
        Range::Limit => "number not below zero",
        Range::Bound => "number",
    };
    match numbers.count {
        1 => format!("one {what}"),
        n if numbers.name == QUATERNION => format!("{n} times a {what}, not all zero"),
        n => format!("{n} times a {what}"),
    }
}

fn named(element: &Element) -> String {
    element.attribute("name").map_or_else(String::new, |name| format!(" `{name}`"))
}

fn push_attribute(name: &str, value: &str, out: &mut String) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out.push('"');
}
