//! Pictures on meshes, as a scene shows them.

use legwork_scene::{Geometry, Link, Pose, Robot, Scene, Shape};

use crate::Target;
use crate::mutate::{self, Random};
use crate::targets::corpus;

/// A square, and a picture on it.
const SQUARE: &str = "mtllib m\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt -1 0\nvt 1 .3\nvt 1e9 1\n\
                      usemtl a\nf 1/1 2/2 3/3 4/2\n";

/// Damaged pictures in PNG and JPEG.
pub(crate) struct Textures {
    files: Vec<Vec<u8>>,
}

impl Textures {
    pub(crate) fn new() -> Self {
        let files = ["png", "jpg"].iter().flat_map(|kind| corpus(&["tests/data/pictures"], kind));
        Self { files: files.map(|(_, bytes)| bytes).collect() }
    }
}

impl Target for Textures {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (of, other) = (random.below(self.files.len()), random.below(self.files.len()));
        mutate::bytes(random, &self.files[of], &self.files[other])
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let visual = Geometry {
            pose: Pose::IDENTITY,
            shape: Shape::Mesh { path: "m.obj".to_owned(), scale: [1.0; 3] },
            color: None,
        };
        let (name, visuals) = ("l".to_owned(), vec![visual]);
        let link = Link { name, visuals, collisions: Vec::new(), ends: Vec::new() };
        let robot = Robot { name: "r".to_owned(), links: vec![link] };
        let mut scene = Scene { robots: vec![robot], ..Scene::default() };
        let told = scene.read_surfaces(&mut |path| match path {
            "m.obj" => Ok(SQUARE.into()),
            "m" => Ok(b"newmtl a\nmap_Kd p\n".to_vec()),
            _ => Ok(input.to_vec()),
        });
        let patches = &scene.surfaces["m.obj"].patches;
        if patches.iter().map(|patch| patch.triangles.len()).sum::<usize>() != 2 {
            return Err(format!("{} patches of a square", patches.len()));
        }
        let colors = patches.iter().flat_map(|patch| patch.color.unwrap_or_default());
        match (colors.into_iter().all(|part| (0.0..=1.0).contains(&part)), told.is_empty()) {
            (false, _) => Err("a colour beyond 0 to 1".to_owned()),
            (true, false) => Ok("refused"),
            (true, true) => Ok("shown"),
        }
    }
}
