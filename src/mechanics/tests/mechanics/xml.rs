//! XML of robot files: foreign elements, and violations that ROS accepts.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Shape, Warning};

use crate::robot_file::{BODY, floating};

/// Extensions of simulators with their own namespaces, comments and text do no harm, and are named.
#[test]
fn foreign_elements_are_skipped() {
    let text = format!(
        "\u{feff}<?xml version='1.0'?><!-- <robot> --><robot name='a &amp; b' xmlns:g='x'>\n\
         <gazebo><g:plugin g:file='p.so'>text &amp;</g:plugin></gazebo>\n\
         <link name='base'>{BODY}<visual><geometry><nothing/></geometry></visual>\n\
         <collision><geometry><mesh filename='package://x/y.stl' scale='1 2 3'/></geometry>\
         </collision></link><![CDATA[ <link/> ]]></robot>\n<!-- end -->"
    );
    let (model, warnings) = floating(&text).unwrap();
    assert_eq!(model.name(), "a & b");
    let [shown, not_used] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(matches!(shown, Warning::NotShown { line: 4, .. }), "{shown:?}");
    assert_eq!(not_used.to_string(), "not used: <gazebo> (line 2)");
    let expected =
        Shape::Mesh { path: "package://x/y.stl".into(), scale: Vector3::new(1.0, 2.0, 3.0) };
    assert_eq!(model.collisions()[0].shape, expected);
}

/// ROS accepts blank lines before the declaration, undeclared prefixes and `--` in comments. Lines
/// of warnings and errors stay those of the file.
#[test]
fn violations_of_xml_that_ros_accepts_are_repaired() {
    let text = format!(
        "\n \n<?xml version=\"1.0\"?>\n<!-- é -- <a> ----\n -->\n<robot name=\"r\">\n\
         <gazebo g:file=\"p\"><sensor:camera/><h:b/></gazebo>\n<link name=\"base\">{BODY}</link>\n\
         <![CDATA[ <!-- ]]></robot>"
    );
    let (model, warnings) = floating(&text).unwrap();
    assert_eq!((model.name(), model.total_mass()), ("r", 1.0));
    let [not_used] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(not_used.to_string(), "not used: <gazebo> (line 7)");
    let wrong = text.replace("mass value=\"1\"", "mass value=\"x\"");
    assert_eq!(floating(&wrong).unwrap_err().line(), Some(8));
    let unclosed = text.replace("</gazebo>", "</gazebo><n:c>");
    assert_eq!(floating(&unclosed).unwrap_err().line(), Some(10));
    let many: String = (0..100).map(|i| format!("<p{i}:a/>")).collect();
    let many = text.replace("<h:b/>", &many);
    assert!(floating(&many).unwrap_err().to_string().contains("namespace"));
}
