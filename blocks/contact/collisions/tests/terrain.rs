//! Bodies on ground that is no plane come to rest where statics says, and slide as Coulomb says.

use nalgebra::{Matrix6, Quaternion, UnitQuaternion, Vector6};

use super::*;

const STEP: f64 = 1e-3;
const GRAVITY: f64 = 9.81;
const MASS: f64 = 2.0;
const INERTIA: [f64; 3] = [0.01, 0.17, 0.17];
/// Lying along x: a quarter turn about y of what is along z.
const LYING: [f64; 4] =
    [std::f64::consts::FRAC_1_SQRT_2, 0.0, std::f64::consts::FRAC_1_SQRT_2, 0.0];

/// A body, and how it lies along x.
struct Body {
    robot: Arc<RobotModel>,
    shapes: Value,
    turn: [f64; 4],
}

fn free(shape: &Value, inertia: [f64; 3]) -> Arc<RobotModel> {
    let given = json!({ "mass": MASS, "shape": shape, "inertia": inertia });
    load_as::<FreeBody>("bar", given, &[]).expect("a body").0
}

/// A capsule along z; the small ball of the file is inside.
fn capsule(radius: f64, half: f64) -> Body {
    let [along, across, _] = INERTIA;
    let robot = free(&json!({ "Sphere": { "radius": 0.01 } }), [across, across, along]);
    let capsule = json!({ "radius": radius, "from": [0, 0, -half], "to": [0, 0, half] });
    Body { robot, shapes: json!({ "body": [{ "Capsule": capsule }] }), turn: LYING }
}

/// Bars of 1 m, 10 cm thick.
fn bars() -> Vec<Body> {
    let [along, across, _] = INERTIA;
    let cuboid = free(&json!({ "Box": { "size": [1, 0.1, 0.1] } }), INERTIA);
    let roll = json!({ "Cylinder": { "radius": 0.05, "length": 1 } });
    let roll = free(&roll, [across, across, along]);
    vec![
        Body { robot: cuboid, shapes: json!({}), turn: [1.0, 0.0, 0.0, 0.0] },
        capsule(0.05, 0.45),
        Body { robot: roll, shapes: json!({}), turn: LYING },
    ]
}

struct Simulation {
    rig: Rig,
    robot: Arc<RobotModel>,
    inertia: Vector3<f64>,
    mu: f64,
    q: Vec<f64>,
    nu: Vector6<f64>,
}

impl Simulation {
    fn new(body: &Body, inertia: [f64; 3], ground: &Value, mu: f64, at: [f64; 3]) -> Self {
        let given = json!({
            "robot": "bar", "contacts": PLACES, "ground": ground, "shapes": body.shapes,
        });
        let rig = Rig::new(block::<Collisions>(given), &body.robot, &[]);
        let q = at.into_iter().chain(body.turn).collect();
        let inertia = Vector3::from(inertia);
        Self { rig, robot: Arc::clone(&body.robot), inertia, mu, q, nu: Vector6::zeros() }
    }

    /// A step with unilateral contacts and Coulomb's law at velocity level, by Gauss-Seidel sweeps
    /// (M. Jean, *The non-smooth contact dynamics method*, 1999). The contacts that are near.
    fn step(&mut self) -> Vec<Contact> {
        self.rig.set("state", &[&self.q, self.nu.as_slice()]);
        self.rig.output();
        self.rig.update();
        let contacts: Vec<_> = (0..PLACES)
            .map(|place| contact(&self.rig, place))
            .filter(|contact| contact.gap != search::FAR)
            .collect();
        let [w, x, y, z] = [3, 4, 5, 6].map(|i| self.q[i]);
        let turn = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)).to_rotation_matrix();
        let inertia = turn * Matrix3::from_diagonal(&self.inertia) * turn.transpose();
        let mut inverse = Matrix6::from_diagonal_element(1.0 / MASS);
        let turned = inertia.try_inverse().expect("an inertia");
        inverse.fixed_view_mut::<3, 3>(3, 3).copy_from(&turned);
        let spin = self.nu.fixed_rows::<3>(3).into_owned();
        self.nu[2] -= STEP * GRAVITY;
        let gyroscopic = turned * spin.cross(&(inertia * spin)) * STEP;
        let mut rows = self.nu.fixed_rows_mut::<3>(3);
        rows -= gyroscopic;

        let mut impulses = vec![Vector3::zeros(); contacts.len()];
        for _ in 0..500 {
            for (contact, impulse) in contacts.iter().zip(&mut impulses) {
                let jacobian = nalgebra::Matrix3x6::from_column_slice(&contact.jacobian);
                let towards = inverse * jacobian.transpose();
                let weight = jacobian * towards;
                let mut wanted = jacobian * self.nu;
                // Up to the ground, and a tenth of the depth out of it.
                wanted.z += contact.gap / STEP * if contact.gap > 0.0 { 1.0 } else { 0.1 };
                let mut next: Vector3<f64> = *impulse;
                next.z = (next.z - wanted.z / weight.m33).max(0.0);
                let softest = weight.m11.max(weight.m22);
                next.x -= wanted.x / softest;
                next.y -= wanted.y / softest;
                let (bound, along) = (self.mu * next.z, next.xy().norm());
                if along > bound {
                    (next.x, next.y) = (next.x * bound / along, next.y * bound / along);
                }
                self.nu += towards * (next - *impulse);
                *impulse = next;
            }
        }
        let increment: Vec<f64> = self.nu.iter().map(|nu| STEP * nu).collect();
        let mut next = self.q.clone();
        integrate(&self.robot.model, &self.q, &increment, &mut next);
        self.q = next;
        contacts
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
    }

    fn z(&self) -> f64 {
        self.q[2]
    }
}

/// A bar of 1 m that falls across a block, 20 cm wide and 30 cm high, or a smooth ridge of that
/// height, lies on it.
#[test]
fn a_bar_across_a_block_rests_on_it() {
    let block =
        json!({ "Cuboids": { "of": [{ "size": [0.2, 1, 0.3], "position": [0, 0, 0.15] }] } });
    let ridge = json!({ "HeightFunction": {
        "z": "0.3 - 0.5*x^2", "x": [-1, 1], "y": [-1, 1], "cell": 0.05,
    } });
    let stairs = json!({ "Stairs": {
        "rise": 0.3, "run": 0.2, "count": 1, "start": [-0.1, 0], "landing": 0,
    } });
    // On the ridge it rocks, which nothing damps.
    for (ground, x, least) in [(&block, 0.02, 1e-3), (&stairs, 0.02, 1e-3), (&ridge, 0.0, 0.02)] {
        for body in bars() {
            let inertia = principal(&body);
            let mut bar = Simulation::new(&body, inertia, ground, 0.5, [x, 0.0, 0.4]);
            bar.run(400);
            let (z, speed) = (bar.z(), bar.nu.norm());
            assert!((z - 0.35).abs() < 1e-4, "{ground} {:?}: z = {z}", body.turn);
            assert!(speed < least, "{ground} {:?}: {speed}", body.turn);
            assert!(bar.rig.report().warnings.is_empty(), "{:?}", bar.rig.report().warnings);
        }
    }
}

/// Moments of inertia in the axes of the body.
fn principal(body: &Body) -> [f64; 3] {
    let [along, across, _] = INERTIA;
    if body.turn == LYING { [across, across, along] } else { INERTIA }
}

/// A shin that leans on the edge of a stair stays there: its axis is as far from the edge as it is
/// thick, and its end is on the floor.
#[test]
fn a_shin_leans_on_the_edge_of_a_stair() {
    let stairs = json!({ "Stairs": { "rise": 0.2, "run": 0.3, "count": 2 } });
    let (radius, half) = (0.04, 0.15);
    let mut body = capsule(radius, half);
    // 45° forward; its middle is below the edge.
    let angle = std::f64::consts::FRAC_PI_8;
    body.turn = [libm::cos(angle), 0.0, libm::sin(angle), 0.0];
    let along = Vector3::new(1.0, 0.0, 1.0) * std::f64::consts::FRAC_1_SQRT_2;
    let across = Vector3::new(-1.0, 0.0, 1.0) * std::f64::consts::FRAC_1_SQRT_2;
    // From the edge by the radius across, then down along until the lower end is on the floor.
    let over = Vector3::new(0.0, 0.0, 0.2) + across * radius;
    let lower = over - along * ((over.z - radius) / along.z);
    let center = lower + along * half + Vector3::z() * 1e-3;
    let mut shin = Simulation::new(&body, [0.17, 0.17, 0.01], &stairs, 1.0, center.into());
    let mut near = Vec::new();
    for _ in 0..400 {
        near = shin.step();
    }
    let center = Vector3::from_column_slice(&shin.q[..3]);
    let [w, x, y, z] = [3, 4, 5, 6].map(|i| shin.q[i]);
    let axis = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)) * Vector3::z();
    let from_edge = Vector3::new(0.0, 0.0, 0.2) - center;
    let distance = Vector3::new(from_edge.x, 0.0, from_edge.z)
        .cross(&Vector3::new(axis.x, 0.0, axis.z).normalize())
        .norm();
    assert!((distance - radius).abs() < 1e-4, "{distance} from the edge");
    assert!(((center - axis * half).z - radius).abs() < 1e-4, "{center}");
    assert!(shin.nu.norm() < 1e-3, "{}", shin.nu);
    let on_edge = |c: &&Contact| (c.position - Vector3::new(0.0, 0.0, 0.2)).norm() < 1e-3;
    assert_eq!(near.iter().filter(on_edge).count(), 1);
}

/// A box that slides over triangles of one plane moves as over the plane, by
/// `v₀ t + g (sin φ − μ cos φ) t²/2` along it.
#[test]
fn a_box_slides_over_triangles_as_over_a_plane() {
    let body = Body {
        robot: free(&json!({ "Box": { "size": [0.3, 0.2, 0.1] } }), [0.01, 0.02, 0.03]),
        shapes: json!({}),
        turn: [1.0, 0.0, 0.0, 0.0],
    };
    let field = json!({ "HeightFunction": {
        "z": "0.2*x", "x": [0, 2], "y": [-1, 1], "cell": 0.07,
    } });
    let mesh = json!({ "TriangleMesh": { "file": "contact/wedge.obj", "scale": 0.001 } });
    let plane = json!({ "Plane": { "normal": [-0.2, 0, 1] } });
    let slope = libm::atan(0.2);
    let (sine, cosine) = libm::sincos(slope);
    let mu = 0.5;
    let ends = [&plane, &field, &mesh].map(|ground| {
        let at = [0.5 - 0.05 * sine, 0.0, 0.1 + 0.05 * cosine];
        let mut slider = Simulation::new(&body, [0.01, 0.02, 0.03], ground, mu, at);
        let half = -0.5 * slope;
        slider.q[3..7].copy_from_slice(&[libm::cos(half), 0.0, libm::sin(half), 0.0]);
        (slider.nu[0], slider.nu[2]) = (1.5 * cosine, 1.5 * sine);
        slider.run(200);
        slider.q
    });
    let rate = -GRAVITY * (sine + mu * cosine);
    let far = 1.5 * 0.2 + 0.5 * rate * 0.04;
    let moved = (ends[0][0] - 0.5 + 0.05 * sine) / cosine;
    assert!((moved - far).abs() < 1e-3, "{moved} for {far}");
    for end in &ends[1..] {
        let off = end.iter().zip(&ends[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "off by {off:e}");
    }
}

/// Contacts on edges keep their places while a bar slides along the block under it.
#[test]
fn contacts_on_edges_keep_their_places() {
    let block =
        json!({ "Cuboids": { "of": [{ "size": [0.2, 1, 0.3], "position": [0, 0, 0.15] }] } });
    for body in bars() {
        let mut bar = Simulation::new(&body, principal(&body), &block, 0.0, [0.0, 0.0, 0.35]);
        bar.nu[0] = 0.2;
        let near = |bar: &mut Simulation| -> Vec<[f64; 2]> {
            bar.step();
            (0..PLACES)
                .map(|place| contact(&bar.rig, place))
                .map(|c| if c.gap == search::FAR { [0.0; 2] } else { [c.position.x, c.position.y] })
                .collect()
        };
        let first = near(&mut bar);
        assert!(first.iter().any(|place| place[0] > 0.09), "{first:?}");
        for _ in 0..200 {
            let next = near(&mut bar);
            for (a, b) in first.iter().zip(&next) {
                assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}");
            }
        }
    }
}

/// A bar that begins in the block, with its ends outside, has no contact there, which is told.
#[test]
fn a_bar_in_the_ground_is_told_of() {
    let block =
        json!({ "Cuboids": { "of": [{ "size": [0.2, 1, 0.3], "position": [0, 0, 0.15] }] } });
    for body in bars() {
        let mut bar = Simulation::new(&body, principal(&body), &block, 0.5, [0.02, 0.0, 0.05]);
        bar.run(3);
        let warnings = bar.rig.report().warnings;
        let found = warnings.iter().find(|warning| warning.name == "in-the-ground");
        let message = &found.expect("a warning").message;
        assert!(message.starts_with("`body` is 100.0"), "{message}");
    }
}
