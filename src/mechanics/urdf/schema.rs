//! Which elements and attributes describe the mechanism, and what they may hold.
//!
//! Everything in the tables is checked; everything else is listed as not used, whatever it
//! contains, but for what only shows a robot. What has passed reads without errors.

use std::collections::BTreeMap;

use urdf_rs::JointType;

use super::error::{NotUsed, UrdfError};
use super::version::{QUATERNION, Version, roll_pitch_yaw};
use super::xml::Element;

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

/// Types of joints by their names in a file.
const JOINT_TYPES: [(&str, JointType); 7] = [
    ("revolute", JointType::Revolute),
    ("continuous", JointType::Continuous),
    ("prismatic", JointType::Prismatic),
    ("fixed", JointType::Fixed),
    ("floating", JointType::Floating),
    ("planar", JointType::Planar),
    ("spherical", JointType::Spherical),
];

/// The type of a joint by its name.
pub(super) fn joint_type(name: &str) -> Option<JointType> {
    JOINT_TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind.clone())
}

/// Checks the document; gives its version.
pub(super) fn check(elements: &[Element]) -> Result<Version, UrdfError> {
    let root = &elements[0];
    if root.name != "robot" {
        return Err(schema_error(root, format!("expected <robot>, found <{}>", root.name)));
    }
    let version = Version::new(root.attribute("version"));
    check_element(elements, root, version)?;
    Ok(version)
}

/// What a robot is seen by, and what has no meaning by itself.
const SHOWN: [&str; 2] = ["visual", "material"];

/// The elements and attributes that nothing reads, by name in the order of the file. Of an element
/// that is not read, what it contains is not listed.
pub(super) fn not_used(elements: &[Element]) -> Vec<NotUsed> {
    let mut found: Vec<NotUsed> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |name: String, line: usize| match known.get(&name) {
        Some(&at) => found[at].count += 1,
        None => {
            known.insert(name.clone(), found.len());
            found.push(NotUsed { name, count: 1, line });
        }
    };
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let element = &elements[at];
        let Some(rule) = RULES.iter().find(|rule| rule.name == element.name) else { continue };
        for (key, _) in &element.attributes {
            let is_read = rule.texts.iter().any(|(name, _)| name == key)
                || rule.numbers.iter().any(|numbers| numbers.name == key)
                || (rule.name == "robot" && (key == "version" || key.starts_with("xmlns")))
                || key == "name";
            if !is_read {
                note(format!("`{key}` of <{}>", rule.name), element.line);
            }
        }
        for &child in &element.children {
            let name = elements[child].name.as_str();
            if !rule.children.iter().any(|(known, _)| *known == name) && !SHOWN.contains(&name) {
                note(format!("<{name}>"), elements[child].line);
            }
        }
        let read = |child: &&usize| {
            rule.children.iter().any(|(known, _)| *known == elements[**child].name)
        };
        open.extend(element.children.iter().rev().filter(read));
    }
    found
}

fn schema_error(element: &Element, problem: String) -> UrdfError {
    UrdfError::Schema { line: element.line, problem }
}

/// Checks a part of the file that is no reason to refuse it: what is wrong, if anything is.
pub(super) fn problem_of(
    elements: &[Element],
    element: &Element,
    version: Version,
) -> Option<(usize, String)> {
    match check_element(elements, element, version) {
        Err(UrdfError::Schema { line, problem }) => Some((line, problem)),
        Err(other) => Some((element.line, other.to_string())),
        Ok(()) => None,
    }
}

/// Checks an element that has a rule. The rules nest five deep, so the recursion ends.
fn check_element(
    elements: &[Element],
    element: &Element,
    version: Version,
) -> Result<(), UrdfError> {
    let Some(rule) = RULES.iter().find(|rule| rule.name == element.name) else {
        return Ok(());
    };
    check_texts(rule, element)?;
    check_numbers(rule, element, version)?;
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
            check_element(elements, child, version)?;
        }
        if found == 0 && count == Count::One {
            let problem = format!("<{}>{} has no <{name}>", rule.name, named(element));
            return Err(schema_error(element, problem));
        }
    }
    if rule.name == "geometry" {
        let shapes = element.children.iter().map(|&child| &elements[child].name);
        let count = shapes.filter(|name| SHAPES.iter().any(|(shape, _)| shape == name)).count();
        let plane = element.children.iter().map(|&child| &elements[child]);
        if let Some(plane) = plane.into_iter().find(|child| child.name == "plane") {
            let problem = "expected one of box, cylinder, sphere, capsule, mesh in <geometry>, \
                           found <plane>: links have no planes; the ground of a diagram is its section \
                           `ground:`, without that level at z = 0";
            return Err(schema_error(plane, problem.to_owned()));
        }
        if count != 1 {
            let problem = format!(
                "expected one of box, cylinder, sphere, capsule, mesh in <geometry>, found {count}"
            );
            return Err(schema_error(element, problem));
        }
    }
    Ok(())
}

fn check_texts(rule: &Rule, element: &Element) -> Result<(), UrdfError> {
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
                if name == "type" && joint_type(value).is_none() {
                    let expected = JOINT_TYPES.map(|(known, _)| known).join(", ");
                    let problem = format!("joint type: expected {expected}, found `{value}`");
                    return Err(schema_error(element, problem));
                }
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

fn check_numbers(rule: &Rule, element: &Element, version: Version) -> Result<(), UrdfError> {
    for numbers in rule.numbers {
        match element.attribute(numbers.name) {
            Some(value) => {
                if !readable(value, numbers) {
                    return Err(number_error(rule, element, numbers, value));
                }
                if numbers.name == QUATERNION && version >= Version::V1_1 {
                    check_quaternion(rule, element, numbers, value)?;
                }
            }
            None if numbers.required => {
                let problem = format!("<{}> has no `{}`", rule.name, numbers.name);
                return Err(schema_error(element, problem));
            }
            None => {}
        }
    }
    Ok(())
}

/// A quaternion in an `<origin>` is alone and is a rotation.
fn check_quaternion(
    rule: &Rule,
    element: &Element,
    numbers: &Numbers,
    value: &str,
) -> Result<(), UrdfError> {
    if element.attribute("rpy").is_some() {
        let problem = format!("<origin> has both `rpy` and `{QUATERNION}`");
        return Err(schema_error(element, problem));
    }
    let mut quaternion = [0.0; 4];
    for (part, word) in quaternion.iter_mut().zip(value.split_whitespace()) {
        *part = word.parse().unwrap_or(f64::NAN);
    }
    match roll_pitch_yaw(quaternion) {
        Some(_) => Ok(()),
        None => Err(number_error(rule, element, numbers, value)),
    }
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
