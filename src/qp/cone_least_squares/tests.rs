use super::*;
use crate::active_set::GeneralActiveSet;
use crate::cone::{Cone, PyramidFit};
use crate::problems::Random;

fn pyramid(sides: usize) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides, fit: PyramidFit::Inscribed }).expect("enough sides")
}

/// A random problem of k contacts, r rows, m bounded rows.
struct Sample {
    matrix: Vec<f64>,
    target: Vec<f64>,
    friction: Vec<f64>,
    rows: Vec<f64>,
    lower: Vec<f64>,
    cone: ConeShape,
}

impl Sample {
    /// `scale` of F and of the target, to show that units do not matter.
    fn random(random: &mut Random, (r, k, m): (usize, usize, usize), sides: usize) -> Self {
        let scale = libm::pow(10.0, 3.0 * random.normal());
        let matrix: Vec<f64> = (0..3 * k * r).map(|_| scale * random.normal()).collect();
        let target = (0..r).map(|_| 30.0 * scale * random.normal()).collect();
        let friction = (0..k).map(|_| 0.2 + random.uniform()).collect();
        // A force inside all pyramids satisfies the rows, some just so.
        let mut image = vec![0.0; r];
        for column in matrix.chunks_exact(3 * r) {
            axpy(10.0 * random.uniform(), &column[2 * r..], &mut image);
        }
        let rows: Vec<f64> = (0..m * r).map(|_| scale * random.normal()).collect();
        let lower = (rows.chunks_exact(r.max(1)))
            .map(|row| dot(row, &image) - scale * scale * random.uniform())
            .collect();
        Self { matrix, target, friction, rows, lower, cone: pyramid(sides) }
    }

    fn view(&self) -> ConeLeastSquares<'_> {
        ConeLeastSquares {
            matrix: &self.matrix,
            target: &self.target,
            friction: &self.friction,
            cone: &self.cone,
            rows: &self.rows,
            lower: &self.lower,
            regularisation: 1e-9,
        }
    }

    fn image(&self, x: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.target.len()];
        for (column, x) in self.matrix.chunks_exact(self.target.len()).zip(x) {
            axpy(*x, column, &mut image);
        }
        image
    }

    /// The answer of the dense active set.
    fn dense(&self) -> Vec<f64> {
        let mut qp = QpData::default();
        let unit = self.view().write_qp(&mut qp).expect("forces have an effect");
        let mut x = vec![0.0; 3 * self.friction.len()];
        let outcome = GeneralActiveSet::default().solve(&qp.view(), &mut x);
        assert!(outcome.status.is_usable(), "the other solver: {outcome:?}");
        x.iter_mut().for_each(|x| *x *= unit);
        x
    }
}

/// Largest difference over the size of `scale`.
fn distance(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    max_abs(&difference) / max_abs(scale)
}

#[test]
fn it_agrees_with_the_dense_active_set() {
    let mut random = Random::new(7);
    let mut solver = ConeLeastSquaresSolver::default();
    let (mut sliding, mut total) = (0, 0);
    for (r, k, m) in [(6, 1, 0), (6, 4, 0), (6, 4, 4), (3, 2, 2), (12, 3, 3), (6, 8, 8), (1, 2, 1)]
    {
        for sides in [3, 4, 8] {
            for _ in 0..20 {
                let sample = Sample::random(&mut random, (r, k, m), sides);
                let mut x = vec![0.0; 3 * k];
                let outcome = solver.solve(&sample.view(), &mut x);
                assert_eq!(outcome.status, Status::Solved, "{r} {k} {m} {sides}: {outcome:?}");
                total += outcome.iterations;
                let dense = sample.dense();
                let (image, other) = (sample.image(&x), sample.image(&dense));
                let far = distance(&image, &other, &sample.target);
                assert!(far < 1e-6, "{r} {k} {m} {sides}: images differ by {far:e}");
                for (x, &mu) in x.chunks_exact(3).zip(&sample.friction) {
                    let x = [x[0], x[1], x[2]];
                    assert!(sample.cone.violation(mu, x) < 1e-8 * max_abs(&x).max(1e-6));
                    sliding +=
                        usize::from(sample.cone.violation(0.999 * mu, x) > 0.0 && x[2] > 1e-3);
                }
            }
        }
    }
    assert!(total < 12 * 420, "{total} iterations in 420 solves");
    assert!(sliding > 100, "only {sliding} forces on their cones");
}

/// Where the answer is not unique the least norm is chosen: four feet of a table share its weight.
#[test]
fn redundant_contacts_share() {
    let mut random = Random::new(3);
    let sample = Sample::random(&mut random, (6, 1, 0), 4);
    let mut table = sample;
    table.matrix = table.matrix.repeat(4);
    table.friction = vec![0.5; 4];
    let mut x = vec![0.0; 12];
    let outcome = ConeLeastSquaresSolver::default().solve(&table.view(), &mut x);
    assert_eq!(outcome.status, Status::Solved);
    for leg in x.chunks_exact(3).skip(1) {
        assert!(distance(&x[..3], leg, &x) < 1e-7, "{x:?}");
    }
}

#[test]
fn friction_may_be_none_or_without_limit() {
    let mut random = Random::new(5);
    for _ in 0..20 {
        let mut sample = Sample::random(&mut random, (6, 3, 0), 4);
        sample.friction = vec![0.0, f64::INFINITY, 0.5];
        let mut x = vec![0.0; 9];
        let outcome = ConeLeastSquaresSolver::default().solve(&sample.view(), &mut x);
        assert_eq!(outcome.status, Status::Solved, "{outcome:?}");
        assert!(max_abs(&x[..2]) < 1e-9 * max_abs(&x), "{x:?}");
        assert!(x[2] >= 0.0 && x[5] >= 0.0);
        let (image, other) = (sample.image(&x), sample.image(&sample.dense()));
        let far = distance(&image, &other, &sample.target);
        assert!(far < 1e-6, "images differ by {far:e}");
        // No force along the free axes would lower the objective.
        let mut rest = sample.image(&x);
        axpy(-1.0, &sample.target, &mut rest);
        for axis in [3, 4] {
            let column = &sample.matrix[axis * 6..(axis + 1) * 6];
            let slope = dot(column, &rest).abs();
            let scale = (dot(column, column) * dot(&sample.target, &sample.target)).sqrt();
            assert!(slope < 1e-7 * scale, "{slope} of {scale}");
        }
    }
}

#[test]
fn bad_data_are_answers() {
    let mut sample = Sample::random(&mut Random::new(1), (6, 2, 2), 4);
    let mut x = vec![0.0; 6];
    let mut solver = ConeLeastSquaresSolver::default();
    // Rows that contradict each other.
    sample.rows.copy_within(..6, 6);
    for n in &mut sample.rows[6..] {
        *n = -*n;
    }
    sample.lower = vec![1.0, 1.0];
    assert!(!solver.solve(&sample.view(), &mut x).status.is_usable());
    sample.target[0] = f64::NAN;
    assert_eq!(solver.solve(&sample.view(), &mut x).status, Status::InvalidData);
    sample.target.fill(0.0);
    sample.lower.fill(0.0);
    let outcome = solver.solve(&sample.view(), &mut x);
    assert_eq!((outcome.status, x), (Status::Solved, vec![0.0; 6]));
}
