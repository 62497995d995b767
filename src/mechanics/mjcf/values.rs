//! Attributes → values: numbers, keywords, defaults by class.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::source::{Attribute, Document, Element};
use super::tree::Compiler;
use crate::manifold::quaternion_to_rotation;

/// Most top-level `<default>` elements, whose classes are searched one after the other.
const MAX_DEFAULT_SECTIONS: usize = 64;

/// Deepest nesting of `<default>`.
const MAX_DEFAULT_DEPTH: usize = 64;

/// Most elements of one kind in a class: the kinds of actuators.
const MAX_OF_A_KIND: usize = 4;

/// A class of defaults: what it sets itself, and where to look for the rest.
struct Class {
    parent: Option<usize>,
    /// By kind of element, the elements that set attributes.
    elements: BTreeMap<&'static str, Vec<usize>>,
}

/// All classes of defaults.
pub(super) struct Defaults {
    classes: Vec<Class>,
    by_name: BTreeMap<String, usize>,
    /// The one that holds where no class is named.
    pub(super) main: usize,
}

/// Kinds of actuators share one set of defaults.
fn kind_of(element: &str) -> Option<&'static str> {
    Some(match element {
        "joint" => "joint",
        "geom" => "geom",
        "site" => "site",
        "mesh" => "mesh",
        "general" | "motor" | "position" | "velocity" => "actuator",
        _ => return None,
    })
}

impl Defaults {
    pub(super) fn read(document: &mut Document) -> Self {
        let empty = Class { parent: None, elements: BTreeMap::new() };
        let mut defaults = Self { classes: vec![empty], by_name: BTreeMap::new(), main: 0 };
        let sections: Vec<usize> = children_of(document, 0, "default").collect();
        if let Some(&section) = sections.get(MAX_DEFAULT_SECTIONS) {
            let place = document.elements[section].place;
            document.error(place, format!("more than {MAX_DEFAULT_SECTIONS} <default> sections"));
            return defaults;
        }
        for section in sections {
            // A section adds to the main class; classes of earlier sections keep what they had.
            let mut waiting = vec![(section, defaults.main, 0)];
            while let Some((index, parent, depth)) = waiting.pop() {
                let class = defaults.add(document, index, parent, depth == 0);
                if depth == 0 {
                    defaults.main = class;
                }
                let nested: Vec<usize> = children_of(document, index, "default").collect();
                if depth == MAX_DEFAULT_DEPTH && !nested.is_empty() {
                    let place = document.elements[index].place;
                    let problem = format!("<default> nested deeper than {MAX_DEFAULT_DEPTH}");
                    document.error(place, problem);
                    continue;
                }
                waiting.extend(nested.into_iter().rev().map(|child| (child, class, depth + 1)));
            }
        }
        let main = defaults.main;
        defaults.by_name.insert("main".to_owned(), main);
        defaults
    }

    fn add(&mut self, document: &mut Document, index: usize, parent: usize, top: bool) -> usize {
        let class = self.classes.len();
        let mut elements: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
        for &child in &document.elements[index].children {
            if let Some(kind) = kind_of(&document.elements[child].name) {
                elements.entry(kind).or_default().push(child);
            }
        }
        if let Some(many) = elements.values().find(|list| list.len() > MAX_OF_A_KIND) {
            let place = document.elements[many[MAX_OF_A_KIND]].place;
            document.error(place, "this kind of element has its defaults here already");
            return parent;
        }
        self.classes.push(Class { parent: Some(parent), elements });
        let element = &document.elements[index];
        let name = element.attribute("class").map(|name| (name.value.clone(), name.value_place));
        match name {
            None if top => {}
            None => {
                let place = element.place;
                document.error(place, "<default>: expected `class` of a class inside another");
            }
            Some((name, place)) if self.by_name.contains_key(&name) || (name == "main" && !top) => {
                document.error(place, format!("a class `{name}` exists already"));
            }
            // The name of the main class may be any; `main` always means it.
            Some((name, _)) if name == "main" => {}
            Some((name, _)) => {
                self.by_name.insert(name, class);
            }
        }
        class
    }

    /// The class of this name.
    pub(super) fn find(&self, document: &mut Document, name: &Attribute) -> Option<usize> {
        let found = self.by_name.get(&name.value).copied();
        if found.is_none() {
            let known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            let problem = format!("no <default> has the class `{}`", name.value);
            match crate::names::nearest(&name.value, known.iter()) {
                Some(near) => {
                    let hint = format!("did you mean `{near}`?");
                    document.error_with_hint(name.value_place, problem, hint);
                }
                None => document.error(name.value_place, problem),
            }
        }
        found
    }

    /// The attribute of an element of this class that does not set it itself.
    fn attribute<'a>(
        &self,
        document: &'a Document,
        class: usize,
        kind: &str,
        name: &str,
    ) -> Option<&'a Attribute> {
        let mut at = Some(class);
        while let Some(class) = at {
            let class = &self.classes[class];
            let elements = class.elements.get(kind).into_iter().flatten().rev();
            let found = elements.filter_map(|&e| document.elements[e].attribute(name)).next();
            if found.is_some() {
                return found;
            }
            at = class.parent;
        }
        None
    }
}

/// Children of a name.
pub(super) fn children_of<'a>(
    document: &'a Document,
    parent: usize,
    name: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let children = document.elements[parent].children.iter().copied();
    children.filter(move |&child| document.elements[child].name == name)
}

/// An element with its defaults, and where errors go.
pub(super) struct Node<'a> {
    pub(super) document: &'a mut Document,
    pub(super) defaults: &'a Defaults,
    pub(super) element: usize,
    /// `None` for elements that have no defaults.
    pub(super) class: Option<usize>,
}

impl Node<'_> {
    pub(super) fn element(&self) -> &Element {
        &self.document.elements[self.element]
    }

    fn own(&self, name: &str) -> Option<&Attribute> {
        self.element().attribute(name)
    }

    fn find(&self, name: &str) -> Option<&Attribute> {
        if let Some(own) = self.own(name) {
            return Some(own);
        }
        let (class, kind) = (self.class?, kind_of(&self.element().name)?);
        self.defaults.attribute(self.document, class, kind, name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(super) fn has_own(&self, name: &str) -> bool {
        self.own(name).is_some()
    }

    pub(super) fn error(&mut self, problem: impl Into<String>) {
        let place = self.element().place;
        let problem = format!("<{}>: {}", self.element().name, problem.into());
        self.document.error(place, problem);
    }

    /// At the value of an attribute.
    fn error_at(&mut self, name: &str, expected: &str) {
        let Some(found) = self.find(name) else { return };
        let (place, value) = (found.value_place, shortened(&found.value));
        self.document.error(place, format!("`{name}`: expected {expected}, found `{value}`"));
    }

    /// Text as it is; empty if there is none.
    pub(super) fn text(&self, name: &str) -> String {
        self.find(name).map_or_else(String::new, |attribute| attribute.value.clone())
    }

    /// One of these words.
    pub(super) fn word(&mut self, name: &str, words: &[&str], default: &str) -> String {
        let Some(found) = self.find(name) else { return default.to_owned() };
        let value = found.value.trim().to_owned();
        if words.contains(&value.as_str()) {
            return value;
        }
        self.error_at(name, &format!("one of {}", words.join(", ")));
        default.to_owned()
    }

    pub(super) fn truth(&mut self, name: &str, default: bool) -> bool {
        self.word(name, &["true", "false"], if default { "true" } else { "false" }) == "true"
    }

    /// Between `least` and `most` numbers; `None` if there is no such attribute, or a wrong one,
    /// which is told.
    pub(super) fn list(&mut self, name: &str, least: usize, most: usize) -> Option<Vec<f64>> {
        let found = self.find(name)?;
        let words = found.value.split_whitespace();
        let values: Option<Vec<f64>> =
            words.map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite())).collect();
        if let Some(values) = values
            && (least..=most).contains(&values.len())
        {
            return Some(values);
        }
        let expected = match (least, most) {
            (1, 1) => "a finite number".to_owned(),
            (_, usize::MAX) => "finite numbers".to_owned(),
            _ if least == most => format!("{least} finite numbers"),
            _ => format!("{least} to {most} finite numbers"),
        };
        self.error_at(name, &expected);
        None
    }

    pub(super) fn numbers<const N: usize>(&mut self, name: &str) -> Option<[f64; N]> {
        self.list(name, N, N)?.try_into().ok()
    }

    pub(super) fn number(&mut self, name: &str, default: f64) -> f64 {
        self.numbers(name).map_or(default, |[value]| value)
    }

    /// A number not below zero.
    pub(super) fn amount(&mut self, name: &str, default: f64) -> f64 {
        let value = self.number(name, default);
        if value < 0.0 {
            self.error_at(name, "a number not below zero");
            return default;
        }
        value
    }

    /// A whole number from 0 to 2³² − 1; negative ones are taken by their bits, as masks are.
    pub(super) fn whole(&mut self, name: &str, default: u32) -> u32 {
        let value = self.number(name, f64::from(default));
        if value.fract() != 0.0 || value < f64::from(i32::MIN) || value > f64::from(u32::MAX) {
            self.error_at(name, "a whole number");
            return default;
        }
        if value < 0.0 { (value as i32).cast_unsigned() } else { value as u32 }
    }

    pub(super) fn vector(&mut self, name: &str, default: Vector3<f64>) -> Vector3<f64> {
        self.numbers(name).map_or(default, Vector3::from)
    }

    /// A range that acts if `limited` says so, or on its own if ranges do.
    pub(super) fn range(
        &mut self,
        name: &str,
        limited: &str,
        auto_limits: bool,
    ) -> Option<[f64; 2]> {
        let limited = self.word(limited, &["true", "false", "auto"], "auto");
        let stated: Option<[f64; 2]> = self.numbers(name);
        let acts = match limited.as_str() {
            "true" => true,
            "false" => return None,
            _ => stated.is_some_and(|range| range != [0.0, 0.0]),
        };
        if !acts {
            return None;
        }
        if limited == "auto" && !auto_limits {
            self.error(format!(
                "`{name}` needs `limited`, since the compiler's `autolimits` is false"
            ));
            return None;
        }
        let Some(range) = stated else {
            self.error(format!("expected `{name}` of what is limited"));
            return None;
        };
        Some(range)
    }

    /// The orientation, in the first of its forms that the element itself or its defaults have.
    pub(super) fn orientation(&mut self, compiler: &Compiler) -> Matrix3<f64> {
        const FORMS: [&str; 5] = ["axisangle", "xyaxes", "zaxis", "euler", "quat"];
        // What the element says itself goes before what its class says in another form.
        let own = FORMS.iter().copied().find(|form| self.own(form).is_some());
        let form = own.or_else(|| FORMS.iter().copied().find(|form| self.has(form)));
        let Some(form) = form else { return Matrix3::identity() };
        let turn = match form {
            "quat" => self.numbers(form).and_then(rotation_of_quaternion),
            "euler" => self
                .numbers(form)
                .map(|angles| rotation_of_euler(angles.map(|a| angle(compiler, a)), compiler)),
            "axisangle" => self.numbers(form).and_then(|[x, y, z, turn]| {
                Some(rotation_about(unit(Vector3::new(x, y, z))?, angle(compiler, turn)))
            }),
            "zaxis" => self.numbers(form).and_then(|axis| rotation_to(Vector3::from(axis))),
            _ => self.numbers(form).and_then(|[a, b, c, d, e, f]| {
                rotation_of_axes(Vector3::new(a, b, c), Vector3::new(d, e, f))
            }),
        };
        if turn.is_none() && self.list(form, 1, 6).is_some() {
            self.error_at(form, "an orientation, with axes and quaternions that are not zero");
        }
        turn.unwrap_or_else(Matrix3::identity)
    }
}

/// At most so much of a text that an error shows it well.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// In radians.
pub(super) fn angle(compiler: &Compiler, value: f64) -> f64 {
    if compiler.degree { value / 180.0 * std::f64::consts::PI } else { value }
}

/// At unit length; `None` of a vector that is nearly zero.
pub(super) fn unit(vector: Vector3<f64>) -> Option<Vector3<f64>> {
    let largest = vector.amax();
    // MuJoCo's smallest length.
    if largest < 1e-14 {
        return None;
    }
    let scaled = vector / largest;
    Some(scaled / scaled.norm())
}

pub(super) fn rotation_of_quaternion(quaternion: [f64; 4]) -> Option<Matrix3<f64>> {
    let largest = quaternion.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return None;
    }
    let scaled = quaternion.map(|part| part / largest);
    let length = scaled.iter().map(|part| part * part).sum::<f64>().sqrt();
    Some(quaternion_to_rotation(scaled.map(|part| part / length)))
}

/// Rodrigues' formula; `axis` has unit length.
pub(super) fn rotation_about(axis: Vector3<f64>, angle: f64) -> Matrix3<f64> {
    let (sin, cos) = libm::sincos(angle);
    let cross = axis.cross_matrix();
    Matrix3::identity() + sin * cross + (1.0 - cos) * cross * cross
}

/// Lower case turns about the axes that move, upper case about those of the parent.
pub(super) fn rotation_of_euler(angles: [f64; 3], compiler: &Compiler) -> Matrix3<f64> {
    let mut rotation = Matrix3::identity();
    for (angle, axis) in angles.into_iter().zip(compiler.sequence) {
        let along = match axis.to_ascii_lowercase() {
            b'x' => Vector3::x(),
            b'y' => Vector3::y(),
            _ => Vector3::z(),
        };
        let turn = rotation_about(along, angle);
        rotation = if axis.is_ascii_lowercase() { rotation * turn } else { turn * rotation };
    }
    rotation
}

/// The shortest rotation of the z axis to `axis`; by half a turn about x where there are many.
pub(super) fn rotation_to(axis: Vector3<f64>) -> Option<Matrix3<f64>> {
    let axis = unit(axis)?;
    let cross = Vector3::z().cross(&axis);
    let sine = cross.norm();
    let about = if sine < 1e-10 { Vector3::x() } else { cross / sine };
    Some(rotation_about(about, libm::atan2(sine, axis.z)))
}

/// The x axis, and the y axis where it is normal to it.
fn rotation_of_axes(x: Vector3<f64>, y: Vector3<f64>) -> Option<Matrix3<f64>> {
    let x = unit(x)?;
    let y = unit(y - x * x.dot(&y))?;
    Some(Matrix3::from_columns(&[x, y, x.cross(&y)]))
}
