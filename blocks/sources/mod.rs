//! Signals that come from nowhere: constants, ramps, steps, sine waves, noise, and signals played
//! from a table, a CSV file or the recording of an earlier run.

mod clock;
mod constant;
mod ramp;
mod random_number;
mod signal_builder;
mod signal_from_file;
mod signal_from_recording;
mod sine;
mod step;
mod timetable;
mod uniform_random_number;
mod white_noise;

use legwork_block::Registry;

pub use clock::Clock;
pub use constant::Constant;
pub use ramp::Ramp;
pub use random_number::RandomNumber;
pub use signal_builder::SignalBuilder;
pub use signal_from_file::SignalFromFile;
pub use signal_from_recording::SignalFromRecording;
pub use sine::Sine;
pub use step::Step;
pub use timetable::After;
pub use uniform_random_number::UniformRandomNumber;
pub use white_noise::WhiteNoise;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "sources",
        "Constants, ramps, steps, waves, noise, signals from files and recordings.",
    );
    shelf.block::<Clock>("Clock()");
    shelf.block::<Constant>("Constant(value: [1, 2, 3])");
    shelf.block::<Ramp>("Ramp(slope: \"0.5 m/s\", start: \"1 s\")");
    shelf.block::<RandomNumber>("RandomNumber(deviation: 0.01)");
    shelf.block::<SignalBuilder>("SignalBuilder(times: [0, 1, 2], values: [0, 1, 0])");
    shelf
        .block::<SignalFromFile>("SignalFromFile(path: \"signals/gust.csv\", column: \"force\")")
        .plays_tables::<SignalFromFile>();
    shelf.block::<SignalFromRecording>(
        "SignalFromRecording(path: \"signals/gust.mcap\", topic: \"gust.y\")",
    );
    shelf.block::<Sine>("Sine(amplitude: \"10 deg\", frequency: \"2 Hz\")");
    shelf.block::<Step>("Step(time: \"1 s\", before: 0, after: 1)");
    shelf.block::<UniformRandomNumber>("UniformRandomNumber(minimum: -1)");
    shelf.block::<WhiteNoise>("WhiteNoise(power: 1e-4)");
}
