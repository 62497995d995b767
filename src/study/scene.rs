//! The scene of a run in its recording.

use legwork_runtime::View;
use legwork_runtime::recording::{Recorder, RecordingError, Stamp, Topic, TopicId};
use legwork_scene::{Viewer, foxglove};

use crate::error::Error;
use crate::model::Model;
use crate::run::recording_error;

/// Pictures in a second of simulated time.
const RATE: u64 = 60;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// Topics: what does not change, poses of links, contacts and centres of mass.
const SHAPES: &str = "scene";
const POSES: &str = "poses";
const CONTACTS: &str = "contacts";

/// Looks at a run and records what is to be seen.
pub(crate) struct SceneView {
    viewer: Viewer,
    shapes: TopicId,
    poses: TopicId,
    contacts: TopicId,
    /// The picture that was last recorded.
    last: Option<u64>,
}

impl SceneView {
    /// For a run of this model that is recorded.
    ///
    /// # Errors
    /// If nothing is recorded, there is nothing to see, or the recorder takes no more.
    pub(crate) fn new(model: &Model, recorder: Option<&mut Recorder>) -> Result<Self, Error> {
        let Some(recorder) = recorder else {
            return Err(Error::request("a scene is part of a recording, and none is made"));
        };
        let viewer = model.viewer();
        if viewer.is_empty() {
            let name = model.diagram().name();
            let message = format!("no scene: no block of `{name}` puts out the state of a robot");
            return Err(Error::request(message));
        }
        let mut add = |name: &str, message: &str| {
            let schema = foxglove::schema(message);
            let (name, schema_name) = (name.to_owned(), message.to_owned());
            let added = recorder.add_topic(&Topic { name, schema_name, schema });
            added.map_err(|error| recording_error(&error))
        };
        Ok(Self {
            shapes: add(SHAPES, foxglove::SCENE_UPDATE)?,
            poses: add(POSES, foxglove::FRAME_TRANSFORMS)?,
            contacts: add(CONTACTS, foxglove::SCENE_UPDATE)?,
            viewer,
            last: None,
        })
    }
}

impl SceneView {
    /// Reads the meshes that are drawn, as far as the diagram may; what is not shown.
    pub(crate) fn read_surfaces(&mut self, model: &Model) -> Vec<String> {
        model.read_surfaces(&mut self.viewer)
    }
}

impl Model {
    /// What there is to see of its runs, without the surfaces of meshes.
    pub fn viewer(&self) -> Viewer {
        let robots = self.robots();
        let ground = self.ground().and_then(|ground| ground.mechanism());
        Viewer::new(self.program(), |name| robots.get(name)?.mechanism(), ground)
    }

    /// Reads the meshes that are drawn, as far as the diagram may; what is not shown, a sentence
    /// each.
    pub fn read_surfaces(&self, viewer: &mut Viewer) -> Vec<String> {
        viewer.read_surfaces(&mut |path| self.diagram().look(path))
    }
}

impl View for SceneView {
    /// Records at the first major step of each sixtieth of a second.
    fn see(
        &mut self,
        stamp: &Stamp,
        arena: &[f64],
        recorder: &mut Recorder,
    ) -> Result<(), RecordingError> {
        let t_ns = stamp.t_ns;
        let picture = t_ns / SECOND * RATE + t_ns % SECOND * RATE / SECOND;
        if self.last == Some(picture) {
            return Ok(());
        }
        let weight = self.viewer.weight();
        let is_first = self.last.replace(picture).is_none();
        self.viewer.see(stamp.t, arena);
        let (scene, moment) = (self.viewer.scene(), self.viewer.moment());
        if is_first {
            let shapes = foxglove::scene(scene, moment.ground().as_ref(), t_ns);
            recorder.message(self.shapes, t_ns, &shapes)?;
        }
        recorder.message(self.poses, t_ns, &foxglove::transforms(scene, moment, t_ns))?;
        recorder.message(self.contacts, t_ns, &foxglove::contacts(moment, weight, t_ns))
    }
}

#[cfg(test)]
mod meshes;
#[cfg(test)]
mod tests;
