//! The `legwork` command with three blocks more.

mod cube;
mod limit_switch;
mod slope;

fn main() -> std::process::ExitCode {
    legwork::command(|registry| {
        legwork::blocks::register(registry);
        registry.block::<cube::Cube>("Cube(k: 2.0)");
        registry.block::<limit_switch::LimitSwitch>("LimitSwitch(limit: 1.0)");
        registry.block::<slope::Slope>("Slope(h: 0.001)");
    })
}
