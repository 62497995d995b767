//! A box on a ramp with spherical feet (Drumwright, section 6.4) and a falling ball.

use super::bodies::{Body, World};
use legwork_contact::soft_constraints::{Friction, FrictionLaw, Law, Rows, SpringDamper};
use nalgebra::Vector3;

const G: f64 = 9.8;
const MODULUS: f64 = 1e11;
const RADIUS: f64 = 0.01;

pub(crate) struct Ramp {
    pub(crate) world: World,
    friction: f64,
}

impl Ramp {
    /// Ramp axes: x down the slope, z normal. The feet are points of the bottom's corners.
    pub(crate) fn new(friction: f64, time_step: f64) -> Self {
        let angle = 15.0_f64.to_radians();
        let gravity = G * Vector3::new(libm::sin(angle), 0.0, -libm::cos(angle));
        let edges = Vector3::new(0.1, 0.2, 0.05);
        let body = Body::cuboid(1.0, edges, Vector3::new(0.0, 0.0, 0.025));
        Self { world: World::new(vec![body], gravity, time_step), friction }
    }

    pub(crate) fn step(&mut self) {
        let world = &mut self.world;
        world.begin();
        let body = &world.bodies[0];
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        for (sx, sy) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
            let arm = body.rotation * Vector3::new(0.05 * sx, 0.1 * sy, -0.025);
            let mut normal = SpringDamper::hertz(body.position.z + arm.z, MODULUS, RADIUS, 1.0);
            normal.damping = 1.0;
            let bias = body.point_bias(&arm);
            normal.rate_bias = bias.z;
            let mut friction = Friction::coulomb(self.friction, 1e6 / world.time_step);
            friction.rate_bias = [bias.x, bias.y];
            let rows = body.point_rows(&arm, &axes, 1.0);
            world.problem.push(Rows::Dense(&rows), Law::Contact(normal, friction));
        }
        let _ = world.finish();
    }

    fn slide(friction: f64, time_step: f64, law: FrictionLaw) -> Self {
        let mut ramp = Self::new(friction, time_step);
        ramp.world.solver.options.friction_law = law;
        for _ in 0..(1.0 / time_step).round() as usize {
            ramp.step();
        }
        ramp
    }
}

/// From rest for 1 s: ½ g (sin α - μ cos α), to first order in h with the closed form of
/// semi-implicit Euler, h² N (N + 1) / 2.
#[test]
fn a_box_slides_as_far_as_coulomb_says() {
    let angle = 15.0_f64.to_radians();
    for friction in [0.0, 0.125, 0.25] {
        let acceleration = G * (libm::sin(angle) - friction * libm::cos(angle));
        for law in [FrictionLaw::Coulomb, FrictionLaw::Associated] {
            let h = 0.01;
            let ramp = Ramp::slide(friction, h, law);
            let body = &ramp.world.bodies[0];
            let exact = 0.5 * acceleration * (1.0 + h);
            // The box needs a few steps to settle on its springs, and pitches a little.
            assert!((body.position.x / exact - 1.0).abs() < 2e-3, "{}", body.position.x);
            let half_second = 0.5 * acceleration;
            assert!((body.position.x / half_second - 1.0).abs() < 0.0125);
            let lift = body.position.z - 0.025;
            match law {
                FrictionLaw::Coulomb => assert!(lift < 0.0, "{lift:e}"),
                // Floats at h μ s; s = 1 s · acceleration.
                FrictionLaw::Associated => {
                    let float = h * friction * acceleration;
                    assert!((lift - float).abs() < 1e-2 * float + 1e-6, "{lift:e} {float:e}");
                }
            }
        }
    }
    let x = [0.0, 0.125, 0.25].map(|mu| Ramp::slide(mu, 0.002, FrictionLaw::Coulomb));
    for (ramp, oracle) in x.iter().zip([1.268, 0.677, 0.085]) {
        let x = ramp.world.bodies[0].position.x;
        assert!((x - oracle).abs() < 0.01 * oracle, "{x} {oracle}");
    }
}

/// In stiction the box creeps at `λ_t / B` and no faster, over a minute; without friction nothing
/// pulls along the slope.
#[test]
fn a_box_in_stiction_creeps_as_its_damper_says() {
    let mut ramp = Ramp::new(0.375, 0.01);
    for _ in 0..6000 {
        ramp.step();
    }
    let x = ramp.world.bodies[0].position.x;
    let force = G * libm::sin(15.0_f64.to_radians()) / 4.0;
    let creep = 60.0 * force / (1e6 / 0.01);
    // What it moves while its springs settle comes on top.
    assert!(x > 0.9 * creep && x < creep + 2e-7, "{x:e} {creep:e}");

    let mut slick = Ramp::new(0.0, 0.01);
    slick.step();
    for foot in slick.world.solution.forces.chunks_exact(3) {
        assert_eq!(&foot[..2], &[0.0, 0.0]);
    }
}

/// At rest a foot is as deep as Hertz says, `(f / E*√r)^{2/3}`, at every time step.
#[test]
fn the_depth_at_rest_is_hertz_s() {
    let angle = 15.0_f64.to_radians();
    for h in [0.1, 0.01, 1e-3] {
        let mut ramp = Ramp::new(0.5, h);
        for _ in 0..200 {
            ramp.step();
        }
        let world = &ramp.world;
        let mean: f64 = world.solution.forces.chunks_exact(3).map(|f| f[2]).sum::<f64>() / 4.0;
        assert!((mean / (0.25 * G * libm::cos(angle)) - 1.0).abs() < 1e-6, "{h}: {mean}");
        for (foot, (sx, sy)) in world.solution.forces.chunks_exact(3).zip([
            (-1.0, -1.0),
            (1.0, -1.0),
            (-1.0, 1.0),
            (1.0, 1.0),
        ]) {
            let body = &world.bodies[0];
            let arm = body.rotation * Vector3::new(0.05 * sx, 0.1 * sy, -0.025);
            let depth = -(body.position.z + arm.z);
            let hertz = libm::pow(foot[2] / (MODULUS * RADIUS.sqrt()), 2.0 / 3.0);
            assert!((depth / hertz - 1.0).abs() < 1e-4, "{h}: {depth:e} {hertz:e}");
        }
    }
}

/// The force of one step is a continuous function of the height that the step starts from, through
/// touchdown: halving the distance of heights halves the jumps of force.
#[test]
fn the_force_is_continuous_through_touchdown() {
    let force = |height: f64| {
        let ball = Body::sphere(1.0, 0.0, Vector3::new(0.0, 0.0, height));
        let mut world = World::new(vec![ball], Vector3::new(0.0, 0.0, -G), 1e-3);
        world.bodies[0].linear.z = -0.1;
        world.bodies[0].inertia = Vector3::repeat(1.0);
        world.begin();
        let normal = SpringDamper::hertz(height, 1e9, RADIUS, 4.0 / 3.0);
        let rows = world.bodies[0].point_rows(&Vector3::zeros(), &[Vector3::z()], 1.0);
        world.problem.push(Rows::Dense(&rows), Law::Unilateral(normal));
        let _ = world.finish();
        world.solution.forces[0]
    };
    let largest_jump = |count: i32| {
        let heights = (0..=count).map(|i| 3e-4 * (1.0 - 2.0 * f64::from(i) / f64::from(count)));
        let forces: Vec<f64> = heights.map(force).collect();
        assert_eq!(forces[0], 0.0);
        assert!(forces[count as usize] > 100.0);
        forces.windows(2).map(|f| (f[1] - f[0]).abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (largest_jump(200), largest_jump(400));
    assert!((fine / coarse - 0.5).abs() < 0.02, "{coarse} {fine}");
}
