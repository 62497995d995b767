//! Which elements and attributes a model may have, and which of them are used.
//!
//! Names are those of MuJoCo's XML reference. What is known and not used is listed in one warning;
//! what is unknown is an error.

use std::collections::BTreeMap;

use super::source::{Document, Element, Place};
use crate::names::nearest;

/// What an element may hold. Attributes are separated by blanks.
struct Rule {
    /// Element and, after a blank, the elements that it may stand in; all sections stand in
    /// `mujoco`.
    name: &'static str,
    parents: &'static str,
    /// Attributes that are read.
    used: &'static str,
    /// Attributes that are known and not used.
    known: &'static str,
}

const fn rule(
    name: &'static str,
    parents: &'static str,
    used: &'static str,
    known: &'static str,
) -> Rule {
    Rule { name, parents, used, known }
}

/// Elements of one body; a frame and a replicate hold what a body holds.
const BODIES: &str = "worldbody body frame replicate";

const RULES: &[Rule] = &[
    rule("mujoco", "", "model", ""),
    rule(
        "compiler",
        "mujoco",
        "autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle \
         eulerseq meshdir assetdir discardvisual inertiafromgeom inertiagrouprange",
        "fitaabb texturedir alignfree conflict convexhull exactmeshinertia fusestatic usethread \
         saveinertial",
    ),
    rule("lengthrange", "compiler", "", "*"),
    rule(
        "option",
        "mujoco",
        "timestep gravity integrator",
        "impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance wind \
         magnetic density viscosity o_margin o_solref o_solimp o_friction cone jacobian solver \
         iterations ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints \
         actuatorgroupdisable collision apirate mpr_tolerance mpr_iterations",
    ),
    rule(
        "flag",
        "option",
        "gravity limit spring damper frictionloss passive",
        "constraint equality contact clampctrl warmstart filterparent actuation refsafe sensor \
         midphase eulerdamp autoreset nativeccd island multiccd override energy fwdinv \
         invdiscrete sleep diagexact sensornoise",
    ),
    rule("default", "mujoco default", "class", ""),
    rule("asset", "mujoco", "", ""),
    rule(
        "mesh",
        "asset default",
        "name class file vertex face refpos refquat scale inertia",
        "content_type normal texcoord smoothnormal maxhullvert builtin params material",
    ),
    rule("worldbody", "mujoco", "", ""),
    rule(
        "body",
        BODIES,
        "name childclass pos quat axisangle xyaxes zaxis euler",
        "mocap gravcomp sleep simple user",
    ),
    rule("frame", BODIES, "name childclass pos quat axisangle xyaxes zaxis euler", ""),
    rule("replicate", BODIES, "count sep offset euler childclass", ""),
    rule(
        "inertial",
        BODIES,
        "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia",
        "",
    ),
    rule(
        "joint",
        "body frame replicate default",
        "name class type pos axis limited actuatorfrclimited stiffness range actuatorfrcrange ref \
         springref armature damping frictionloss",
        "group springdamper solreflimit solimplimit solreffriction solimpfriction actuatorgravcomp \
         margin user",
    ),
    rule("freejoint", "body frame replicate", "name", "group align"),
    rule(
        "geom",
        "worldbody body frame replicate default",
        "name class type contype conaffinity condim group size friction mass density shellinertia \
         fromto pos quat axisangle xyaxes zaxis euler mesh rgba",
        "hfield priority material solmix solref solimp margin gap surfacevel adhesion fitscale \
         fluidshape fluidcoef user",
    ),
    rule(
        "site",
        "worldbody body frame replicate default",
        "name class pos quat axisangle xyaxes zaxis euler fromto",
        "type group material size rgba user",
    ),
    rule("contact", "mujoco", "", ""),
    rule(
        "pair",
        "contact default",
        "class geom1 geom2",
        "name condim friction solref solreffriction solimp gap margin adhesion",
    ),
    rule("exclude", "contact", "body1 body2", "name"),
    rule("equality", "mujoco", "", ""),
    rule(
        "connect",
        "equality",
        "name class active body1 body2 anchor site1 site2",
        "solref solimp",
    ),
    rule(
        "weld",
        "equality",
        "name class active body1 body2 relpose anchor site1 site2",
        "solref solimp torquescale",
    ),
    rule("joint", "equality", "name class active joint1 joint2 polycoef", "solref solimp"),
    rule("tendon", "mujoco", "", ""),
    rule(
        "fixed",
        "tendon",
        "name class",
        "group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit \
         solreffriction solimpfriction frictionloss springlength margin stiffness damping \
         armature user",
    ),
    rule("joint", "fixed", "joint coef", ""),
    rule("actuator", "mujoco", "", ""),
    rule("general", "actuator default", ACTUATOR, ACTUATOR_UNUSED),
    rule("motor", "actuator default", ACTUATOR, ACTUATOR_UNUSED),
    rule("position", "actuator default", ACTUATOR, ACTUATOR_UNUSED),
    rule("velocity", "actuator default", ACTUATOR, ACTUATOR_UNUSED),
    rule("keyframe", "mujoco", "", ""),
    rule("key", "keyframe", "name qpos qvel ctrl", "time act mpos mquat"),
];

const ACTUATOR: &str = "name class ctrlrange ctrllimited forcelimited forcerange gear joint tendon \
                        kp kv gaintype biastype gainprm biasprm";
/// `inheritrange` and what follows make the law one that is not taken, which the list names too.
const ACTUATOR_UNUSED: &str = "group nsample interp delay user lengthrange damping armature \
                               cranklength jointinparent slidersite cranksite site refsite body \
                               inheritrange actlimited actrange actdim input velrange ffrange \
                               dyntype dynprm actearly dampratio timeconst";

/// Elements that are known and not used, whatever they contain: element and its parents.
const NOT_USED: &[(&str, &str)] = &[
    ("size", "mujoco"),
    ("statistic", "mujoco"),
    ("visual", "mujoco"),
    ("extension", "mujoco"),
    ("custom", "mujoco"),
    ("deformable", "mujoco"),
    ("sensor", "mujoco"),
    ("lengthrange", "compiler"),
    ("material", "asset default"),
    ("texture", "asset"),
    ("hfield", "asset"),
    ("skin", "asset"),
    ("camera", "worldbody body frame replicate default"),
    ("light", "worldbody body frame replicate default"),
    ("equality", "default"),
    ("tendon", "default"),
    ("spatial", "tendon"),
    ("tendon", "equality"),
    ("flex", "equality"),
    ("flexvert", "equality"),
    ("flexstrain", "equality"),
    ("plugin", "geom mesh body worldbody actuator"),
    ("layer", "material"),
    ("intvelocity", "actuator default"),
    ("orientation", "actuator default"),
    ("pid", "actuator default"),
    ("damper", "actuator default"),
    ("cylinder", "actuator default"),
    ("muscle", "actuator default"),
    ("adhesion", "actuator default"),
    ("dcmotor", "actuator default"),
];

/// Elements that make bodies: without them the mechanism would be another one.
const REFUSED: &[(&str, &str)] = &[
    ("composite", "write its bodies out: save the compiled model with MuJoCo (mj_saveLastXML)"),
    ("flexcomp", "bodies that deform are not supported"),
    ("attach", "save the compiled model with MuJoCo (mj_saveLastXML), which writes all bodies"),
    ("model", "save the compiled model with MuJoCo (mj_saveLastXML), which writes all bodies"),
];

/// Most names in the warning of what is not used.
const MOST_NAMES: usize = 60;

/// Most unknown names after which the rest is not looked at.
const MOST_UNKNOWN: usize = 200;

/// Most elements of a kind that the warning names.
const MOST_NAMED: usize = 12;

/// What is known and not used, by its kind.
#[derive(Debug, Default)]
pub(super) struct Unused(BTreeMap<String, Occurrences>);

/// How often something occurs, and what names it has.
#[derive(Debug, Default)]
struct Occurrences {
    count: usize,
    names: Vec<String>,
}

impl Unused {
    pub(super) fn add(&mut self, kind: impl Into<String>) {
        self.0.entry(kind.into()).or_default().count += 1;
    }

    /// Adds something with its name, which is empty if it has none.
    pub(super) fn add_named(&mut self, kind: impl Into<String>, name: &str) {
        let occurrences = self.0.entry(kind.into()).or_default();
        occurrences.count += 1;
        if !name.is_empty() && occurrences.names.len() < MOST_NAMED {
            occurrences.names.push(format!("`{name}`"));
        }
    }

    fn add_element(&mut self, kind: String, element: &Element) {
        self.add_named(kind, element.attribute("name").map_or("", |name| &name.value));
    }

    /// One line, empty if there is nothing.
    pub(super) fn list(&self) -> String {
        let item = |(kind, Occurrences { count, names }): (&String, &Occurrences)| {
            let more = if names.len() < *count && !names.is_empty() { ", …" } else { "" };
            match (count, names.as_slice()) {
                (1, []) => kind.clone(),
                (1, [name]) => format!("{kind} {name}"),
                (_, []) => format!("{kind} ({count})"),
                _ => format!("{kind} ({count}: {}{more})", names.join(", ")),
            }
        };
        let mut items: Vec<String> = self.0.iter().take(MOST_NAMES).map(item).collect();
        if self.0.len() > MOST_NAMES {
            items.push(format!("and {} more", self.0.len() - MOST_NAMES));
        }
        items.join(", ")
    }
}

/// Checks the names of all elements and attributes.
pub(super) fn check(document: &mut Document) -> Unused {
    let mut unused = Unused::default();
    let mut wrong: Vec<(Place, String, Option<String>)> = Vec::new();
    let mut waiting = vec![(0, "")];
    while let Some((index, parent)) = waiting.pop() {
        if wrong.len() > MOST_UNKNOWN {
            break;
        }
        let element = &document.elements[index];
        if let Some((_, hint)) = REFUSED.iter().find(|(name, _)| *name == element.name) {
            let problem = format!("<{}> is not supported", element.name);
            wrong.push((element.place, problem, Some((*hint).to_owned())));
            continue;
        }
        let stands = |parents: &str| parents.split(' ').any(|name| name == parent);
        if NOT_USED.iter().any(|(name, parents)| *name == element.name && stands(parents)) {
            let name = match (parent, element.name.as_str()) {
                ("default" | "equality", name) => format!("{parent}/{name}"),
                (_, name) => name.to_owned(),
            };
            if element.name == "sensor" && !element.children.is_empty() {
                for &child in &element.children {
                    let child = &document.elements[child];
                    unused.add_element(format!("sensor {}", child.name), child);
                }
            } else {
                unused.add_element(name, element);
            }
            continue;
        }
        let Some(rule) =
            RULES.iter().find(|rule| rule.name == element.name && stands(rule.parents))
        else {
            let here = RULES.iter().map(|rule| (rule.name, rule.parents));
            let here = here.chain(NOT_USED.iter().copied());
            let here: Vec<&str> = here.filter(|(_, p)| stands(p)).map(|(name, _)| name).collect();
            let hint = match nearest(&element.name, here.iter()) {
                Some(name) => format!("did you mean <{name}>?"),
                None if element.name == "body" => {
                    "bodies stand in <worldbody>; this may be a part that another file includes"
                        .to_owned()
                }
                None => format!("it may hold {}", here.join(", ")),
            };
            let problem = format!("<{parent}> holds no <{}>", element.name);
            wrong.push((element.place, problem, Some(hint)));
            continue;
        };
        check_attributes(element, rule, &mut unused, &mut wrong);
        waiting.extend(element.children.iter().map(|&child| (child, rule.name)));
    }
    // In the order of the file.
    wrong.reverse();
    for (place, problem, hint) in wrong {
        match hint {
            Some(hint) => document.error_with_hint(place, problem, hint),
            None => document.error(place, problem),
        }
    }
    unused
}

fn check_attributes(
    element: &Element,
    rule: &Rule,
    unused: &mut Unused,
    wrong: &mut Vec<(Place, String, Option<String>)>,
) {
    for attribute in &element.attributes {
        let name = attribute.name.as_str();
        if rule.used.split(' ').any(|used| used == name) {
            continue;
        }
        let full = format!("{} {name}", rule.name);
        if rule.known.split(' ').any(|known| known == name || known == "*") {
            unused.add(full);
            continue;
        }
        let names: Vec<&str> = rule.used.split(' ').chain(rule.known.split(' ')).collect();
        let hint = match nearest(name, names.iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "known are the attributes of MuJoCo 4.0".to_owned(),
        };
        let problem = format!("<{}> has no attribute `{name}`", rule.name);
        wrong.push((attribute.place, problem, Some(hint)));
        if wrong.len() > MOST_UNKNOWN {
            return;
        }
    }
}
