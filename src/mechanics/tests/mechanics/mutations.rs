//! A hundred thousand damaged robot files: any answer will do, a panic or a hang will not.
//!
//! What is read all the same goes through kinematics, mass matrix and its factor, which must not
//! panic either, whatever the numbers say.

use legwork_mechanics::{
    Base, Kinematics, MassFactor, MassMatrix, MimicJoints, Model, Options, UrdfError, mass_matrix,
};

use crate::random::{Recipe, Rng, Shape, random_tree};
use crate::reference::urdf;

/// Longest text that is tried [bytes]: bounds the work of every round.
const LONGEST: usize = 200_000;

/// Numbers that no mechanism has, and texts that are not numbers.
const NUMBERS: [&str; 24] = [
    "1e308",
    "-1e308",
    "1e-308",
    "1e-320",
    "-1e-320",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "infinity",
    "",
    " ",
    "0",
    "-0",
    "-1",
    "1e999",
    "1e-999",
    "0x10",
    "1,5",
    "1.5.2",
    "+-3",
    "١٢",
    "1e99999999999999999999",
    "9999999999999999999999999999999999999999999999999999999999999999999999999999999999",
];

const JUNK: [&str; 24] = [
    "<",
    ">",
    "\"",
    "'",
    "/",
    "=",
    "&",
    ";",
    "!",
    "-->",
    "<!--",
    "]]>",
    "<![CDATA[",
    "<?",
    "\0",
    "\u{7f}",
    "\n",
    " ",
    "é",
    "\u{feff}",
    "\u{202e}",
    "🤖",
    "&#x10ffff;",
    "&amp;",
];

const TYPES: [&str; 8] =
    ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "screw"];

/// What became of a hundred thousand texts.
#[derive(Debug, Default)]
struct Outcomes {
    /// Read, and the mass matrix has a factor.
    sound: usize,
    /// Read, but the mass matrix is singular or not a number.
    singular: usize,
    /// Not XML.
    xml: usize,
    /// An element or attribute is missing or doubled.
    schema: usize,
    /// A number is invalid or out of range.
    number: usize,
    /// Names, ends of joints, mimic joints.
    structure: usize,
    other: usize,
}

impl Outcomes {
    fn total(&self) -> usize {
        let Self { sound, singular, xml, schema, number, structure, other } = self;
        sound + singular + xml + schema + number + structure + other
    }

    fn try_text(&mut self, text: &str, options: &Options) {
        assert!(text.len() < LONGEST, "{} bytes", text.len());
        let counter = match Model::from_urdf_text(text, options) {
            Ok((model, warnings)) => {
                for warning in warnings {
                    assert!(!warning.to_string().is_empty());
                }
                match simulate(&model) {
                    true => &mut self.sound,
                    false => &mut self.singular,
                }
            }
            Err(error) => {
                let lines = text.lines().count() + 1;
                let line = error.line().unwrap_or(1);
                assert!((1..=lines).contains(&line), "{error}: line {line} of {lines}");
                assert!(!error.to_string().is_empty());
                match error {
                    UrdfError::Xml { .. } => &mut self.xml,
                    UrdfError::Schema { .. } => &mut self.schema,
                    UrdfError::Number { .. } => &mut self.number,
                    UrdfError::DuplicateName { .. }
                    | UrdfError::UnknownLink { .. }
                    | UrdfError::TwoParents { .. }
                    | UrdfError::Cycle { .. }
                    | UrdfError::NoLinks
                    | UrdfError::MimicCycle { .. } => &mut self.structure,
                    _ => &mut self.other,
                }
            }
        };
        *counter += 1;
    }
}

/// Whether the mass matrix of the zero configuration has a factor.
fn simulate(model: &Model) -> bool {
    let mut kinematics = Kinematics::new(model);
    let still = vec![0.0; model.velocity_dim()];
    kinematics.update(model, &model.zero_configuration(), &still);
    let mut mass = MassMatrix::new(model);
    mass_matrix(model, &kinematics, &mut mass);
    MassFactor::new(model).factorize(&mass).is_ok()
}

/// A place in `text` at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn anywhere(rng: &mut Rng, text: &str) -> usize {
    boundary(text, rng.below(text.len() + 1))
}

/// One of the stretches of `text` from `open` to the next `close`, looked for from a random place.
fn stretch(rng: &mut Rng, text: &str, open: &str, close: &str) -> Option<(usize, usize)> {
    let from = anywhere(rng, text);
    let start = from + text[from..].find(open)?;
    let inside = start + open.len();
    Some((start, inside + text[inside..].find(close)? + close.len()))
}

/// A quoted value, without its quotes.
fn value(rng: &mut Rng, text: &str) -> Option<(usize, usize)> {
    let (start, end) = stretch(rng, text, "=\"", "\"")?;
    Some((start + 2, end - 1))
}

/// One damage; `None` if the text has no place for it.
fn mutate(rng: &mut Rng, text: &str) -> Option<String> {
    let replaced =
        |(start, end): (usize, usize), by: &str| format!("{}{by}{}", &text[..start], &text[end..]);
    let pick = |rng: &mut Rng, from: &[&'static str]| from[rng.below(from.len())];
    // Most mutations keep the XML well formed, so that they reach the stages after its parser.
    let kind = if rng.chance(0.2) { rng.below(5) } else { 5 + rng.below(11) };
    Some(match kind {
        // Bytes.
        0 => {
            let mut bytes = text.as_bytes().to_vec();
            let at = rng.below(bytes.len().max(1));
            *bytes.get_mut(at)? ^= 1 << rng.below(8);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => {
            let at = anywhere(rng, text);
            let end = boundary(text, at + rng.below(60));
            replaced((at, end.max(at)), "")
        }
        2 => {
            let at = anywhere(rng, text);
            replaced((at, at), pick(rng, &JUNK))
        }
        3 => {
            let (from, to) = (anywhere(rng, text), anywhere(rng, text));
            let end = boundary(text, from + rng.below(200)).max(from);
            replaced((to, to), &text[from..end])
        }
        4 => text[..anywhere(rng, text)].to_owned(),
        // Values.
        5 | 6 => replaced(value(rng, text)?, pick(rng, &NUMBERS)),
        7 | 8 => {
            // One number of several, so that their count stays right.
            let (start, end) = value(rng, text)?;
            let mut words: Vec<&str> = text[start..end].split(' ').collect();
            let at = rng.below(words.len());
            words[at] = pick(rng, &NUMBERS);
            replaced((start, end), &words.join(" "))
        }
        9 => {
            let (a, b) = (value(rng, text)?, value(rng, text)?);
            let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
            if a.1 > b.0 {
                return None;
            }
            let [left, right] = [a, b].map(|(start, end)| &text[start..end]);
            let between = &text[a.1..b.0];
            format!("{}{right}{between}{left}{}", &text[..a.0], &text[b.1..])
        }
        // Attributes and elements.
        10 => {
            let (start, end) = stretch(rng, text, " ", "=\"")?;
            replaced((start, end), " ")
        }
        11 => {
            let (start, end) = stretch(rng, text, "type=\"", "\"")?;
            replaced((start, end), &format!("type=\"{}\"", pick(rng, &TYPES)))
        }
        12 => {
            let name = pick(rng, &["joint", "link", "inertial", "collision"]);
            let (start, end) = stretch(rng, text, &format!("<{name} "), &format!("</{name}>"))?;
            let to = if rng.chance(0.5) { start } else { stretch(rng, text, "<", ">")?.0 };
            replaced((to, to), &text[start..end])
        }
        13 => {
            let (start, end) = stretch(rng, text, "<", "/>")?;
            replaced((start, end), "")
        }
        14 => {
            let end = stretch(rng, text, "<joint", ">")?.1;
            let tail = text[end..].find("</joint>")? + end;
            let other = format!("j{}", rng.below(8));
            let mimic = format!(
                "<mimic joint=\"{other}\" multiplier=\"{}\" offset=\"{}\"/>",
                pick(rng, &["1", "-2", "0", "1e200", "x"]),
                pick(rng, &["0", "1", "-1e308"])
            );
            replaced((tail, tail), &mimic)
        }
        // Nesting.
        _ => {
            let depth = [3, 10, 40, 70, 2000][rng.below(5)];
            let at = stretch(rng, text, "<", ">")?.1;
            let close = if rng.chance(0.9) { "</a>" } else { "" };
            let nest = format!("{}{}", "<a>".repeat(depth), close.repeat(depth));
            replaced((at, at), &nest)
        }
    })
}

/// Tries `rounds` texts with one to three damages each.
fn damage(seed: u64, rounds: usize, text: impl Fn(usize) -> String) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let mut copy = text(round);
        for _ in 0..[1, 1, 1, 2, 3][rng.below(5)] {
            copy = mutate(&mut rng, &copy).unwrap_or(copy);
        }
        let mut options = Options::new([Base::Floating, Base::Fixed][rng.below(2)]);
        if rng.chance(0.1) {
            options.mimic = MimicJoints::Independent;
        }
        outcomes.try_text(&copy, &options);
    }
    assert_eq!(outcomes.total(), rounds);
    outcomes
}

/// Joints that hang together in all ways, on few bytes.
const SMALL: [&str; 3] = [
    r#"<robot name="hand" version="1.1">
  <link name="palm"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0 0.1" rpy="0 0 1"/><mass value="0.1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j1" type="prismatic"><parent link="palm"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="100" velocity="0.2"/></joint>
  <joint name="j2" type="prismatic"><origin quat_xyzw="0 0 1 0"/><parent link="palm"/>
    <child link="right"/><axis xyz="0 1 0"/><mimic joint="j1"/></joint>
</robot>"#,
    r#"<robot name="free">
  <link name="world"/>
  <link name="body"><inertial><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0.01" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision></link>
  <link name="tail"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry></collision></link>
  <joint name="j1" type="floating"><parent link="world"/><child link="body"/></joint>
  <joint name="j2" type="spherical"><parent link="body"/><child link="tail"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/></joint>
</robot>"#,
    r#"<?xml version="1.0"?><!-- a crane --><robot name="crane">
  <material name="grey"><color rgba="1 1 1 1"/></material>
  <link name="cart"><inertial><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hook"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="base"/>
  <joint name="j2" type="revolute"><parent link="cart"/><child link="hook"/>
    <axis xyz="0 1 0.5"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
    <dynamics damping="0.1" friction="0"/></joint>
  <joint name="j1" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 1 0"/></joint>
  <transmission name="t"><type>x</type></transmission>
</robot>"#,
];

/// Every outcome occurs often enough that the tests say something of it.
fn assert_varied(outcomes: &Outcomes, least: [f64; 6]) {
    let Outcomes { sound, singular, xml, schema, number, structure, .. } = *outcomes;
    let found = [sound, singular, xml, schema, number, structure];
    for (count, least) in found.into_iter().zip(least) {
        assert!(count as f64 >= least * outcomes.total() as f64, "{outcomes:?}");
    }
}

#[test]
fn damaged_small_robots() {
    let outcomes = damage(1, 60_000, |round| SMALL[round % SMALL.len()].to_owned());
    assert_varied(&outcomes, [0.1, 0.05, 0.1, 0.05, 0.1, 0.05]);
}

#[test]
fn damaged_random_robots() {
    let text = |seed| {
        let joints = 1 + seed as usize % 5;
        let recipe = Recipe { seed, joints, shape: Shape::Mixed, many_freedoms: 0.3, mimics: 0.3 };
        random_tree(&recipe).text
    };
    let texts: Vec<String> = (0..200).map(text).collect();
    let outcomes = damage(2, 35_000, |round| texts[round % texts.len()].clone());
    // Few damages leave such a robot whole and its mass matrix singular.
    assert_varied(&outcomes, [0.1, 0.005, 0.1, 0.05, 0.1, 0.02]);
}

#[test]
fn damaged_published_robots() {
    let texts = ["mini_cheetah", "panda", "solo12"].map(urdf);
    let outcomes = damage(3, 5_000, |round| texts[round % texts.len()].clone());
    assert_varied(&outcomes, [0.1, 0.005, 0.1, 0.05, 0.1, 0.02]);
}
