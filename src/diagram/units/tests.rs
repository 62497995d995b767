//! Equations between units: chains, loops, powers, rates.

use super::*;
use crate::ids::Id as _;

const HERE: Cause = Cause::Parts(BlockId::FIRST, 0);

fn solution(count: u32) -> UnitSolution {
    let mut solution = UnitSolution::default();
    solution.grow(count as usize);
    solution
}

fn var(i: u32) -> SymbolicUnit {
    Var(i).into()
}

fn is(unit: Unit) -> UnitTerm {
    UnitTerm::Of(unit.into())
}

#[test]
fn chains_of_factors_are_solved_in_any_order() {
    // Unit i + 1 is unit i times a metre; deep enough to end a recursion.
    let count = 30_000;
    for backwards in [false, true] {
        let mut solution = solution(count);
        let mut links: Vec<u32> = (1..count).collect();
        if backwards {
            links.reverse();
        }
        for i in links {
            let half = if i % 2 == 0 { Unit::METRE } else { Unit::new(0, -1, 0, 0) };
            let product = var(i - 1).times(&half.into()).expect("small exponents");
            let (a, b) = (UnitTerm::Of(var(i)), UnitTerm::Of(product));
            assert_eq!(solution.equal(&a, &b, HERE), Ok(()));
        }
        let first = UnitTerm::Of(var(0));
        assert_eq!(solution.equal(&is(Unit::NEWTON), &first, HERE), Ok(()));
        assert_eq!(solution.of(Var(count - 1)), Unit::NEWTON.over(Unit::METRE));
        assert_eq!(solution.of(Var(count - 2)), Some(Unit::NEWTON));
    }
}

#[test]
fn a_chain_of_bare_factors_is_known_by_few_of_them() {
    let count = 2000;
    for backwards in [false, true] {
        let mut solution = solution(2 * count);
        (count..2 * count).for_each(|factor| solution.bare(Var(factor)));
        let mut links: Vec<u32> = (1..count).collect();
        if backwards {
            links.reverse();
        }
        for i in links {
            // Numbered against the flow of signals, as blocks may be.
            let product = var(i).times(&var(count + i)).expect("small exponents");
            let (a, b) = (UnitTerm::Of(var(i - 1)), UnitTerm::Of(product));
            assert_eq!(solution.equal(&a, &b, HERE), Ok(()));
        }
        for i in 0..count {
            let unit = solution.unit(&var(i)).expect("a unit");
            assert!(unit.vars().count() <= MOST_KNOWN_BARE + 2, "{i}: {}", unit.vars().count());
        }
    }
}

#[test]
fn a_loop_of_factors_that_do_not_cancel_has_no_solution() {
    let mut solution = solution(2);
    let twice = var(0).times(&Unit::METRE.into()).expect("small exponents");
    assert_eq!(solution.equal(&UnitTerm::Of(var(1)), &UnitTerm::Of(twice), HERE), Ok(()));
    let clash = solution.equal(&UnitTerm::Of(var(0)), &UnitTerm::Of(var(1)), HERE);
    assert!(matches!(clash, Err(Clash::Factor(_))), "{clash:?}");
}

#[test]
fn powers_wait_until_one_unknown_is_left() {
    // x^2 y^3 = kg^2 m^3, then x = kg.
    let mut solution = solution(2);
    let square = var(0).power(2, 1).expect("a power");
    let product = square.times(&var(1).power(3, 1).expect("a power")).expect("a product");
    let right = is(Unit::new(2, 3, 0, 0));
    assert_eq!(solution.equal(&UnitTerm::Of(product), &right, HERE), Ok(()));
    assert_eq!(solution.of(Var(1)), None);
    assert_eq!(solution.equal(&UnitTerm::Of(var(0)), &is(Unit::KILOGRAM), HERE), Ok(()));
    assert!(solution.revisit().is_empty());
    assert_eq!(solution.of(Var(1)), Some(Unit::METRE));
}

#[test]
fn a_computed_rate_is_angular_or_not() {
    // (m/s)/m drives rad/s as well as Hz; a written Hz does not.
    let mut solution = solution(1);
    let rate = Unit::METRE_PER_SECOND.over(Unit::METRE).expect("a unit");
    assert_eq!(solution.equal(&is(rate), &is(Unit::RADIAN_PER_SECOND), HERE), Ok(()));
    assert_eq!(solution.equal(&is(rate), &is(Unit::HERTZ), HERE), Ok(()));
    let clash = solution.equal(&is(Unit::HERTZ), &is(Unit::RADIAN_PER_SECOND), HERE);
    assert_eq!(clash, Err(Clash::Differ(Unit::HERTZ, Unit::RADIAN_PER_SECOND)));
}
