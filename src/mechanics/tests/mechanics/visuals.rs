//! What links look like.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Model, Shape, Warning};

use crate::mjcf::inside;
use crate::robot_file::{BODY, floating};

/// What a link looks like: its own colour, that of a material of the robot, or none. A mistake is
/// a warning with its line, and the robot is read.
#[test]
fn visuals_are_read_and_their_mistakes_are_warnings() {
    let visual = |inside: &str| format!("<visual>{inside}</visual>\n");
    let ball = "<geometry><sphere radius='0.5'/></geometry>";
    let text = format!(
        "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material>\n\
         <link name='base'>{BODY}\n{}{}{}{}{}{}</link></robot>",
        visual(&format!("<origin xyz='1 2 3'/>{ball}<material name='red'/>")),
        visual(&format!("{ball}<material name='own'><color rgba='0 2 0 0.5'/></material>")),
        visual(&format!("{ball}<material name='unknown'/>")),
        visual("<geometry><sphere radius='much'/></geometry>"),
        visual(&format!("<origin xyz='1 2'/>{ball}")),
        visual("<origin/>"),
    );
    let (model, warnings) = floating(&text).unwrap();
    let colors: Vec<_> = model.visuals().iter().map(|visual| visual.color).collect();
    assert_eq!(colors, [Some([1.0, 0.0, 0.0, 1.0]), Some([0.0, 1.0, 0.0, 0.5]), None]);
    let first = &model.visuals()[0];
    assert_eq!(first.shape, Shape::Sphere { radius: 0.5 });
    assert_eq!(first.link_from_shape.translation, Vector3::new(1.0, 2.0, 3.0));
    let lines: Vec<usize> = warnings
        .iter()
        .map(|warning| match warning {
            Warning::NotShown { line, link, .. } if link == "base" => *line,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(lines, [7, 8, 9]);
    // In a world the links come behind those of the robots before.
    let world = Model::world(&[("a", &model), ("b", &model)]).unwrap();
    assert_eq!(world.visuals().len(), 6);
    assert_eq!(world.frame(world.visuals()[3].link).name, "b/base");
}

/// Of a model of MuJoCo, the shapes that its viewer shows by itself are those of groups 0 to 2,
/// whether they touch or not.
#[test]
fn visuals_of_mujoco_are_the_geoms_of_its_first_groups() {
    let model = inside(
        r#"<worldbody><body name="b"><freejoint/>
        <geom size="0.1"/>
        <geom type="box" size="1 2 3" pos="0 0 4" group="2" contype="0" conaffinity="0" mass="0"/>
        <geom size="0.3" group="3"/>
        <geom type="ellipsoid" size="1 2 3" contype="0" conaffinity="0" mass="0"/>
        </body></worldbody>"#,
    )
    .model;
    let shapes: Vec<&Shape> = model.visuals().iter().map(|visual| &visual.shape).collect();
    let cuboid = Shape::Box { size: Vector3::new(2.0, 4.0, 6.0) };
    assert_eq!(shapes, [&Shape::Sphere { radius: 0.1 }, &cuboid]);
    let second = &model.visuals()[1];
    assert_eq!(second.link_from_shape.translation, Vector3::new(0.0, 0.0, 4.0));
    assert_eq!(model.frame(second.link).name, "b");
    let touching: Vec<&Shape> = model.collisions().iter().map(|shape| &shape.shape).collect();
    assert_eq!(touching, [&Shape::Sphere { radius: 0.1 }, &Shape::Sphere { radius: 0.3 }]);
}
