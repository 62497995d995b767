//! `World`: several robots and free bodies that share a world.

use std::sync::Arc;

use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, other, parameters};
use legwork_mechanics::{FrameId, Model};

use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Several robots and free bodies in one world, for the `robots:` section.
///
/// Blocks take it where they take a robot. `q`, `ν` and `τ` stack those of the robots in the order
/// of the list, M is block-diagonal, links and joints are named `robot/link` and `robot/joint`. The
/// feet are those of all robots; keyframes are those of each robot.
///
/// ```ron
/// robots: {
///     "go":    Urdf(path: "std:robots/mini_cheetah/mini_cheetah.urdf"),
///     "box":   FreeBody(mass: "2 kg", shape: Box(size: [0.3, 0.3, 0.2])),
///     "scene": World(of: ["go", "box"]),
/// },
/// ```
#[parameters(aliases("several robots", "scene"))]
pub struct World {
    /// The robots, each of them once.
    pub of: Vec<RobotName>,
}

impl World {
    fn members(&self, others: &dyn OtherResources) -> Result<Vec<Arc<RobotModel>>, Invalid> {
        let wrong = |message: String| Invalid::parameter("of", message);
        if self.of.is_empty() {
            return Err(wrong("expected at least one robot, found none".to_owned()));
        }
        let mut members: Vec<Arc<RobotModel>> = Vec::with_capacity(self.of.len());
        for name in &self.of {
            let name = name.as_str();
            if members.iter().any(|member| member.name == name) {
                return Err(wrong(format!("robot `{name}` is listed twice")));
            }
            // The state of the world has fields of these names.
            if ["q", "nu"].contains(&name) {
                let message = format!("expected a robot with a name of its own, found `{name}`");
                return Err(wrong(message).hint(format!(
                    "`{name}` is a field of every state: give the robot another name"
                )));
            }
            let robot = other::<RobotModel>(others, "of", name)?;
            if robot.is_world() {
                return Err(wrong(format!("expected robots, found the world `{name}`"))
                    .hint("name the robots that it is made of"));
            }
            members.push(robot);
        }
        Ok(members)
    }
}

/// Feet of all robots, as frames of the world.
fn feet(members: &[Arc<RobotModel>], world: &Model) -> Vec<FrameId> {
    let names = members.iter().flat_map(|robot| {
        let link = |foot: &FrameId| robot.model.frame(*foot).name.as_str();
        robot.feet.iter().map(move |foot| format!("{}/{}", robot.name, link(foot)))
    });
    names.filter_map(|name| world.find_frame(&name)).collect()
}

impl ResourceKind for World {
    const KIND: &'static str = "World";

    fn load(
        self,
        name: &str,
        _: &dyn Files,
        others: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        let members = self.members(others)?;
        let parts: Vec<(&str, &Model)> =
            members.iter().map(|robot| (robot.name.as_str(), &robot.model)).collect();
        let model =
            Model::world(&parts).map_err(|error| Invalid::parameter("of", error.to_string()))?;
        let feet = feet(&members, &model);
        let world = RobotModel {
            start: None,
            name: name.to_owned(),
            model,
            feet,
            keyframes: std::collections::BTreeMap::new(),
            members,
            of_file: Vec::new(),
            hulls: std::collections::BTreeMap::new(),
        };
        Ok((Arc::new(world), Vec::new()))
    }
}

#[cfg(test)]
pub(crate) mod tests;
