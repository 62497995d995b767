//! Bodies in groups of four.
//!
//! Algorithms that walk over all bodies take four at a time, one per lane (see `quad`): the legs
//! of a quadruped or the limbs of a humanoid are traversed together. A list scheduler forms the
//! groups: of the bodies whose parents are placed, the four with the longest chains below them come
//! next, or those whose chains have begun. Parents are thus in earlier groups than their children,
//! and a body keeps the lane of its parent where it can, so that most groups follow another lane by
//! lane. Of a serial chain each lane has a stretch (`chain`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::body::{Axis, Body};
use crate::branch::BranchPattern;
use crate::chain::{Chain, serial};
use crate::model::Tree;
use crate::quad::{LANES, Laned, Quad, Quad3, QuadMatrix, QuadSymmetric, pick};

/// Position of a body: group and lane.
pub(crate) type Place = (usize, usize);

/// No entry.
pub(crate) const NONE: usize = usize::MAX;
/// No entry of a step.
pub(crate) const NO_ENTRY: u32 = u32::MAX;

/// Where the lanes of a group come from. Deep trees have millions: they are small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Each from the same lane of one group.
    Same(u32),
    /// All from one body.
    One(u32, u32),
    /// Each from its own group and lane.
    Each([(u32, u32); LANES]),
}

/// How a group is walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// From its parents, which are done.
    Tree,
    /// It begins the chain of this index, all of whose groups are done with it.
    Start(usize),
    /// It is one of a chain.
    Link,
}

/// Four bodies, or fewer: idle lanes repeat the first live one without mass.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) live: [bool; LANES],
    pub(crate) bodies: [usize; LANES],
    /// 1 in idle lanes.
    pub(crate) idle: Quad,
    pub(crate) parent: Source,
    pub(crate) role: Role,
    /// Joint frame in the parent.
    pub(crate) rotation: QuadMatrix,
    pub(crate) offset: Quad3,
    /// `scale` of joints that turn, else 0.
    pub(crate) turns: Quad,
    /// `scale` of joints that slide, else 0.
    pub(crate) slides: Quad,
    /// Displacements at coordinate zero.
    pub(crate) turned: Quad,
    pub(crate) slid: Quad,
    pub(crate) q_index: [usize; LANES],
    pub(crate) v_index: [usize; LANES],
    pub(crate) mass: Quad,
    pub(crate) center: Quad3,
    pub(crate) inertia: QuadSymmetric,
    pub(crate) subtree_mass: Quad,
    /// Parts of ball joints, which are finished one by one.
    pub(crate) balls: Vec<BallPart>,
    /// First entry of each lane's row in the mass matrix, if its base floats; else [`NONE`].
    pub(crate) base_rows: [usize; LANES],
    /// The bodies between each lane and its root, nearest first; of a chain none, see `chain`.
    pub(crate) path: Vec<Step>,
    /// Index of each lane's rotor.
    pub(crate) rotors: [usize; LANES],
}

/// A part of a ball joint in one lane.
#[derive(Clone, Debug)]
pub(crate) struct BallPart {
    pub(crate) lane: usize,
    pub(crate) axis: Axis,
    pub(crate) q_index: usize,
    pub(crate) carrier: Place,
    pub(crate) parent: Place,
}

/// One step up the tree.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) source: Source,
    /// Entry of each lane in the packed rows of the mass matrix; [`NO_ENTRY`] beyond its root.
    pub(crate) entries: [u32; LANES],
}

/// All groups, parents first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) groups: Vec<Group>,
    /// Number of leading groups that hold the roots, by tree.
    pub(crate) root_groups: usize,
    /// Serial chains, cut over the lanes.
    pub(crate) chains: Vec<Chain>,
    /// By body.
    pub(crate) places: Vec<Place>,
}

impl Layout {
    pub(crate) fn new(
        trees: &[Tree],
        bodies: &[Body],
        joint_velocities: &[usize],
        pattern: &BranchPattern,
        coupled: bool,
    ) -> Self {
        let (order, places, root_groups, chains) = schedule(bodies);
        let mut rotor_of = vec![NONE; pattern.dim()];
        for (rotor, &k) in joint_velocities.iter().enumerate() {
            rotor_of[k] = rotor;
        }
        let groups = order.iter().enumerate().map(|(g, members)| {
            let mut group = Group::new(members, bodies, &places);
            if g >= root_groups && !coupled {
                group.find_rows(trees, bodies, pattern, &rotor_of);
                if !chains.iter().any(|chain| chain.groups().contains(&g)) {
                    group.find_path(bodies, &places, pattern);
                }
            }
            group
        });
        let mut groups: Vec<Group> = groups.collect();
        for (index, chain) in chains.iter().enumerate() {
            groups[chain.start].role = Role::Start(index);
            for g in chain.groups() {
                groups[g].role = Role::Link;
                groups[g].parent = Source::Same((g - 1) as u32);
            }
        }
        Self { groups, root_groups, chains, places }
    }

    /// Bodies of the longest chain.
    pub(crate) fn longest_chain(&self) -> usize {
        self.chains.iter().map(|chain| chain.len).max().unwrap_or(0)
    }
}

/// Members of a group by lane.
type Members = [Option<usize>; LANES];

/// The groups in order, the place of each body, how many groups hold roots, and the chains.
fn schedule(bodies: &[Body]) -> (Vec<Members>, Vec<Place>, usize, Vec<Chain>) {
    let mut height = vec![0_usize; bodies.len()];
    for i in (0..bodies.len()).rev() {
        let parent = bodies[i].parent;
        if parent != i {
            height[parent] = height[parent].max(height[i] + 1);
        }
    }
    // Children of each body, and the roots, which come first, four to a group.
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    let mut roots = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        match body.parent == i {
            true => roots.push(i),
            false => children[body.parent].push(i),
        }
    }
    let mut places = vec![(0, 0); bodies.len()];
    let mut order: Vec<Members> = Vec::new();
    for chunk in roots.chunks(LANES) {
        let mut members = [None; LANES];
        for (lane, &root) in chunk.iter().enumerate() {
            members[lane] = Some(root);
            places[root] = (order.len(), lane);
        }
        order.push(members);
    }
    let root_groups = order.len();
    // Trees are not mixed beyond their roots: a robot in a world has the sums that it has alone.
    let mut chains = Vec::new();
    for &root in &roots {
        match serial(root, bodies, &children) {
            Some(chain) => chains.push(cut_chain(places[root], &chain, &mut places, &mut order)),
            None => schedule_tree(root, bodies, &children, &height, &mut places, &mut order),
        }
    }
    (order, places, root_groups, chains)
}

/// Appends the groups of a chain.
fn cut_chain(
    root: Place,
    bodies: &[usize],
    places: &mut [Place],
    order: &mut Vec<Members>,
) -> Chain {
    let (start, len) = (order.len(), bodies.len());
    let chain = Chain { start, end: start + len.div_ceil(LANES), root, len };
    order.resize(chain.end + 1, [None; LANES]);
    for (i, &body) in bodies.iter().enumerate() {
        places[body] = chain.place(i);
        order[places[body].0][places[body].1] = Some(body);
    }
    chain
}

/// Appends the groups of one tree: the cheaper of two orders.
fn schedule_tree(
    root: usize,
    bodies: &[Body],
    children: &[Vec<usize>],
    height: &[usize],
    places: &mut Vec<Place>,
    order: &mut Vec<Members>,
) {
    let [stays, first] = [true, false].map(|stays| {
        let (mut places, mut order) = (places.clone(), order.clone());
        list_tree(root, children, height, stays, &mut places, &mut order);
        // Lanes from several groups cost about a third of what the arithmetic of a group does.
        let sources = order
            .iter()
            .map(|members| source(&members.map(|member| member.map(|i| places[bodies[i].parent]))));
        let mixed = sources.filter(|source| matches!(source, Source::Each(_))).count();
        (3 * order.len() + mixed, places, order)
    });
    let (_, best_places, best_order) = if stays.0 <= first.0 { stays } else { first };
    *places = best_places;
    *order = best_order;
}

/// Appends the groups of one tree. Lanes go to the bodies with the longest chains below them, then
/// in file order; with `stays` a chain that has begun goes on in its lane to its end.
fn list_tree(
    root: usize,
    children: &[Vec<usize>],
    height: &[usize],
    stays: bool,
    places: &mut [Place],
    order: &mut Vec<Members>,
) {
    let key = |&i: &usize| (Reverse(height[i]), i);
    // The set is kept sorted.
    let mut ready: BTreeSet<(Reverse<usize>, usize)> = children[root].iter().map(key).collect();
    let mut before: Members = [None; LANES];
    loop {
        let mut members: Members = [None; LANES];
        if stays {
            for (member, parent) in members.iter_mut().zip(before) {
                *member = parent.and_then(|i| children[i].iter().copied().min_by_key(key));
                ready.retain(|&(_, i)| Some(i) != *member);
            }
        }
        // The lanes that are left go to the bodies with most below them.
        let free = members.iter().filter(|member| member.is_none()).count();
        let mut chosen: Vec<usize> =
            (0..free).map_while(|_| ready.pop_first()).map(|(_, i)| i).collect();
        chosen.sort_unstable();
        // Of those that come from elsewhere, each takes the lane of its parent if that is free.
        chosen.retain(|i| {
            let lane =
                before.iter().position(|parent| parent.is_some_and(|p| children[p].contains(i)));
            let slot = lane.map(|lane| &mut members[lane]).filter(|slot| slot.is_none());
            slot.map(|slot| *slot = Some(*i)).is_none()
        });
        // The rest fill up in file order.
        let mut chosen = chosen.into_iter();
        for slot in members.iter_mut().filter(|slot| slot.is_none()) {
            *slot = chosen.next();
        }
        if members.iter().all(Option::is_none) {
            return;
        }
        // What has been placed makes its children ready.
        for (lane, member) in members.iter().enumerate() {
            if let Some(i) = *member {
                places[i] = (order.len(), lane);
                ready.extend(children[i].iter().map(key));
            }
        }
        order.push(members);
        before = members;
    }
}

/// The source of live lanes at these places; idle lanes copy the first live one.
fn source(places: &[Option<Place>; LANES]) -> Source {
    let live: Vec<(usize, Place)> = places
        .iter()
        .enumerate()
        .filter_map(|(lane, place)| place.map(|place| (lane, place)))
        .collect();
    let Some(&(_, first)) = live.first() else { return Source::One(0, 0) };
    if live.iter().all(|&(lane, (group, from))| group == first.0 && from == lane) {
        return Source::Same(first.0 as u32);
    }
    if live.iter().all(|&(_, place)| place == first) {
        return Source::One(first.0 as u32, first.1 as u32);
    }
    Source::Each(places.map(|place| {
        let (group, lane) = place.unwrap_or(first);
        (group as u32, lane as u32)
    }))
}

impl Group {
    fn new(members: &Members, bodies: &[Body], places: &[Place]) -> Self {
        // A group has a member, unless a chain begins from it.
        let first = members.iter().flatten().next().copied().unwrap_or(0);
        let live = members.map(|member| member.is_some());
        let own = members.map(|member| member.unwrap_or(first));
        let quad = |value: &dyn Fn(&Body) -> f64| Quad::from(own.map(|i| value(&bodies[i])));
        let loaded = |value: &dyn Fn(&Body) -> f64| {
            Quad::from(std::array::from_fn(|l| if live[l] { value(&bodies[own[l]]) } else { 0.0 }))
        };
        let turning = |body: &Body| body.axis == Axis::Revolute;
        let sliding = |body: &Body| body.axis == Axis::Prismatic;
        let mut group = Self {
            live,
            bodies: own,
            idle: Quad::from(live.map(|live| f64::from(u8::from(!live)))),
            parent: source(&members.map(|member| member.map(|i| places[bodies[i].parent]))),
            role: Role::Tree,
            rotation: QuadMatrix::splat(&nalgebra::Matrix3::identity()),
            offset: Quad3::zero(),
            turns: quad(&|body| if turning(body) { body.scale } else { 0.0 }),
            slides: quad(&|body| if sliding(body) { body.scale } else { 0.0 }),
            turned: quad(&|body| if turning(body) { body.shift } else { 0.0 }),
            slid: quad(&|body| if sliding(body) { body.shift } else { 0.0 }),
            q_index: own.map(|i| bodies[i].q_index),
            v_index: own.map(|i| bodies[i].v_index),
            mass: loaded(&|body| body.inertia.mass()),
            center: Quad3::zero(),
            inertia: QuadSymmetric::zero(),
            subtree_mass: loaded(&|body| body.subtree_mass),
            balls: Vec::new(),
            base_rows: [NONE; LANES],
            path: Vec::new(),
            rotors: [NONE; LANES],
        };
        // What is no number of a lane each: vectors, matrices, and the parts of ball joints.
        for (l, &i) in own.iter().enumerate() {
            let body = &bodies[i];
            group.rotation.set_lane(l, &body.rotation);
            group.offset.set_lane(l, &body.offset);
            if !live[l] {
                continue;
            }
            group.center.set_lane(l, &body.inertia.center_of_mass());
            group.inertia.set_lane(l, body.inertia.about_center());
            if matches!(body.axis, Axis::BallX | Axis::BallY | Axis::Ball) {
                group.balls.push(BallPart {
                    lane: l,
                    axis: body.axis,
                    q_index: body.q_index,
                    carrier: places[body.carrier],
                    parent: places[body.parent],
                });
            }
        }
        group
    }

    /// Finds the rotors of the lanes, and where their rows of the mass matrix begin.
    fn find_rows(
        &mut self,
        trees: &[Tree],
        bodies: &[Body],
        pattern: &BranchPattern,
        rotor_of: &[usize],
    ) {
        for l in (0..LANES).filter(|&l| self.live[l]) {
            let body = &bodies[self.bodies[l]];
            if trees[body.tree].is_floating() {
                self.base_rows[l] = pattern.row(body.v_index).start;
            }
            self.rotors[l] = rotor_of[body.v_index];
        }
    }

    /// Finds the bodies between each lane and its root, and their entries of the mass matrix.
    fn find_path(&mut self, bodies: &[Body], places: &[Place], pattern: &BranchPattern) {
        let mut above: [Option<usize>; LANES] =
            std::array::from_fn(|l| self.live[l].then(|| bodies[self.bodies[l]].parent));
        // The bodies between a lane and its root are as many as the ancestors of its coordinate.
        let depth = |l: usize| pattern.ancestors(bodies[self.bodies[l]].v_index).len();
        self.path.reserve_exact((0..LANES).map(depth).max().unwrap_or(0));
        loop {
            let joints = above.map(|i| i.filter(|&i| bodies[i].parent != i));
            if joints.iter().all(Option::is_none) {
                return;
            }
            let entries = std::array::from_fn(|l| {
                joints[l].map_or(NO_ENTRY, |i| {
                    pattern.entry(bodies[self.bodies[l]].v_index, bodies[i].v_index) as u32
                })
            });
            let source = source(&joints.map(|i| i.map(|i| places[i])));
            self.path.push(Step { source, entries });
            above = joints.map(|i| i.map(|i| bodies[i].parent));
        }
    }

    /// Four numbers from a slice.
    #[inline(always)]
    pub(crate) fn rates(&self, velocity: &[f64]) -> Quad {
        pick(velocity, &self.v_index)
    }
}

/// The lanes of a field from `source`.
#[inline(always)]
pub(crate) fn gather<S, T: Laned>(source: &Source, states: &[S], field: impl Fn(&S) -> &T) -> T {
    match source {
        Source::Same(group) => *field(&states[*group as usize]),
        Source::One(group, lane) => T::spread(field(&states[*group as usize]), *lane as usize),
        Source::Each(places) => T::collect(
            places.map(|(group, _)| field(&states[group as usize])),
            places.map(|(_, lane)| lane as usize),
        ),
    }
}

/// Adds the lanes of `value` to the lanes of `source`. Lanes that share a body add in
/// their order; idle lanes hold zeros.
#[inline(always)]
pub(crate) fn scatter<S, T: Laned>(
    source: &Source,
    live: &[bool; LANES],
    states: &mut [S],
    field: impl Fn(&mut S) -> &mut T,
    value: &T,
) {
    match source {
        Source::Same(group) => field(&mut states[*group as usize]).add_all(value),
        Source::One(group, into) => {
            field(&mut states[*group as usize]).add_sum(*into as usize, value);
        }
        Source::Each(places) => {
            for (from, &(group, into)) in places.iter().enumerate() {
                if live[from] {
                    field(&mut states[group as usize]).add_lane(into as usize, value, from);
                }
            }
        }
    }
}
