//! Models of MuJoCo: damaged ones, and those that few bytes make large.

use legwork_mechanics::{
    InverseDynamics, Kinematics, MassMatrix, MjcfOptions, Model, Placement, bias_force, mass_matrix,
};

use crate::Target;
use crate::mutate::{self, Random};
use crate::targets::corpus;

/// Velocities up to which M and h of an accepted model are computed.
const EVALUATED: usize = 200;

/// Damaged models of MuJoCo, read with all that they include.
pub(crate) struct Models {
    files: Vec<Vec<u8>>,
    hostile: Vec<String>,
}

const WORDS: [&str; 40] = [
    "body",
    "joint",
    "freejoint",
    "geom",
    "site",
    "inertial",
    "frame",
    "replicate",
    "default",
    "include",
    "class",
    "childclass",
    "type",
    "ball",
    "free",
    "slide",
    "hinge",
    "capsule",
    "box",
    "mesh",
    "fromto",
    "euler",
    "quat",
    "axisangle",
    "zaxis",
    "count",
    "offset",
    "ref",
    "range",
    "limited",
    "armature",
    "stiffness",
    "mass",
    "density",
    "equality",
    "polycoef",
    "tendon",
    "actuator",
    "keyframe",
    "qpos",
];

impl Models {
    pub(crate) fn new() -> Self {
        let files = corpus(&["diagrams/robots", "tests/data/mjcf", "tests/data/robots"], "xml");
        let files = files.into_iter().map(|(_, bytes)| bytes).collect();
        let nested = |open: &str, close: &str, n: usize| open.repeat(n) + &close.repeat(n);
        let world = |inside: &str| format!("<mujoco><worldbody>{inside}</worldbody></mujoco>");
        let many = |part: &str| world(&format!("<body>{}</body>", part.repeat(20_000)));
        let hostile = vec![
            world(&nested("<body>", "</body>", 40_000)),
            world(&nested("<body><joint/><geom size=\"1\"/>", "</body>", 4_000)),
            world(&nested("<replicate count=\"9\">", "</replicate>", 5_000)),
            world(&nested("<replicate count=\"4294967295\">", "</replicate>", 3)),
            world(&nested("<frame euler=\"1 2 3\" pos=\"1e300 1e300 1\">", "</frame>", 5_000)),
            world(
                "<replicate count=\"50000\" sep=\"aaaaaaaaaaaaaaaaaaaa\"><site name=\"b\"/></replicate>",
            ),
            world(&"<body><joint/><geom size=\"1\"/></body>".repeat(4_096)),
            many("<geom size=\"0\"/>"),
            many("<goem/>"),
            many("<geom zise=\"1\"/>"),
            many("<site name=\"a\"/>"),
            many("<joint stiffness=\"1\" range=\"2 1\"/>"),
            format!("<mujoco>{}</mujoco>", nested("<default class=\"a\">", "</default>", 20_000)),
            format!("<mujoco>{}</mujoco>", "<default><geom/></default>".repeat(20_000)),
            format!("<mujoco>{}</mujoco>", "<include file=\"model.xml\"/>".repeat(20_000)),
            format!("<mujoco>{}</mujoco>", "<include file=\"part.xml\"/>".repeat(20_000)),
            format!("<mujoco {}/>", (0..20_000).map(|i| format!("a{i}=\"\" ")).collect::<String>()),
            "<!DOCTYPE a [<!ENTITY b \"cc\"><!ENTITY d \"&b;&b;\">]><mujoco>&d;</mujoco>"
                .to_owned(),
        ];
        Self { files, hostile }
    }

    fn any<'t>(&'t self, random: &mut Random) -> &'t [u8] {
        &self.files[random.below(self.files.len())]
    }
}

impl Target for Models {
    fn fixed(&self, index: u64) -> Option<Vec<u8>> {
        let index = usize::try_from(index).ok()?;
        self.hostile.get(index).map(|text| text.as_bytes().to_vec())
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (of, other) = (self.any(random), self.any(random));
        match random.below(5) {
            0 => mutate::bytes(random, of, other),
            _ => mutate::text(random, of, other, &WORDS),
        }
    }

    fn run(&self, input: &[u8], random: &mut Random) -> Result<&'static str, String> {
        let part = self.any(random);
        let read = |path: &str| match path {
            "model.xml" => Ok(input.to_vec()),
            // What is included may be the model again, whose own parts have other names.
            _ if path.len().is_multiple_of(3) => Ok(input.to_vec()),
            _ if path.len() % 3 == 1 => Ok(part.to_vec()),
            _ => Err("there is no such file".to_owned()),
        };
        let options = MjcfOptions {
            read: &read,
            base: None,
            mount: Placement::identity(),
            gravity: None,
            coupled: !random.once_in(4),
            welded: Vec::new(),
        };
        let mjcf = match Model::from_mjcf("model.xml", &options) {
            Ok(mjcf) => mjcf,
            Err(errors) if errors.0.is_empty() => return Err("refused without an error".to_owned()),
            Err(errors) if errors.0.len() > 20 => return Err(format!("{} errors", errors.0.len())),
            Err(_) => return Ok("refused"),
        };
        let model = &mjcf.model;
        if model.velocity_dim() > EVALUATED {
            return Ok("read, large");
        }
        let keyframe = mjcf.keyframes.first().ok_or("no keyframe `reference`")?;
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, &keyframe.configuration, &keyframe.velocity);
        mass_matrix(model, &kinematics, &mut MassMatrix::new(model));
        let mut bias = vec![0.0; model.velocity_dim()];
        bias_force(model, &kinematics, &mut InverseDynamics::new(model), &mut bias);
        Ok("read")
    }
}
