//! Contacts and their forces, as blocks exchange them.

use legwork_block::Slot;
use legwork_program::{Node, Program};
use serde::{Deserialize, Serialize};

/// A contact of a robot with what it touches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// The robot's point that is nearest to what is touched [m].
    pub position: [f64; 3],
    /// Out of what is touched, of length one.
    pub normal: [f64; 3],
    /// Distance, negative inside [m].
    pub gap: f64,
    /// Force on the robot [N]; none if no block computes it.
    pub force: Option<[f64; 3]>,
    /// Coefficient of friction of this pair of surfaces; −1 leaves it to the contact model.
    pub friction: f64,
}

/// The points x with `normalᵀ x = offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Of length one, out of the ground.
    pub normal: [f64; 3],
    /// Distance from the origin along the normal [m].
    pub offset: f64,
}

impl Contact {
    /// The plane that it sees.
    pub(crate) fn plane(&self) -> Plane {
        let Self { position, normal, gap, .. } = self;
        let height: f64 = position.iter().zip(normal).map(|(p, n)| p * n).sum();
        Plane { normal: *normal, offset: height - gap }
    }
}

impl Plane {
    pub(crate) fn is_near(&self, other: &Self, most: f64) -> bool {
        let pairs = self.normal.iter().zip(&other.normal);
        let off =
            pairs.map(|(a, b)| (a - b).abs()).fold((self.offset - other.offset).abs(), f64::max);
        off <= most
    }
}

/// Name of the input with contacts, and of the port with their forces in contact axes.
const POINTS: &str = "points";
const FORCES: &str = "f";
/// Leaves of the bus `Contact`: position, axes, gap, velocity, two of the Jacobian, friction,
/// restitution, whether it is a row without surfaces.
const LEAVES: usize = 9;

/// Where the contacts of one block are.
#[derive(Debug, Clone)]
pub(crate) struct Contacts {
    /// Position, axes, gap, friction and whether no surfaces meet, of each.
    points: Vec<[Slot; 5]>,
    /// Their forces, three numbers each.
    forces: Option<Slot>,
}

impl Contacts {
    /// All contacts of a program, each once.
    pub(crate) fn of(program: &Program) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for node in program.nodes.iter() {
            let Some(contacts) = Self::of_node(node) else { continue };
            let known = found.iter_mut().find(|known| known.points == contacts.points);
            match known {
                Some(known) => known.forces = known.forces.or(contacts.forces),
                None => found.push(contacts),
            }
        }
        // A block may see some of the contacts of another.
        let all = found.clone();
        found.retain(|one| {
            let is_larger = |other: &Self| other.points.len() > one.points.len();
            let within = |other: &Self| one.points.iter().all(|point| other.points.contains(point));
            !all.iter().any(|other| is_larger(other) && within(other))
        });
        found
    }

    fn of_node(node: &Node) -> Option<Self> {
        let inputs = &node.io.inputs;
        let input = |name: &str| node.input_names.iter().position(|known| known == name);
        let slots = inputs.port(input(POINTS).filter(|port| *port < inputs.port_count())?);
        let is_contact = |leaves: &[Slot]| {
            matches!(leaves, [p, axes, gap, v, _, w, mu, e, row]
                if [p.len, axes.len, gap.len, v.len, w.len] == [3, 9, 1, 3, 3]
                    && [mu.len, e.len, row.len] == [1; 3])
        };
        let chunks = slots.chunks_exact(LEAVES);
        let is_whole = !slots.is_empty() && chunks.remainder().is_empty();
        if !is_whole || !chunks.clone().all(is_contact) {
            return None;
        }
        let points: Vec<[Slot; 5]> = chunks.map(|l| [l[0], l[1], l[2], l[6], l[8]]).collect();
        let is_force = |slots: &[Slot]| match slots {
            [slot] if slot.len as usize == 3 * points.len() => Some(*slot),
            _ => None,
        };
        let output = node.output_names.iter().position(|name| name == FORCES);
        let given = input(FORCES).and_then(|port| is_force(inputs.port(port)));
        let made = output.and_then(|port| is_force(node.io.outputs.port(port)));
        Some(Self { forces: given.or(made), points })
    }

    /// How many there are, with those that are no touching.
    pub(crate) fn count(&self) -> usize {
        self.points.len()
    }

    /// Where they are, and their forces.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.points.iter().flatten().copied().chain(self.forces)
    }

    /// Whether the contacts lie in signals that are known; forces that do not are left out.
    pub(crate) fn keep(&mut self, is_known: &impl Fn(&Slot) -> bool) -> bool {
        self.forces = self.forces.filter(is_known);
        self.points.iter().flatten().all(is_known)
    }

    /// The contacts in the signals of a step, without the ends of joints' ranges, whose forces are
    /// torques.
    pub(crate) fn read<'a>(&'a self, arena: &'a [f64]) -> impl Iterator<Item = Contact> + 'a {
        let number = |slot: &Slot, at: usize| arena[slot.range()][at];
        let all = self.points.iter().enumerate();
        let touching = all.filter(move |(_, [.., row])| number(row, 0) == 0.0);
        touching.map(move |(i, [position, axes, gap, friction, _])| {
            // Columns t₁, t₂ and n.
            let axis = |column: usize| [0, 1, 2].map(|row| number(axes, 3 * column + row));
            let force = self.forces.map(|forces| {
                let part = [0, 1, 2].map(|at| number(&forces, 3 * i + at));
                let columns = [axis(0), axis(1), axis(2)];
                [0, 1, 2].map(|row| (0..3).map(|column| columns[column][row] * part[column]).sum())
            });
            Contact {
                position: [0, 1, 2].map(|at| number(position, at)),
                normal: axis(2),
                gap: number(gap, 0),
                force,
                friction: number(friction, 0),
            }
        })
    }
}
