//! Memory is made once.

use allocation_counter::measure;
use legwork_control::{ContactInverseDynamics, Energy};
use legwork_qp::problems::Random;

use super::MODELS;
use super::robots::{Answer, Robot, pyramid};

const FREE: usize = 6;
const NV: usize = 18;
const CONTACTS: usize = 12;

/// Allocations of the tasks of growing numbers of contacts, and of their repair.
fn allocations(mut solver: ContactInverseDynamics) -> u64 {
    let mut random = Random::new(7);
    let mut count = 0;
    for k in [0, 1, 2, 4, 3, CONTACTS] {
        let robot = Robot::random(&mut random, NV, FREE, k);
        let (mut answer, mut memory) = (Answer::new(&robot, k), vec![0.0; k]);
        let mut nearest = vec![0.0; robot.acceleration.len()];
        let Answer { torque, forces, after, .. } = &mut answer;
        let task = robot.task();
        let info = measure(|| {
            let _ = solver.solve(&task, &mut memory, torque, forces, after);
            let _ = solver.make_consistent(&task, forces, &mut nearest, torque, after);
        });
        count += info.count_total;
    }
    count
}

/// A solver with room allocates nothing, whenever contacts come; one without does.
#[test]
fn contacts_that_come_later_allocate_nothing() {
    for model in MODELS {
        for energy in [Energy::Absolute, Energy::Relative] {
            let new = || ContactInverseDynamics::new(model, pyramid(4)).with_energy(energy);
            assert!(allocations(new()) > 0, "{model:?} {energy:?}");
            let roomy = new().with_room(FREE, NV - FREE, CONTACTS);
            assert_eq!(allocations(roomy), 0, "{model:?} {energy:?}");
        }
    }
}
