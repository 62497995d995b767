//! No native method allocates in a solve once its memory is made: not on the first problem, and not
//! on one that it rejects, gives up or proves to have no answer.

use crate::common::{INF, pyramids, written_out};
use allocation_counter::measure;
use legwork_qp::complementarity::{DenseMass, IndependentRows, Lemke, PrincipalPivoting};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    ConeShape, ContactProblemData, GeneralActiveSet, Given, Lcp, METHODS, ProblemSize, QpData,
    Status,
};
use std::hint::black_box;

/// Contacts for which the solvers are made; problems have up to as many.
const CONTACTS: usize = 6;
const SIDES: usize = 8;

fn allocations(f: impl FnOnce()) -> u64 {
    measure(f).count_total
}

#[test]
fn the_count_sees_an_allocation() {
    assert_eq!(allocations(|| drop(black_box(vec![1.0]))), 1);
}

/// Definite, redundant, masked, compliant, frictionless, ill-posed and bad ones.
fn contact_problems() -> Vec<ContactProblemData> {
    let mut shapes = pyramids(&[3, 4, SIDES]);
    shapes.push(ConeShape::circular());
    let mut all = Vec::new();
    for (index, shape) in shapes.into_iter().enumerate() {
        for seed in 0..12 {
            let contacts = 1 + seed as usize % CONTACTS;
            let mut problem = match seed % 3 {
                0 => random_definite(seed, contacts, shape.clone()),
                _ => rigid_body(seed + 50 * index as u64, contacts, shape.clone(), seed % 3 == 2),
            };
            match seed {
                6 => problem.compliance.fill(0.01),
                7 => problem.regularisation = 0.0,
                8 => problem.bias[0] = f64::NAN,
                // No row constrains a contact that the matrix does not move.
                9 => {
                    problem.inverse_inertia.fill(0.0);
                    problem.regularisation = 0.0;
                }
                10 => problem.inverse_inertia[0] = -1.0,
                _ => {}
            }
            all.push(problem);
        }
    }
    all
}

#[test]
fn contact_methods_do_not_allocate() {
    let problems = contact_problems();
    for method in METHODS.iter().filter(|method| !method.allocates) {
        let mut solver = method.tight(ProblemSize::new(CONTACTS, SIDES));
        let len = solver.warm_len(SIDES);
        let mut start = vec![1.0; CONTACTS * len];
        for is_cold in [true, false] {
            let (name, mut solved) = (method.name, 0);
            for (index, problem) in problems.iter().enumerate() {
                let mut forces = vec![0.0; problem.bias.len()];
                let len = problem.friction.len() * solver.warm_len(problem.cone.sides());
                let start = &mut start[..if is_cold { 0 } else { len }];
                let mut status = Status::InvalidData;
                let count = allocations(|| {
                    let given = Given::from(black_box(problem).view());
                    status = solver.solve_warm(&given, start, &mut forces).status;
                });
                assert_eq!(count, 0, "{name}, problem {index}: {status:?}");
                solved += usize::from(status.is_usable());
            }
            assert!(solved > problems.len() / 2, "{name}: {solved} of {}", problems.len());
        }
    }
}

/// What a method keeps is no more than its entry says.
#[test]
fn methods_keep_no_more_than_they_say() {
    for method in METHODS {
        for (contact_count, velocity_dim) in [(4, 18), (40, 6), (40, 60), (100, 18)] {
            let size = ProblemSize { contact_count, sides: 4, velocity_dim };
            let mut made = None;
            let kept = measure(|| made = Some((method.make)(size, &method.defaults())));
            let said = 8 * (method.memory)(size) + 20_000;
            let (bytes, name) = (kept.bytes_max, method.name);
            assert!(bytes <= said, "{name}, {size:?}: {bytes} of {said}");
        }
    }
}

#[test]
fn the_general_active_set_does_not_allocate() {
    let mut solver = GeneralActiveSet::new(3 * CONTACTS, CONTACTS * (SIDES + 1));
    let mut sides = vec![0.0; CONTACTS * (SIDES + 4)];
    for problem in contact_problems().iter().filter(|problem| problem.cone.sides() > 0) {
        let qp = written_out(problem);
        let (n, m) = (qp.gradient.len(), qp.row_lower.len());
        let mut x = vec![0.0; n];
        let count = allocations(|| {
            let _ = solver.solve(black_box(&qp.view()), &mut x);
            let _ = solver.solve_warm(black_box(&qp.view()), &mut sides[..n + m], &mut x);
        });
        assert_eq!(count, 0);
    }
    // Bounds on both sides of everything, equalities, and programs without an answer.
    for seed in 0..300 {
        let case = crate::hard::storm::storm_program(seed);
        let (n, m) = (case.program.gradient.len(), case.program.row_lower.len());
        let mut solver = GeneralActiveSet::new(n, m);
        let (mut x, mut sides) = (vec![0.0; n], vec![0.0; n + m]);
        let count = allocations(|| {
            let _ = solver.solve(black_box(&case.program.view()), &mut x);
            let _ = solver.solve_warm(black_box(&case.program.view()), &mut sides, &mut x);
        });
        assert_eq!(count, 0, "seed {seed}");
    }
    let contradiction = QpData {
        hessian: vec![1.0],
        gradient: vec![0.0],
        lower: vec![INF],
        upper: vec![INF],
        ..QpData::default()
    };
    let mut status = Status::Solved;
    let count = allocations(|| status = solver.solve(&contradiction.view(), &mut [0.0]).status);
    assert_eq!((count, status), (0, Status::PrimalInfeasible));
}

#[test]
fn the_pivoting_methods_do_not_allocate_on_plain_problems() {
    let n = 12;
    let mut lemke = Lemke::new(n);
    let mut pivoting = PrincipalPivoting::new(n, n);
    let (mut z, mut flags) = (vec![0.0; n], vec![0.0; n]);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let kinds = crate::lcp::problems::KINDS;
        let kind = kinds[seed as usize % kinds.len()];
        let size = 1 + random.below(n);
        let problem = crate::lcp::problems::problem(seed, kind, size, seed % 16 > 7);
        let lcp = Lcp::new(&problem.matrix, &problem.vector).unwrap();
        let (z, flags) = (&mut z[..size], &mut flags[..size]);
        let count = allocations(|| {
            let _ = lemke.solve(black_box(&lcp), z);
            let _ = lemke.solve_warm(black_box(&lcp), flags, z);
            let _ = pivoting.solve_lcp(black_box(&lcp), flags, z);
        });
        // The refinement of a certificate uses a decomposition, which allocates.
        assert!(count == 0 || !kind.is_solvable(), "seed {seed}, {kind:?}: {count}");
    }
}

#[test]
fn the_operator_form_does_not_allocate() {
    let (dim, contacts) = (18, 10);
    let mut random = Random::new(4);
    let mut mass = vec![0.0; dim * dim];
    (0..dim).for_each(|i| mass[i * dim + i] = 1.0 + random.uniform());
    let normals: Vec<f64> = (0..dim * contacts).map(|_| random.normal()).collect();
    let vector: Vec<f64> = (0..contacts).map(|_| random.normal()).collect();
    let factor = DenseMass::factor(dim, &mass).unwrap();
    let mut pivoting = PrincipalPivoting::new(contacts, dim);
    let mut rows = IndependentRows::new(dim);
    let (mut flags, mut forces, mut kept) =
        (vec![0.0; contacts], vec![0.0; contacts], vec![false; contacts]);
    let count = allocations(|| {
        for _ in 0..3 {
            let _ = pivoting.solve(&normals, &factor, &vector, &mut flags, &mut forces);
            rows.reset(dim);
            let _ = rows.find(&normals, &factor, &mut kept);
        }
    });
    assert_eq!(count, 0);
}
