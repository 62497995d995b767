//! The factor of blocks in a sparse pattern.

use std::collections::BTreeSet;

use super::matrices::{Random, assert_within, product};
use legwork_linalg::{BlockCholesky, cholesky};

/// Random couplings of blocks of unequal sizes, one in two of them of rigid bodies: solves within
/// the bound of a dense factor (Higham, theorem 10.4), whatever was factored before.
#[test]
fn a_factor_of_a_random_graph_solves_its_matrix() {
    let mut factor = BlockCholesky::default();
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(12);
        let size = |random: &mut Random| if seed % 2 == 0 { 6 } else { 1 + random.below(7) };
        let sizes: Vec<usize> = (0..count).map(|_| size(&mut random)).collect();
        let mut pairs = BTreeSet::new();
        for _ in 0..2 * count {
            let (a, b) = (random.below(count), random.below(count));
            if a != b {
                pairs.insert((a.min(b), a.max(b)));
            }
        }
        let pairs: Vec<_> = pairs.into_iter().collect();
        factor.analyse(&sizes, &pairs);
        let n: usize = sizes.iter().sum();
        let starts: Vec<usize> = (0..count).map(|at| sizes[..at].iter().sum()).collect();
        let mut dense = vec![0.0; n * n];
        factor.values_mut().fill(0.0);
        for (a, b) in pairs.iter().copied().chain((0..count).map(|a| (a, a))) {
            let slot = factor.slot(a, b);
            for i in 0..sizes[a] {
                for j in (0..sizes[b]).filter(|&j| a != b || j <= i) {
                    let dominant = if a == b && i == j { 40.0 } else { 0.0 };
                    let value = random.signed() + dominant;
                    let (row, column) = (starts[a] + i, starts[b] + j);
                    dense[column * n + row] = value;
                    dense[row * n + column] = value;
                    let at = if slot.is_transposed { i * sizes[b] + j } else { j * sizes[a] + i };
                    factor.values_mut()[slot.start + at] = value;
                }
            }
        }
        let b = random.vector(n);
        let mut x = b.clone();
        assert!(factor.factor(), "seed {seed}");
        factor.solve(&mut x);
        let norm: f64 = x.iter().map(|x| 40.0 * x.abs()).sum();
        let share = 12.0 * (n + 2) as f64 * f64::EPSILON;
        assert_within(&product(&dense, n, &x, n), &b, &vec![norm; n], share, "solve");
    }
}

/// A matrix of one block has the factor and the solutions of the dense one, bit by bit.
#[test]
fn one_block_is_dense() {
    for n in [1, 3, 6, 11] {
        let mut random = Random::new(n as u64);
        let mut a: Vec<f64> = random.vector(n * n);
        (0..n).for_each(|i| a[i * n + i] += 2.0 * n as f64);
        let mut factor = BlockCholesky::default();
        factor.analyse(&[n], &[]);
        factor.values_mut().copy_from_slice(&a);
        assert!(factor.factor());
        let mut inverse_diagonal = vec![0.0; n];
        assert!(cholesky::factor(&mut a, &mut inverse_diagonal, 0.0));
        assert_eq!(factor.values_mut(), a);
        let mut x = random.vector(n);
        let mut y = x.clone();
        factor.solve(&mut x);
        cholesky::solve(&a, &inverse_diagonal, &mut y);
        assert_eq!(x, y);
    }
}

/// A chain needs no fill: one block below each diagonal but the last.
#[test]
fn a_chain_fills_nothing() {
    let count = 50;
    let pairs: Vec<_> = (1..count).map(|b| (b - 1, b)).collect();
    let mut factor = BlockCholesky::default();
    factor.analyse(&vec![6; count], &pairs);
    assert_eq!(factor.values_mut().len(), 36 * (2 * count - 1));
}

#[test]
fn an_indefinite_matrix_has_no_factor() {
    let mut factor = BlockCholesky::default();
    factor.analyse(&[1, 1], &[(0, 1)]);
    let (a, b, c) = (factor.slot(0, 0), factor.slot(1, 1), factor.slot(0, 1));
    let values = factor.values_mut();
    (values[a.start], values[b.start], values[c.start]) = (1.0, 1.0, 2.0);
    assert!(!factor.factor());
    factor.values_mut().fill(f64::NAN);
    assert!(!factor.factor());
}
