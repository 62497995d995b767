//! The [`legwork_block::Block`] of every [`super::SolverBlock`].

/// Implements [`legwork_block::Block`] for a [`super::SolverBlock`].
macro_rules! solver_block {
    ($block:ident) => {
        impl legwork_block::Block for $block {
            const KIND: &'static str = stringify!($block);
            type Plan = $crate::solvers::contact_solver::SolverPlan;
            type State = $crate::solvers::contact_solver::SolverState;
            type Memo = $crate::solvers::contact_solver::SolverMemo;
            type Scratch = $crate::solvers::contact_solver::SolverScratch;

            fn plan(
                &self,
                ports: &mut legwork_block::Ports<'_>,
            ) -> Result<Self::Plan, legwork_block::Invalid> {
                $crate::solvers::contact_solver::plan(self, ports)
            }

            fn state(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::State {
                $crate::solvers::contact_solver::state(plan, sizes)
            }

            fn scratch(
                &self,
                plan: &Self::Plan,
                sizes: &legwork_block::Sizes<'_>,
            ) -> Self::Scratch {
                $crate::solvers::contact_solver::scratch(self, plan, sizes)
            }

            fn memo(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::Memo {
                $crate::solvers::contact_solver::memo(plan, sizes)
            }

            fn clear_memo(&self, memo: &mut Self::Memo) {
                $crate::solvers::contact_solver::clear_memo(memo);
            }

            fn output(
                &self,
                plan: &Self::Plan,
                cx: &mut legwork_block::OutputCx<'_, Self>,
            ) -> legwork_block::Outcome {
                $crate::solvers::contact_solver::output(plan, cx)
            }

            fn update(
                &self,
                _: &Self::Plan,
                cx: &mut legwork_block::UpdateCx<'_, Self>,
            ) -> legwork_block::Outcome {
                $crate::solvers::contact_solver::update(cx);
                Ok(())
            }

            fn report(
                &self,
                _: &Self::Plan,
                state: &Self::State,
                report: &mut legwork_block::Report,
            ) {
                $crate::solvers::contact_solver::report(state, report);
            }

            fn report_memo(
                &self,
                _: &Self::Plan,
                memo: &Self::Memo,
                report: &mut legwork_block::Report,
            ) {
                $crate::solvers::contact_solver::report_memo(memo, report);
            }
        }
    };
}
pub(crate) use solver_block;
