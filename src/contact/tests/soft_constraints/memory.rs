//! A solver that has seen a problem's shape allocates no more, and answers do not depend on what
//! it solved before.

use super::foundation::Foundation;
use super::ramp::Ramp;
use super::spheres::Stack;
use allocation_counter::measure;
use legwork_contact::soft_constraints::{
    ConstraintProblem, ConstraintSolution, Law, Rows, SoftConstraintSolver, SpringDamper,
};
use legwork_qp::Status;

#[test]
fn a_solve_of_a_known_shape_allocates_nothing() {
    let mut ramp = Ramp::new(0.25, 0.01);
    (0..5).for_each(|_| ramp.step());
    let mut stack = Stack::new(20, 1e11, 0.0);
    stack.assemble();
    let _ = stack.world.finish();
    stack.assemble();
    let mut foundation = Foundation::new(10, 1e7, 0.01);
    foundation.step(0.0, 50.0);
    for world in [&mut ramp.world, &mut stack.world, &mut foundation.world] {
        let count = measure(|| {
            let outcome = world.solver.solve(&world.problem, &mut world.solution);
            assert_eq!(outcome.status, Status::Solved);
        });
        assert_eq!(count.count_total, 0);
    }
    // What is predicted as it falls needs no more either.
    let mut falling = Stack::new(20, 1e11, 0.001);
    falling.assemble();
    let _ = falling.world.finish();
    for step in 0..40 {
        falling.assemble();
        let world = &mut falling.world;
        let count = measure(|| {
            let _ = world.solver.solve(&world.problem, &mut world.solution);
        });
        assert_eq!(count.count_total, 0, "step {step}");
        let _ = world.finish();
    }
}

#[test]
fn an_answer_has_the_bits_of_a_fresh_solver_s() {
    let mut stack = Stack::new(12, 1e11, 0.001);
    for step in 0..60 {
        stack.assemble();
        let guess = stack.world.solution.velocity.clone();
        let mut fresh = ConstraintSolution { velocity: guess, ..ConstraintSolution::default() };
        let _ = SoftConstraintSolver::default().solve(&stack.world.problem, &mut fresh);
        let _ = stack.world.finish();
        for (a, b) in fresh.velocity.iter().zip(&stack.world.solution.velocity) {
            assert_eq!(a.to_bits(), b.to_bits(), "step {step}");
        }
    }
}

/// Bad numbers are an answer, not a panic.
#[test]
fn numbers_that_form_no_problem_are_refused() {
    let laws = [
        SpringDamper::new(f64::NAN, 1.0, 1.0),
        SpringDamper::new(0.0, -1.0, 1.0),
        SpringDamper::new(0.0, 1.0, f64::INFINITY),
        SpringDamper { exponent: 0.5, ..SpringDamper::new(0.0, 1.0, 0.0) },
    ];
    let solve = |problem: &ConstraintProblem| {
        let mut solution = ConstraintSolution { velocity: vec![0.0], ..Default::default() };
        SoftConstraintSolver::default().solve(problem, &mut solution).status
    };
    for row in laws {
        let mut problem = ConstraintProblem::new(&[1], 0.01);
        problem.push(Rows::Dense(&[1.0]), Law::Unilateral(row));
        assert_eq!(solve(&problem), Status::InvalidData, "{row:?}");
    }
    let mut problem = ConstraintProblem::new(&[1], 0.0);
    assert_eq!(solve(&problem), Status::InvalidData);
    problem.time_step = 0.01;
    assert_eq!(solve(&problem), Status::Solved);
    problem.set_mass(legwork_contact::soft_constraints::BodyIndex(0), &[-1.0]);
    assert_eq!(solve(&problem), Status::NumericalTrouble);
}
