//! The list of all constructs, for the manual of the language.

use super::buses::BusField;
use super::checks::Condition;
use super::group::Group;
use super::interface::{InterfaceFile, NamedInterface};
use super::judge::Metric;
use super::leaf::Reserved;
use super::mask::{MaskFile, Parameter};
use super::names::Param;
use super::robot_file::RobotFile;
use super::run::{RunSection, VariableStep};
use super::sections::Diagram;
use super::structural::STRUCTURAL;
use super::variants::{ChoicesFile, Variant};
use crate::language::{Construct, Manual, OffsetPeriod, Port, Ports};
use crate::patch::Patch;
use crate::study::{Expect, PlotOf, Study};

/// The manuals of all constructs of the language, from the diagram down to its parts.
pub fn constructs() -> Vec<Manual> {
    let mut all = vec![
        Diagram::MANUAL,
        RunSection::MANUAL,
        VariableStep::MANUAL,
        Param::MANUAL,
        RobotFile::MANUAL,
        BusField::MANUAL,
        Variant::MANUAL,
        ChoicesFile::MANUAL,
        Reserved::MANUAL,
        OffsetPeriod::MANUAL,
        Ports::MANUAL,
        Port::MANUAL,
        NamedInterface::MANUAL,
        InterfaceFile::MANUAL,
        Group::MANUAL,
    ];
    all.extend(STRUCTURAL.iter().map(|construct| construct.manual));
    all.extend([MaskFile::MANUAL, Parameter::MANUAL]);
    all.extend([Metric::MANUAL, Condition::MANUAL, Patch::MANUAL, Study::MANUAL]);
    all.extend([Expect::MANUAL, PlotOf::MANUAL]);
    all
}

/// The manuals of those that stand among blocks, and hold blocks.
pub fn parts() -> impl Iterator<Item = Manual> {
    STRUCTURAL.iter().map(|construct| construct.manual).chain([Group::MANUAL])
}
