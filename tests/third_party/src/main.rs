//! The `legwork` command with two blocks more.

mod limit_switch;
mod slope;

fn main() -> std::process::ExitCode {
    legwork::command(|registry| {
        legwork::blocks::register(registry);
        registry.block::<limit_switch::LimitSwitch>("LimitSwitch(limit: 1.0)");
        registry.block::<slope::Slope>("Slope(h: 0.001)");
    })
}
