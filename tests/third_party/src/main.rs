//! The `legwork` command with one block more.

mod limit_switch;

fn main() -> std::process::ExitCode {
    legwork::command(|registry| {
        legwork::blocks::register(registry);
        registry.block::<limit_switch::LimitSwitch>("LimitSwitch(limit: 1.0)");
    })
}
