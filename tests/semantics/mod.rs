//! Conformance tests of the execution rules; each name carries the number of its clause.
//!
//! Most run small diagrams of the standard library; what only a probe can see is seen by blocks of
//! the tests' own, registered as a third party would.
//!
//! | clause | in |
//! |---|---|
//! | 2 compile, 2.4 rates | `rates`, `identity`, `verify`, `conditional`; 2.2 in `allocations` |
//! | 3 a major step | `steps`; variable steps and located events in `events`, `crossings` |
//! | 4 plants and contact | `plants` |
//! | 5 loops | `steps`; `Solve` in `conditional` and `loops` |
//! | 6 conditional and called parts | `conditional`, `functions`, `steps` |
//! | 7 state, 8 order, 9 failure | `state`, `snapshots`, `history`, `fork`, `conditional` |
//! | 10 solvers | `solvers` |
//! | 11 ports of a diagram | `ports` |

mod clauses;
mod conditional;
mod crossings;
mod events;
mod fork;
mod functions;
mod harness;
mod history;
mod identity;
mod labels;
mod loops;
mod plants;
mod playback;
mod ports;
mod pulses;
mod rates;
mod snapshots;
mod solvers;
mod state;
mod steps;
mod verify;
