//! Laws of duels: the judge is independent of the solvers, tables repeat, and shrinking keeps the
//! disagreement.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    Cone, ConeProgramData, ConeShape, LcpData, NamedProblem, Outcome, Problem, QpData, Status,
    problem_file,
};

#[path = "../../qp/tests/laws/hard/problems.rs"]
mod hard;

use hard::{KnownOptimum, hard_problems};

use super::Dispute;
use super::judge::{disagreement, distance, judge};
use super::rounds::run;
use super::shrink::shrink_while;
use super::solvers::{Answer, DuelSolver, make, solver_names};

const INF: f64 = f64::INFINITY;

/// The inscribed pyramid of four sides.
fn pyramid() -> ConeShape {
    ConeShape::new(Cone::default()).unwrap()
}

fn solver(name: &str) -> Box<dyn DuelSolver> {
    make(name).unwrap()
}

/// The largest disagreement of two solvers on a problem.
fn differ(problem: &Problem, solvers: &mut [Box<dyn DuelSolver>]) -> f64 {
    let named = NamedProblem::new("p", "", problem.clone());
    let table = run(&[named], solvers, 1, &mut || 0.0);
    table.disputes.first().map_or(0.0, |worst| worst.disagreement.size())
}

fn random_qp(seed: u64, n: usize, m: usize) -> QpData {
    let mut random = Random::new(seed);
    let b: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    let gram = |e: usize| (0..n).map(|k| b[e / n * n + k] * b[e % n * n + k]).sum();
    let mut qp = QpData { hessian: (0..n * n).map(gram).collect(), ..QpData::default() };
    (0..n).for_each(|i| qp.hessian[i * n + i] += 0.1);
    qp.gradient = (0..n).map(|_| random.normal()).collect();
    qp.rows = (0..m * n).map(|_| random.normal()).collect();
    qp.row_lower = (0..m).map(|_| -random.uniform()).collect();
    qp.row_upper = vec![INF; m];
    qp.lower = (0..n).map(|_| -random.uniform()).collect();
    qp.upper = vec![INF; n];
    qp
}

fn random_lcp(seed: u64, n: usize, skew: f64) -> LcpData {
    let mut lcp = LcpData { matrix: random_qp(seed, n, 0).hessian, vector: Vec::new() };
    let mut random = Random::new(seed);
    for i in 0..n {
        for j in 0..i {
            let s = skew * random.normal();
            lcp.matrix[j * n + i] += s;
            lcp.matrix[i * n + j] -= s;
        }
    }
    lcp.vector = (0..n).map(|_| random.normal()).collect();
    lcp
}

fn cone_program(seed: u64) -> ConeProgramData {
    let linear = QpData { ..random_qp(seed, 6, 2) };
    let mut random = Random::new(seed);
    ConeProgramData {
        linear,
        cone_rows: (0..36).map(|_| random.normal()).collect(),
        cone_offset: vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        cone_sizes: vec![3, 3],
    }
}

fn problems() -> Vec<NamedProblem> {
    let mut all = Vec::new();
    let mut add = |name: String, problem| {
        all.push(NamedProblem::new(name, "", problem));
    };
    for seed in 0..4 {
        let round = ConeShape::circular();
        add(format!("pyramid {seed}"), Problem::Contact(random_definite(seed, 4, pyramid())));
        add(format!("round {seed}"), Problem::Contact(random_definite(seed, 4, round)));
        add(format!("foot {seed}"), Problem::Contact(rigid_body(seed, 4, pyramid(), true)));
        add(format!("qp {seed}"), Problem::Qp(random_qp(seed, 6, 4)));
        add(format!("cones {seed}"), Problem::ConeProgram(cone_program(seed)));
        add(format!("lcp {seed}"), Problem::Lcp(random_lcp(seed, 6, 0.0)));
        add(format!("skew lcp {seed}"), Problem::Lcp(random_lcp(seed, 6, 1.0)));
    }
    all
}

fn all_solvers() -> Vec<Box<dyn DuelSolver>> {
    solver_names().iter().map(|name| solver(name)).collect()
}

#[test]
fn a_solver_has_a_name_and_an_unknown_one_is_none() {
    for name in solver_names() {
        assert_eq!(solver(name).name(), *name);
    }
    assert!(make("simplex").is_none());
}

#[test]
fn every_solver_solves_what_it_takes_and_agrees() {
    let problems = problems();
    let mut ticks = 0.0;
    let mut clock = || {
        ticks += 1e-6;
        ticks
    };
    let table = run(&problems, &mut all_solvers(), 3, &mut clock);
    for (problem, row) in table.problems.iter().zip(&table.cells) {
        assert!(row.iter().any(|cell| cell.status == Status::Solved), "{problem}: nobody");
        for (score, cell) in table.scores.iter().zip(row) {
            let what = format!("{} on {problem}: {cell:?}", score.solver);
            assert_eq!(cell.differing_repeats, 0, "{what}");
            if cell.status == Status::UnsupportedCone {
                assert!(cell.residual.is_nan() && cell.disagreement == 0.0, "{what}");
                continue;
            }
            assert!(cell.status.is_usable(), "{what}");
            assert!(cell.residual < 1e-4, "{what}");
            assert!(cell.disagreement < 1e-3, "{what}");
            assert!((cell.seconds - 1e-6).abs() < 1e-9, "{what}");
        }
    }
    for score in &table.scores {
        assert_eq!((score.overclaimed, score.unrepeatable, score.refuted), (0, 0, 0), "{score:?}");
        assert!(score.accepted >= 8, "{score:?}");
    }
    // Every pair is listed once, and the worst of a cell is that of its pairs.
    for pair in table.disputes.windows(2) {
        assert!(pair[0].disagreement.size() >= pair[1].disagreement.size());
        assert_ne!((pair[0].problem, pair[0].solvers), (pair[1].problem, pair[1].solvers));
    }
    for (problem, row) in table.cells.iter().enumerate() {
        for (solver, cell) in row.iter().enumerate() {
            let of_cell = |dispute: &&Dispute| {
                let (a, b) = dispute.solvers;
                dispute.problem == problem && (a == solver || b == solver)
            };
            let sizes = table.disputes.iter().filter(of_cell).map(|d| d.disagreement.size());
            assert_eq!(sizes.fold(0.0, f64::max).to_bits(), cell.disagreement.to_bits());
        }
    }
    let again = run(&problems, &mut all_solvers(), 1, &mut || 0.0);
    for (a, b) in table.cells.iter().flatten().zip(again.cells.iter().flatten()) {
        assert_eq!((a.status, a.iterations), (b.status, b.iterations));
        assert_eq!(a.residual.to_bits(), b.residual.to_bits());
    }
}

#[test]
fn the_judge_is_not_fooled() {
    let problem = Problem::Contact(random_definite(1, 3, pyramid()));
    let solved = Outcome { status: Status::Solved, iterations: 1, residual: 0.0 };
    let mut liar = solver("active_set").solve(&problem);
    assert!(judge(&problem, &liar) < 1e-10);
    let honest = liar.clone();
    liar.x[0] += 1.0;
    liar.outcome = solved;
    assert!(judge(&problem, &liar) > 1e-3);
    assert!(disagreement(&problem, &honest, &liar).size() > 1e-3);
    liar.x[0] = f64::NAN;
    assert!(judge(&problem, &liar).is_nan());
    assert_eq!(disagreement(&problem, &honest, &liar).size(), INF);
    let refused =
        Answer { outcome: Outcome { status: Status::PrimalInfeasible, ..solved }, ..liar };
    assert_eq!(disagreement(&problem, &honest, &refused).size(), INF);
}

#[test]
fn infeasible_and_unbounded_programs_are_no_disagreement() {
    let mut qp = random_qp(1, 4, 2);
    (0..4).for_each(|j| qp.rows[2 * j + 1] = qp.rows[2 * j]);
    (qp.row_lower, qp.row_upper) = (vec![1.0, -INF], vec![INF, 0.5]);
    qp.lower = vec![-INF; 4];
    let infeasible = Problem::Qp(qp);
    let mut solvers = vec![solver("active_set"), solver("clarabel")];
    for solver in &mut solvers {
        let answer = solver.solve(&infeasible);
        assert_eq!(answer.outcome.status, Status::PrimalInfeasible, "{}", solver.name());
        assert!(judge(&infeasible, &answer).is_nan());
    }
    assert_eq!(differ(&infeasible, &mut solvers), 0.0);
}

/// A solver that goes wrong if a contact has this little friction.
struct Slips;

impl DuelSolver for Slips {
    fn name(&self) -> String {
        "slips".to_owned()
    }

    fn solve(&mut self, problem: &Problem) -> Answer {
        let mut answer = solver("active_set").solve(problem);
        if let Problem::Contact(contact) = problem
            && contact.friction.contains(&0.125)
        {
            answer.x[2] += 10.0;
        }
        answer
    }
}

#[test]
fn the_worst_disagreement_shrinks_to_the_contact_that_makes_it() {
    let mut problem = random_definite(3, 12, pyramid());
    problem.friction[7] = 0.125;
    problem.compliance.fill(0.01);
    let problem = Problem::Contact(problem);
    let mut solvers: Vec<Box<dyn DuelSolver>> = vec![solver("active_set"), Box::new(Slips)];
    let size = differ(&problem, &mut solvers);
    assert!(size > 1e-2, "{size}");
    let mut shrink = || shrink_while(&problem, &mut |p| differ(p, &mut solvers) >= 1e-2);
    let (small, again) = (shrink(), shrink());
    let (Problem::Contact(small), Problem::Contact(again)) = (small, again) else { panic!() };
    assert_eq!((small.friction.as_slice(), small.compliance.len()), (&[0.125][..], 0));
    assert_eq!((&small.bias, &small.inverse_inertia), (&again.bias, &again.inverse_inertia));
    // Without a disagreement nothing is cut.
    let same = shrink_while(&problem, &mut |p| differ(p, &mut solvers[..1]) >= 1e-2);
    assert_eq!(same.dim(), problem.dim());
}

#[test]
fn programs_and_complementarity_problems_shrink_to_what_matters() {
    let mut program = cone_program(1);
    program.linear.gradient[4] = 77.0;
    program.linear.row_lower[1] = -55.0;
    program.cone_offset[3] = 33.0;
    program.linear.lower[2] = -22.0;
    let holds = |p: &Problem| match p {
        Problem::ConeProgram(p) => {
            p.view().is_ok()
                && p.linear.gradient.contains(&77.0)
                && p.linear.row_lower.contains(&-55.0)
                && p.cone_offset.contains(&33.0)
                && p.linear.lower.contains(&-22.0)
        }
        _ => false,
    };
    let mut calls = 0;
    let small = shrink_while(&Problem::ConeProgram(program), &mut |p| {
        calls += 1;
        holds(p)
    });
    let Problem::ConeProgram(small) = small else { panic!() };
    assert_eq!(small.linear.gradient.len(), 2, "{small:?}");
    assert_eq!((small.linear.row_lower.len(), small.cone_sizes.as_slice()), (1, &[3][..]));
    assert_eq!(small.linear.lower.iter().filter(|v| v.is_finite()).count(), 1);
    assert!(calls < 100, "{calls} trials");

    let lcp = Problem::Lcp(random_lcp(1, 9, 0.5));
    let Problem::Lcp(wanted) = &lcp else { panic!() };
    let (a, b) = (wanted.vector[2], wanted.vector[7]);
    let small = shrink_while(
        &lcp,
        &mut |p| matches!(p, Problem::Lcp(p) if p.vector.contains(&a) && p.vector.contains(&b)),
    );
    let Problem::Lcp(small) = small else { panic!() };
    assert_eq!(small.vector, [a, b]);
    assert_eq!(small.matrix[2], wanted.matrix[7 * 9 + 2]);
}

/// A pair `w = 1, z = 0` that no other knows: interior points leave a rounding of z, and that is
/// all right.
#[test]
fn an_unknown_without_effect_is_no_alarm() {
    for skew in [0.0, 1.0] {
        let lcp = random_lcp(3, 4, skew);
        let n = 5;
        let mut larger = LcpData { matrix: vec![0.0; n * n], vector: vec![1.0; n] };
        for (j, column) in lcp.matrix.chunks_exact(4).enumerate() {
            larger.matrix[j * n..j * n + 4].copy_from_slice(column);
        }
        larger.vector[..4].copy_from_slice(&lcp.vector);
        let named = NamedProblem::new("p", "", Problem::Lcp(larger));
        let table = run(&[named], &mut all_solvers(), 1, &mut || 0.0);
        for (score, cell) in table.scores.iter().zip(&table.cells[0]) {
            assert_eq!(score.overclaimed, 0, "skew {skew}, {}: {cell:?}", score.solver);
            assert!(cell.disagreement < 1e-4, "skew {skew}, {}: {cell:?}", score.solver);
        }
    }
}

/// Answers of zero: what interior points leave of zero is no difference, and a small answer that is
/// wrong is one.
#[test]
fn rounding_of_zero_is_no_alarm() {
    for (least, most) in [(-1.0, 0.0), (0.0, 1.0), (-1e6, 1e6)] {
        let qp = QpData {
            hessian: vec![1.0, 0.0, 0.0, 1.0],
            gradient: vec![0.0; 2],
            rows: vec![1.0, 1.0],
            row_lower: vec![least],
            row_upper: vec![most],
            lower: vec![],
            upper: vec![],
        };
        let mut solvers = [solver("active_set"), solver("clarabel")];
        assert!(differ(&Problem::Qp(qp), &mut solvers) < 1e-4, "{least}, {most}");
    }
    let qp = QpData {
        hessian: vec![1.0],
        gradient: vec![-1e-3],
        rows: vec![],
        row_lower: vec![],
        row_upper: vec![],
        lower: vec![-1.0],
        upper: vec![1.0],
    };
    assert!(distance(&Problem::Qp(qp), &[1e-3], &[1.01e-3]) > 1e-3);
}

/// A strictly convex program of sliding feet, nearly flat in six directions, on which Lemke's
/// method ends in a ray: it is not unbounded, and the others agree on its minimum.
#[test]
fn a_ray_of_a_definite_objective_is_no_proof() {
    let text = include_str!("sliding_feet.json");
    let problem = problem_file::read(text).unwrap().problem;
    let answer = |name: &str| solver(name).solve(&problem);
    let (lemke, active_set, clarabel) = (answer("lemke"), answer("active_set"), answer("clarabel"));
    assert_ne!(lemke.outcome.status, Status::Unbounded);
    for exact in [&active_set, &clarabel] {
        assert_eq!(exact.outcome.status, Status::Solved);
        assert!(judge(&problem, exact) < 1e-9);
    }
    assert!(disagreement(&problem, &active_set, &clarabel).size() < 1e-6);
}

/// Within 1e-6 of `1 + |optimum|`, where the program has one.
#[test]
fn lemke_reaches_the_published_optima_of_hard_problems() {
    for problem in hard_problems() {
        let answer = solver("lemke").solve(&Problem::Qp(problem.program.clone()));
        let expected = match problem.optimum {
            KnownOptimum::Value(optimum) => {
                let found = problem.program.view().objective(&answer.x) + problem.constant;
                let error = (found - optimum).abs() / (1.0 + optimum.abs());
                assert!(error < 1e-6, "{}: off by {error:.1e}", problem.name);
                Status::Solved
            }
            KnownOptimum::Infeasible => Status::PrimalInfeasible,
            KnownOptimum::Unbounded => Status::Unbounded,
        };
        assert_eq!(answer.outcome.status, expected, "{}", problem.name);
    }
}
