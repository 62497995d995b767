//! Types and places of the ports of one block that is run by hand.

use std::collections::BTreeMap;

use legwork_block::{Arg, Dim, Feed, Feeds, PortTable, Slot, Type, Var};

/// Values of the type variables of one block.
#[derive(Default)]
pub(crate) struct Solution {
    dims: BTreeMap<Var, usize>,
    types: BTreeMap<Var, Type>,
}

impl Solution {
    pub(crate) fn unify(&mut self, declared: &Type, given: &Type) {
        match (declared, given) {
            (Type::Var(var), _) => {
                self.types.insert(*var, given.clone());
            }
            (Type::Vector(n), Type::Vector(m)) => self.solve(n, m),
            (Type::Matrix(r, c), Type::Matrix(s, d)) => {
                self.solve(r, s);
                self.solve(c, d);
            }
            (Type::Array(of, n), Type::Array(given_of, m)) => {
                self.solve(n, m);
                self.unify(of, given_of);
            }
            (Type::Bus(a), Type::Bus(b)) => {
                assert_eq!(a.name, b.name, "input of another bus");
                for (a, b) in a.fields.iter().zip(&b.fields) {
                    self.unify(&a.ty, &b.ty);
                }
            }
            _ => assert_eq!(declared, given, "input of another type"),
        }
    }

    fn solve(&mut self, declared: &Dim, given: &Dim) {
        let given = given.known().expect("tests give sizes");
        let rest = self.dim(declared);
        match rest.terms.as_slice() {
            [] => assert_eq!(rest.known(), Some(given), "input of another size"),
            [(factor, var)] => {
                let value = (given as i64 - rest.constant) / factor;
                self.dims.insert(*var, value as usize);
            }
            _ => panic!("cannot solve {declared} = {given}"),
        }
    }

    pub(crate) fn dim(&self, dim: &Dim) -> Dim {
        dim.substitute(&|var| self.dims.get(&var).map(|&n| Dim::fixed(n)))
    }

    pub(crate) fn resolve(&self, ty: &Type) -> Type {
        let find = |var: Var| self.types.get(&var).cloned().unwrap_or(Type::Var(var));
        ty.map(&|dim| self.dim(dim), &find, &Arg::clone)
    }

    pub(crate) fn vars(&self, count: u32) -> Vec<usize> {
        (0..count).map(|v| self.dims.get(&Var(v)).copied().unwrap_or(0)).collect()
    }
}

/// Appends a port of type `ty` at the end of the arena.
pub(crate) fn place(table: &mut PortTable, arena: &mut Vec<f64>, ty: &Type) {
    let leaves = ty.leaves().unwrap_or_else(|| panic!("{ty} is not known"));
    table.push(leaves.into_iter().map(|len| {
        let slot = Slot { start: arena.len() as u32, len: len as u32 };
        arena.resize(arena.len() + len, 0.0);
        slot
    }));
}

/// The inputs as an output group may read them: NaN where they are not among its feeds, so that a
/// wrong feedthrough shows.
pub(crate) fn visible(inputs: &PortTable, mut arena: Vec<f64>, feeds: &Feeds) -> Vec<f64> {
    let Feeds::Only(feeds) = feeds else { return arena };
    for port in (0..inputs.port_count()).filter(|port| !feeds.contains(&Feed::Input(*port as u16)))
    {
        for slot in inputs.port(port) {
            arena[slot.range()].fill(f64::NAN);
        }
    }
    arena
}
