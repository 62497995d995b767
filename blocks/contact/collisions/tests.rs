//! Contacts of a world and of one robot: rates against differences, momentum, which pairs, places.

mod terrain;

use legwork_contact::collision::Solid;
use legwork_mechanics::integrate;
use legwork_qp::problems::Random;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

use super::*;
use crate::buses::ContactBus;
use crate::robot::Mjcf;
use crate::robot::free_body::FreeBody;
use crate::robot::meshes::tests::{Kept, cuboid, cuboid_of, load_from};
use crate::robot::world::World;
use crate::testing::contacts::block;
use crate::testing::robots::{Rig, load_as, load_text, refusal};

fn body(name: &str, shape: &Value) -> Arc<RobotModel> {
    load_as::<FreeBody>(name, json!({ "mass": 2, "shape": shape }), &[]).expect("a body").0
}

fn world() -> Arc<RobotModel> {
    let parts = [
        body("box", &json!({ "Box": { "size": [0.5, 0.4, 0.3] } })),
        body("ball", &json!({ "Sphere": { "radius": 0.2 } })),
        body("roll", &json!({ "Cylinder": { "radius": 0.1, "length": 0.3 } })),
    ];
    let of = json!({ "of": ["box", "ball", "roll"] });
    load_as::<World>("scene", of, &parts).expect("a world").0
}

/// A random state near the origin.
fn state(robot: &RobotModel, random: &mut Random, spread: f64) -> (Vec<f64>, Vec<f64>) {
    let model = &robot.model;
    let mut q: Vec<f64> =
        (0..model.configuration_dim()).map(|_| spread * random.normal()).collect();
    for &(at, _) in model.quaternions() {
        q[at..at + 4].copy_from_slice(&std::array::from_fn::<f64, 4, _>(|_| random.normal()));
    }
    legwork_mechanics::normalize(model, &mut q);
    (q, (0..model.velocity_dim()).map(|_| random.normal()).collect())
}

struct Contact {
    gap: f64,
    position: Vector3<f64>,
    axes: Matrix3<f64>,
    velocity: Vector3<f64>,
    rate: Vector3<f64>,
    jacobian: Vec<f64>,
}

fn contact(rig: &Rig, place: usize) -> Contact {
    let leaf = |leaf: usize| rig.leaf("contacts", place * ContactBus::LEAVES + leaf);
    Contact {
        gap: leaf(ContactBus::GAP)[0],
        position: Vector3::from_column_slice(&leaf(ContactBus::POSITION)),
        axes: Matrix3::from_column_slice(&leaf(ContactBus::AXES)),
        velocity: Vector3::from_column_slice(&leaf(ContactBus::VELOCITY)),
        rate: Vector3::from_column_slice(&leaf(ContactBus::JACOBIAN_DOT_NU)),
        jacobian: leaf(ContactBus::JACOBIAN),
    }
}

const PLACES: usize = 24;

/// Gap, velocity and Jacobian of nearest points against differences along the motion. J̇ν along the
/// normal is exact for balls and corners on faces alone, and is counted.
#[test]
fn rates_agree_with_differences_along_the_motion() {
    let robot = world();
    let mut random = Random::new(91);
    let (h, nv) = (1e-6, robot.model.velocity_dim());
    let (mut compared, mut rates) = (0, 0);
    for (ground, count) in [(Value::Null, 150), (json!("Level"), 50)] {
        let given = json!({
            "robot": "scene", "contacts": PLACES, "ground": ground, "reach": "20 cm", "per_pair": 1,
        });
        let mut rig = Rig::new(block::<Collisions>(given), &robot, &[]);
        for _ in 0..count {
            let (q, nu) = state(&robot, &mut random, 0.3);
            let mut at = |t: f64| -> Vec<Contact> {
                let increment: Vec<f64> = nu.iter().map(|nu| t * nu).collect();
                let mut end = q.clone();
                integrate(&robot.model, &q, &increment, &mut end);
                rig.set("state", &[&end, &nu]);
                rig.output();
                rig.update();
                (0..PLACES).map(|place| contact(&rig, place)).collect()
            };
            let (before, here, after) = (at(-h), at(0.0), at(h));
            for ((before, here), after) in before.iter().zip(&here).zip(&after) {
                if [before, here, after].iter().any(|contact| contact.gap == search::FAR) {
                    continue;
                }
                let product = Vector3::from_fn(|axis, _| {
                    (0..nv).map(|k| here.jacobian[3 * k + axis] * nu[k]).sum::<f64>()
                });
                let error = (product - here.velocity).amax();
                assert!(error < 1e-12, "velocity is not J nu by {error:.1e}");
                // Where the nearest points jump from one feature to another there is no rate.
                let jump = (after.position - 2.0 * here.position + before.position).norm();
                if here.gap < -0.02 || jump > 1e-9 || (after.axes - before.axes).amax() > 1e-4 {
                    continue;
                }
                let rate = (after.gap - before.gap) / (2.0 * h);
                let error = (rate - here.velocity.z).abs();
                assert!(error < 1e-5, "gap's rate by {error:.1e}: {rate} {}", here.velocity.z);
                compared += 1;
                // Along the normal, since the tangents may turn about it.
                let difference = (after.velocity.z - before.velocity.z) / (2.0 * h);
                let bound = 1e-4 * (1.0 + here.rate.norm());
                rates += usize::from((difference - here.rate.z).abs() < bound);
            }
        }
    }
    assert!(compared > 100 && rates > 30, "{compared} compared, {rates} of them to J̇ν");
}

/// `Jᵀf` of bodies that touch one another has no total force and no total moment.
#[test]
fn forces_between_bodies_keep_momentum_and_its_moment() {
    let robot = world();
    let given = json!({ "robot": "scene", "contacts": PLACES, "reach": "10 cm" });
    let mut rig = Rig::new(block::<Collisions>(given), &robot, &[]);
    let (mut random, mut seen) = (Random::new(92), 0);
    for _ in 0..30 {
        let (q, nu) = state(&robot, &mut random, 0.2);
        rig.set("state", &[&q, &nu]);
        rig.output();
        for place in 0..PLACES {
            let Contact { gap, jacobian, axes, position, .. } = contact(&rig, place);
            if gap == search::FAR {
                assert!(jacobian.iter().all(|j| *j == 0.0));
                continue;
            }
            seen += 1;
            let force = Vector3::from_fn(|_, _| random.normal());
            let general: Vec<f64> = jacobian
                .chunks_exact(3)
                .map(|column| Vector3::from_column_slice(column).dot(&force))
                .collect();
            let (mut total, mut moment) = (Vector3::zeros(), Vector3::zeros());
            for body in 0..3 {
                let own = Vector3::from_column_slice(&general[6 * body..6 * body + 3]);
                let turn = Vector3::from_column_slice(&general[6 * body + 3..6 * body + 6]);
                let center = Vector3::from_column_slice(&q[7 * body..7 * body + 3]);
                total += own;
                moment += turn + center.cross(&own);
                // On the body itself the force acts at the contact.
                if own.norm() > 0.0 {
                    let arm = (position - center).cross(&own);
                    assert!((turn - arm).amax() < 1e-12, "moment about the centre");
                    assert!((own.norm() - (axes * force).norm()).abs() < 1e-12, "force");
                }
            }
            assert!(total.amax() < 1e-13 && moment.amax() < 1e-12, "{total} {moment}");
        }
    }
    assert!(seen > 60, "{seen}");
}

/// A chain of four links: a joint parts neighbours, the last lies on the first at zero.
const CHAIN: &str = r#"
    <robot name="chain">
      <link name="a"><collision><geometry><box size="1 0.1 0.1"/></geometry></collision></link>
      <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><capsule radius="0.05" length="0.2"/></geometry></collision></link>
      <link name="d"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <joint name="ab" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
      <joint name="bc" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
      <joint name="cd" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0 0 -0.9"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    </robot>"#;

fn chain() -> Arc<RobotModel> {
    load_text("chain", CHAIN, json!({ "base": "Fixed" })).expect("a robot").0
}

/// What may touch what, and what is doubtful.
struct Found {
    links: Vec<String>,
    pairs: Vec<[String; 2]>,
    on_ground: Vec<String>,
    doubts: Vec<Invalid>,
}

fn touching(robot: &RobotModel, files: &dyn Files, parameters: Value) -> Found {
    let block: Collisions = serde_json::from_value(parameters).expect("parameters");
    let mut doubts = Vec::new();
    let (links, found) = block.touching(robot, files, &mut doubts).expect("links");
    let name = |link: usize| robot.model.frame(links[link].frame).name.clone();
    Found {
        links: (0..links.len()).map(name).collect(),
        pairs: found.pairs.iter().map(|pair| pair.map(name)).collect(),
        on_ground: found.on_ground.iter().map(|link| name(*link)).collect(),
        doubts,
    }
}

#[test]
fn pairs_are_those_that_no_joint_connects_and_that_do_not_overlap() {
    let robot = chain();
    let with = |more: Value| {
        let mut given = json!({ "robot": "chain", "self_collision": true });
        let fields = given.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        touching(&robot, &crate::testing::Nothing, given)
    };
    let all = with(json!({}));
    assert_eq!(all.pairs, [["a", "c"], ["b", "d"]]);
    assert_eq!(all.on_ground, [""; 0]);
    let messages: Vec<&str> = all.doubts.iter().map(|doubt| doubt.message.as_str()).collect();
    assert_eq!(messages, ["pairs are left out that overlap with all joints at zero: `a` and `d`"]);
    assert_eq!(with(json!({ "between": [["a", "c"]] })).links, ["a", "c"]);
    assert_eq!(with(json!({ "between": [["a", "*"]] })).pairs, [["a", "c"]]);
    assert_eq!(with(json!({ "exclude": [["d", "b"]] })).pairs, [["a", "c"]]);
}

/// A capsule that the diagram states is between its ends, in the place of the link's own shapes.
#[test]
fn a_stated_capsule_is_between_its_ends() {
    let robot = chain();
    let block: Collisions = serde_json::from_value(json!({
        "robot": "chain", "ground": "Level",
        "shapes": {
            "b": [{ "Capsule": { "radius": 0.03, "from": [0.1, 0, 0], "to": [0.4, 0.4, 0] } }],
            "c": [],
        },
    }))
    .expect("parameters");
    let files = crate::testing::Nothing;
    let (links, found) = block.touching(&robot, &files, &mut Vec::new()).expect("links");
    let names = links.iter().map(|link| robot.model.frame(link.frame).name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b", "d"]);
    assert_eq!(found.on_ground, [0, 1, 2]);
    let [own] = links[1].solids.as_slice() else { panic!("expected one shape") };
    let Solid::Capsule { radius, half_length } = own.solid else { panic!("expected a capsule") };
    assert_eq!((radius, half_length), (0.03, 0.25));
    let end = own.placement.transform_point(&Vector3::new(0.0, 0.0, half_length));
    assert!((end - Vector3::new(0.4, 0.4, 0.0)).norm() < 1e-15, "{end}");
    assert_eq!(links[1].features.len(), 2);
}

/// Four links one behind the other, a ball and three meshes, of which the last is as stated.
fn with_meshes(last: Vec<u8>) -> (Kept, Arc<RobotModel>) {
    let link = |name: &str, geometry: &str| {
        format!(
            r#"<link name="{name}"><inertial><mass value="1"/>
              <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
              <collision><geometry>{geometry}</geometry></collision></link>"#
        )
    };
    let mesh = |name: &str, file: &str| {
        link(name, &format!(r#"<mesh filename="{file}" scale="0.001 0.001 0.001"/>"#))
    };
    let joint = |parent: &str, child: &str| {
        format!(
            r#"<joint name="{child}" type="continuous"><parent link="{parent}"/>
              <child link="{child}"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>"#
        )
    };
    let links = [
        link("b", r#"<sphere radius="0.1"/>"#),
        mesh("k", "nowhere.stl"),
        mesh("f", "flat.stl"),
        mesh("m", "last.stl"),
    ];
    let joints = [joint("b", "k"), joint("k", "f"), joint("f", "m")];
    let text = format!(r#"<robot name="r">{}{}</robot>"#, links.concat(), joints.concat());
    let files = Kept(vec![
        ("a/r.urdf", text.into_bytes()),
        ("a/flat.stl", cuboid_of([200.0, 100.0, 0.0])),
        ("a/last.stl", last),
    ]);
    let robot = load_from(&files, json!({ "path": "a/r.urdf", "base": "Fixed" })).0;
    (files, robot)
}

/// Meshes that cannot be used are listed once, if their links could touch, and the rest touches.
#[test]
fn a_mesh_that_is_missing_or_flat_leaves_the_rest_of_the_robot_to_touch() {
    let (files, robot) = with_meshes(cuboid());
    let found = |given| touching(&robot, &files, given);
    for given in [
        json!({ "robot": "r", "between": [["b", "ground"], ["m", "ground"]], "ground": "Level" }),
        json!({ "robot": "r", "exclude": [["k", "*"], ["f", "*"]], "ground": "Level" }),
    ] {
        let Found { links, on_ground, doubts, .. } = found(given);
        assert_eq!((links.as_slice(), doubts.len()), (on_ground.as_slice(), 0));
        assert_eq!(links, ["b", "m"]);
    }
    let all = json!({ "robot": "r", "self_collision": true, "ground": "Level" });
    let Found { links, pairs, on_ground, doubts } = found(all);
    assert_eq!(
        (links.as_slice(), on_ground.as_slice()),
        (&["b", "m"].map(String::from)[..], &links[..])
    );
    assert_eq!(pairs, [["b", "m"]]);
    let [doubt] = doubts.as_slice() else { panic!("{doubts:?}") };
    assert_eq!(
        doubt.message,
        "meshes that cannot be used do not touch: `k` (nowhere.stl: no file `nowhere.stl`), `f` \
         (flat.stl: it has no volume: all its points lie in a plane)"
    );
    assert!(doubt.hints[0].contains("shapes: { \"k\": [Box"), "{:?}", doubt.hints);
    // What the block states needs no file.
    let stated = json!({
        "robot": "r", "ground": "Level",
        "shapes": { "k": [{ "Sphere": { "radius": 0.1 } }], "f": [] },
    });
    let Found { links, doubts, .. } = found(stated);
    assert_eq!((links, doubts.len()), (["b", "k", "m"].map(String::from).to_vec(), 0));
    // A robot that has nothing else runs, and touches nothing.
    let alone = json!({ "robot": "r", "between": [["k", "ground"]], "ground": "Level" });
    let Found { links, doubts, .. } = found(alone);
    assert_eq!((links.len(), doubts.len()), (0, 1));
}

/// A ring of points in the corners of a cylinder, as a text STL file in millimetres.
fn cylinder(radius: f64, length: f64, corners: usize) -> Vec<u8> {
    let at = |k: usize, z: f64| {
        let (sine, cosine) = (std::f64::consts::TAU * k as f64 / corners as f64).sin_cos();
        format!("vertex {} {} {z}\n", radius * cosine, radius * sine)
    };
    let facet = |corners: [String; 3]| {
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners.concat())
    };
    let side = |k: usize| {
        let (low, high) = (0.0, length);
        let first = facet([at(k, low), at(k + 1, low), at(k, high)]);
        let second = facet([at(k + 1, low), at(k + 1, high), at(k, high)]);
        first + &second
    };
    let sides: String = (0..corners).map(side).collect();
    format!("solid s\n{sides}endsolid s\n").into_bytes()
}

/// One warning for all hulls that miss parts of their meshes, the worst first; the default takes
/// rims of up to 32 corners whole.
#[test]
fn hulls_that_miss_parts_of_their_meshes_are_one_warning() {
    let (mut files, _) = with_meshes(cylinder(40.0, 100.0, 32));
    files.0.push(("a/nowhere.stl", cylinder(80.0, 100.0, 32)));
    files.0.push(("a/thick.stl", cylinder(60.0, 100.0, 32)));
    let text = String::from_utf8(files.0[0].1.clone()).expect("text");
    files.0[0].1 = text.replace("flat.stl", "thick.stl").into_bytes();
    let robot = load_from(&files, json!({ "path": "a/r.urdf", "base": "Fixed" })).0;
    let doubts = |given| touching(&robot, &files, given).doubts;
    assert_eq!(doubts(json!({ "robot": "r", "ground": "Level" })).len(), 0);
    let few = doubts(json!({ "robot": "r", "ground": "Level", "hull_vertices": 12 }));
    let [doubt] = few.as_slice() else { panic!("{few:?}") };
    let (text, list) = doubt.message.split_once(": ").expect("a list");
    assert_eq!(text, "hulls of 12 corners leave out parts of their meshes");
    let listed: Vec<(&str, f64)> = list
        .split(", ")
        .filter_map(|one| one.strip_suffix(" mm")?.split_once(' '))
        .map(|(link, by)| (link, by.parse().expect("a number")))
        .collect();
    let links: Vec<&str> = listed.iter().map(|(link, _)| *link).collect();
    assert_eq!(links, ["`k`", "`f`", "`m`"]);
    assert!(listed.is_sorted_by(|(_, a), (_, b)| a >= b), "{listed:?}");
    assert!(doubt.hints.iter().all(|hint| !hint.contains("Sole")), "{:?}", doubt.hints);
}

#[test]
fn mistakes_are_refused() {
    let robot = chain();
    let said = |parameters: Value| {
        let invalid = refusal(block::<Collisions>(parameters), &robot, &[], &[]);
        (invalid.parameter.unwrap_or_default().to_string(), invalid.message)
    };
    let (parameter, message) = said(json!({ "robot": "chain" }));
    assert_eq!(
        (parameter.as_str(), message.as_str()),
        ("robot", "no pair of bodies of `chain` may touch",)
    );
    let (parameter, message) =
        said(json!({ "robot": "chain", "self_collision": true, "exclude": [["x", "a"]] }));
    assert_eq!(parameter, "exclude");
    assert_eq!(message, "expected links with collision shapes, found `x`");
    assert_eq!(said(json!({ "robot": "chain", "contacts": 0 })).0, "contacts");
    assert_eq!(said(json!({ "robot": "chain", "per_pair": 9 })).0, "per_pair");
    let ground = json!({ "Body": { "frame": "a" } });
    assert_eq!(said(json!({ "robot": "chain", "ground": ground })).0, "ground");
    let shapes = json!({ "x": [{ "Sphere": { "radius": 0.1 } }] });
    let (parameter, message) = said(json!({ "robot": "chain", "shapes": shapes }));
    assert_eq!(parameter, "shapes");
    assert!(message.contains("`x`"), "{message}");
}

/// Of five balls in a row MuJoCo lets b and c touch (`contype` 2 meets `conaffinity` 2), and a and
/// d, whose bits do not meet, by a `pair`; a and e are excluded, and no other bits meet.
#[test]
fn bits_pairs_and_exclusions_of_mujoco_decide_who_touches() {
    let bodies = json!({ "path": "../tests/data/mjcf/bits.xml" });
    let robot = load_as::<Mjcf>("balls", bodies, &[]).expect("a model").0;
    let given = |exclude: Value| json!({ "robot": "balls", "self_collision": true, "reach": "10 m", "exclude": exclude });
    let touching = |exclude: Value| -> Vec<[f64; 2]> {
        let mut rig = Rig::new(block::<Collisions>(given(exclude)), &robot, &[]);
        rig.set("state", &[&[0.0; 5], &[0.0; 5]]);
        rig.output();
        let near = rig.leaf("near", 0)[0] as usize;
        let mut found: Vec<[f64; 2]> = (0..32)
            .map(|place| contact(&rig, place))
            .filter(|contact| contact.gap != search::FAR)
            .map(|contact| [contact.gap, contact.position.x])
            .collect();
        assert_eq!(found.len(), near);
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        found
    };
    let both = touching(json!([]));
    assert_eq!(both.len(), 2, "{both:?}");
    assert!((both[0][0] - 0.8).abs() < 1e-12 && (1.0..=2.0).contains(&both[0][1]), "b and c");
    assert!((both[1][0] - 2.8).abs() < 1e-12, "a and d");
    assert_eq!(touching(json!([["a", "d"]])).len(), 1, "the block has the last word");
}

/// More contacts than places: the nearest are taken, each keeps its place from step to step.
#[test]
fn places_are_kept_and_the_nearest_are_taken() {
    let robot = body("box", &json!({ "Box": { "size": [0.4, 0.4, 0.4] } }));
    let given =
        json!({ "robot": "box", "contacts": 3, "ground": "Level", "reach": "1 m", "per_pair": 8 });
    let mut rig = Rig::new(block::<Collisions>(given), &robot, &[]);
    let mut places = Vec::new();
    for tilt in [0.02_f64, 0.03, 0.04] {
        let q =
            [0.0, 0.0, 0.21, libm::cos(tilt), 0.6 * libm::sin(tilt), 0.8 * libm::sin(tilt), 0.0];
        rig.set("state", &[&q, &[0.0; 6]]);
        rig.output();
        rig.update();
        let at: Vec<_> = (0..3).map(|place| contact(&rig, place)).collect();
        assert!(at.iter().all(|contact| contact.gap < 0.1));
        places.push(at.iter().map(|c| c.position.map(|x| (10.0 * x).round())).collect::<Vec<_>>());
    }
    assert!(places.iter().all(|other| *other == places[0]), "{places:?}");
}
