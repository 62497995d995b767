//! A contact-solver block from its manual, its parameters and its method.

/// Makes the struct of a contact-solver block and its [`legwork_block::Block`]: it gets the ports
/// and the parameters that all such blocks share. Two arguments precede the struct: the cones of
/// the method, `pyramids` (`pyramids of coulomb` under that law) or `all cones`, and the meaning of
/// its iterations.
///
/// The method is a function `method(&self, size: ProblemSize) -> Method` of the struct, and
/// `method_numbers(size: ProblemSize) -> u64` how many numbers it keeps.
macro_rules! solver_block {
    (pyramids, $iterations:tt; $($block:tt)*) => {
        $crate::solvers::contact_solver::solver_block! {
            @ Pyramids(legwork_qp::SlidingLaw::Convex),
            "with a friction pyramid, or the circular cone, which a few pyramids solve",
            $iterations; $($block)*
        }
    };
    (pyramids of coulomb, $iterations:tt; $($block:tt)*) => {
        $crate::solvers::contact_solver::solver_block! {
            @ Pyramids(legwork_qp::SlidingLaw::Coulomb),
            "with a friction pyramid, or the circular cone, which a few pyramids solve",
            $iterations; $($block)*
        }
    };
    (all cones, $iterations:tt; $($block:tt)*) => {
        $crate::solvers::contact_solver::solver_block! {
            @ All, "with a friction pyramid or the circular cone", $iterations;
            $($block)*
        }
    };
    (
        @ $cones:ident $(($law:expr))?, $problem:tt, $iterations:tt;
        $(#[doc = $doc:tt])*
        #[aliases($($aliases:tt)*)]
        pub struct $block:ident { $($parameters:tt)* }
    ) => {
        $(#[doc = $doc])*
        #[legwork_block::ports(
            |asked: &$crate::solvers::contact_solver::Asked|
            in  problem: asked.problem.clone() as $crate::buses::ContactProblemBus, _, $problem;
            out f: legwork_block::Vector::of(3 * asked.count.clone()), "N",
                "contact forces on the robot, contact axes", frame "contact", shape "3k";
            out status: legwork_block::Int, _,
                "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
            out iterations: legwork_block::Int, _, $iterations;
            out residual: legwork_block::Real, "1",
                "residual relative to the force scale; infinite if unknown", infinite;
        )]
        #[legwork_block::parameters(aliases($($aliases)*))]
        pub struct $block {
            $($parameters)*
            /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
            /// `Fallback(…)`: another solver, of which status, iterations and residual then are.
            #[default]
            pub on_fail: $crate::solvers::contact_solver::OnFail,
            /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the
            /// default), `Every(n: 100, max: 10)`.
            #[default]
            pub dump: $crate::solvers::problem_dump::Dump,
            /// Solve anew in minor steps; otherwise at major steps, between which forces are held.
            #[default]
            pub in_minor_steps: bool,
        }

        impl $crate::solvers::contact_solver::SolverBlock for $block {
            fn cones(&self) -> $crate::solvers::contact_solver::Cones {
                $crate::solvers::contact_solver::Cones::$cones $(($law))?
            }

            fn numbers(&self, size: $crate::solvers::contact_solver::ProblemSize) -> u64 {
                Self::method_numbers(size)
            }

            fn solver(
                &self,
                size: $crate::solvers::contact_solver::ProblemSize,
            ) -> $crate::solvers::contact_solver::Method {
                self.method(size)
            }

            fn on_fail(&self) -> &$crate::solvers::contact_solver::OnFail {
                &self.on_fail
            }
        }

        impl legwork_block::Block for $block {
            const KIND: &'static str = stringify!($block);
            type Plan = $crate::solvers::contact_solver::SolverPlan;
            type State = $crate::solvers::state::SolverState;
            type Memo = $crate::solvers::state::SolverMemo;
            type Scratch = $crate::solvers::contact_solver::SolverScratch;

            fn plan(
                &self,
                ports: &mut legwork_block::Ports<'_>,
            ) -> Result<Self::Plan, legwork_block::Invalid> {
                use $crate::solvers::contact_solver::{Asked, solver_plan};
                let asked = Asked::new(ports);
                let io = self.declare(ports, &asked);
                Ok(solver_plan!(self, ports, asked, io, ()))
            }

            fn scratch(
                &self,
                plan: &Self::Plan,
                sizes: &legwork_block::Sizes<'_>,
            ) -> Self::Scratch {
                use $crate::solvers::contact_solver::{SolverScratch, chain};
                SolverScratch::new((), chain(self), plan.size(sizes))
            }

            fn memory(
                &self,
                plan: &Self::Plan,
                sizes: &legwork_block::Sizes<'_>,
            ) -> u64 {
                use $crate::solvers::contact_solver::{chain, chain_memory};
                chain_memory(chain(self), plan.size(sizes), sizes)
            }

            fn output(
                &self,
                plan: &Self::Plan,
                cx: &mut legwork_block::OutputCx<'_, Self>,
            ) -> legwork_block::Outcome {
                $crate::solvers::contact_solver::output(plan, cx, None)
            }

            $crate::solvers::contact_solver::solver_memory!();
            $crate::solvers::state::solver_functions!();
        }

        impl $block {
            fn policy(&self) -> $crate::solvers::state::Policy {
                self.on_fail.policy(stringify!($block), self.dump)
            }
        }
    };
}
pub(crate) use solver_block;

/// The plan of a block with the ports `$io` of its table, which are those of every contact solver.
macro_rules! solver_plan {
    ($block:ident, $ports:ident, $asked:ident, $io:ident, $call:expr) => {{
        $ports.updates();
        if !$block.in_minor_steps {
            $ports.per_major();
        }
        $crate::solvers::contact_solver::SolverPlan {
            problem: $io.problem,
            forces: $io.f,
            verdict: $crate::solvers::state::Verdict::of($io.status, $io.iterations, $io.residual),
            count: $asked.count,
            nv: $asked.nv,
            policy: $block.policy(),
            call: $call,
        }
    }};
}
pub(crate) use solver_plan;

/// State and memo of every contact-solver block.
macro_rules! solver_memory {
    () => {
        fn state(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::State {
            $crate::solvers::state::SolverState::new(3 * plan.size(sizes).contact_count, 0)
        }

        fn memo(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::Memo {
            use $crate::solvers::contact_solver::DEFAULT_WARM;
            let count = plan.size(sizes).contact_count;
            $crate::solvers::state::SolverMemo::new(3 * count, DEFAULT_WARM * count)
        }
    };
}
pub(crate) use solver_memory;
