//! What a recording tells, as a page is shown it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use legwork_block::Slot;
use legwork_runtime::recording::Series;
use legwork_scene::{Moment, Scene, Surface, Viewer};
use legwork_study::origin::Origin;
use legwork_study::{Library, Recorded};
use serde_json::{Value, json};

use super::reduce;
use super::repeat::Repeat;
use crate::engine::describe::About;
use crate::frames::Sampled;
use crate::store::{Rows, thin};

/// Numbers, times included, that a page holds of all signals of all runs.
const MOST_NUMBERS: usize = 400_000;
/// Poses of a second, and most numbers of all poses of all runs.
const POSES: f64 = 60.0;
const MOST_IN_POSES: usize = 400_000;

/// A recording with what made it.
pub(super) struct Playback<'r> {
    run: &'r Recorded,
    origin: Option<Origin>,
    viewer: Option<Viewer>,
    /// What is seen, if the run could be repeated; else it is what recorded signals tell.
    moments: Vec<Moment>,
    /// Meshes, reduced.
    pub(super) surfaces: BTreeMap<String, Surface>,
    /// What is not shown, a sentence each.
    pub(super) unseen: Vec<String>,
    /// Time of the last row [s].
    pub(super) end: f64,
    /// How many numbers its signals may have, and its poses.
    budget: usize,
    pose_budget: usize,
    ended_by: Option<String>,
    fault: Option<String>,
}

impl<'r> Playback<'r> {
    /// A recording as one of several.
    pub(super) fn of(
        run: &'r Recorded,
        facts: Option<&Value>,
        library: &Library,
        runs: usize,
    ) -> Self {
        let mut unseen = Vec::new();
        let origin = match run.origin(library) {
            Ok(origin) => Some(origin),
            Err(why) => {
                unseen.push(format!("`{}`: no diagram and no robot: {why}", run.name));
                None
            }
        };
        let ends = run.recording.series_of_all().filter(|series| !series.is_empty());
        let end = ends.map(|series| series.stamp(series.len() - 1).t).fold(0.0, f64::max);
        let text = |name: &str| Some(facts?.get(name)?.as_str()?.to_owned());
        let fault = facts.and_then(|facts| facts.get("fault")?.get("message")?.as_str());
        let mut playback = Self {
            run,
            viewer: None,
            moments: Vec::new(),
            surfaces: BTreeMap::new(),
            unseen,
            end,
            budget: MOST_NUMBERS / runs.max(1),
            pose_budget: MOST_IN_POSES / runs.max(1),
            ended_by: text("stopped_by"),
            fault: fault.map(str::to_owned),
            origin,
        };
        playback.see(library, text("diagram").as_deref());
        playback
    }

    /// Finds what there is to see: all of it if the run can be repeated, else robots and contacts
    /// whose signals are recorded.
    fn see(&mut self, library: &Library, diagram: Option<&str>) {
        let Some(origin) = &self.origin else { return };
        let mut viewer = origin.viewer();
        if viewer.is_empty() {
            return;
        }
        let mut known = vec![false; origin.program().arena_len];
        for slot in self.channels().flat_map(|(_, slots)| slots) {
            known[slot.range()].fill(true);
        }
        if viewer.lacks(|slot| known[slot.range()].iter().all(|known| *known)) {
            match self.repeat(&mut viewer) {
                Ok(moments) => self.moments = moments,
                Err(why) => {
                    let run = &self.run.name;
                    self.unseen.push(format!("`{run}`: what is not recorded of it: {why}"));
                    viewer.keep(|slot| known[slot.range()].iter().all(|known| *known));
                    if viewer.is_empty() {
                        return;
                    }
                }
            }
        }
        // Looks are not recorded: they are where the diagram is, if it still is there, which knows
        // the folders of packages.
        let diagram = diagram.and_then(|name| library.open(name).ok());
        let options = || origin.options().clone();
        let model = diagram
            .clone()
            .and_then(|found| found.with_options(options()).compile().into_model().ok());
        if let Some(model) = model {
            viewer.find_meshes(model.viewer().scene());
        }
        let problems = viewer.read_surfaces(&mut |path| match &diagram {
            Some(diagram) => diagram.look(path),
            None => Err("the diagram is not where it was recorded".to_owned()),
        });
        self.unseen.extend(problems);
        self.surfaces = reduce::surfaces(&viewer.scene().surfaces);
        self.viewer = Some(viewer);
    }

    /// The recorded series with the places of their numbers among the program's signals.
    fn channels(&self) -> impl Iterator<Item = (Series<'r>, Vec<Slot>)> {
        let program = self.origin.as_ref().map(Origin::program);
        self.run.recording.series_of_all().filter_map(move |series| {
            let topic = &series.channel().topic;
            let logged = program?.log.iter().find(|channel| channel.signal.path == *topic)?;
            let slots = logged.signal.slots.clone();
            let leaves: usize = slots.iter().map(|slot| slot.len as usize).sum();
            (leaves == series.columns().len()).then_some((series, slots))
        })
    }

    /// What is described of the diagram, if it is known.
    pub(super) fn about<'a>(&'a self, library: &'a Library) -> Option<About<'a>> {
        let origin = self.origin.as_ref()?;
        Some(About {
            name: &self.run.name,
            program: origin.program(),
            sources: origin.sources(),
            registry: library.registry(),
            text: origin.text(),
            options: origin.options(),
            edits: &[],
            variants: origin.variants(),
            scene: self.viewer.as_ref().map_or(&EMPTY, Viewer::scene),
            warnings: json!([]),
        })
    }

    /// A model without a diagram.
    pub(super) fn bare_model(&self, source: usize) -> Value {
        json!({
            "source": source,
            "name": self.run.name,
            "title": self.run.name,
            "doc": "",
            "step": 0.0,
            "files": [],
            "blocks": [],
            "scene": null,
            "variants": [],
            "rates": [],
            "warnings": [],
        })
    }

    /// The state at the end.
    pub(super) fn state(&self, source: usize) -> Value {
        json!({
            "source": source,
            "t": self.end,
            "step": 0,
            "running": false,
            "speed": null,
            "stage": "end",
            "block": null,
            "end": true,
            "fault": self.fault,
            "halt": "",
            "breakpoints": [],
            "watches": [],
            "edits": [],
            "earliest": 0.0,
            "reach": self.end,
            "stopped_by": self.ended_by,
            "achieved": 0.0,
            "off": [],
        })
    }

    /// Path of each recorded signal, and what is told of it.
    pub(super) fn signals(&self) -> Vec<(String, Value)> {
        let all = self.run.recording.series_of_all().enumerate();
        all.map(|(number, series)| {
            let path = series.channel().topic.clone();
            let leaves = series.columns().len();
            let (mut names, mut units) = (vec![String::new(); leaves], vec![String::new(); leaves]);
            let own = self.run.catalog.all().iter().filter(|numbers| numbers.channel == number);
            for numbers in own {
                for (i, &column) in numbers.columns.iter().enumerate() {
                    let element = numbers.elements[i].strip_prefix(&path).unwrap_or_default();
                    let element = element.trim_start_matches('.');
                    let whole = element.split('[').next().unwrap_or_default();
                    names[column] = match numbers.labels.get(i) {
                        Some(label) => format!("{whole} {label}").trim_start().to_owned(),
                        None => element.to_owned(),
                    };
                    units[column] = numbers.unit.clone().unwrap_or_default();
                }
            }
            let unit = units.first().filter(|first| units.iter().all(|unit| unit == *first));
            let ty = self.origin.as_ref().and_then(|origin| {
                let signals = origin.program().log.iter().map(|channel| &channel.signal);
                Some(signals.into_iter().find(|signal| signal.path == path)?.ty.to_string())
            });
            let told = json!({
                "signal": number,
                "path": path,
                "unit": unit.cloned().unwrap_or_default(),
                "units": units,
                "names": names,
                "leaves": leaves,
                "type": ty.unwrap_or_default(),
                "frame": "",
                "rate": series.channel().rate.replace('_', " "),
            });
            (path, told)
        })
        .collect()
    }

    /// When it is shown where everything was, so many times a second of the run; fewer if it is
    /// long, or has many links.
    fn times(&self, viewer: &Viewer) -> impl Iterator<Item = f64> + use<> {
        let most = (self.pose_budget / viewer.numbers().max(1)).max(1);
        let end = self.end;
        let count = ((end * POSES).ceil() as usize).clamp(1, most);
        (0..count).map(move |i| end * i as f64 / count as f64).chain([end])
    }

    /// Goes through the run once more.
    ///
    /// # Errors
    /// Why that is not possible.
    fn repeat(&self, viewer: &mut Viewer) -> Result<Vec<Moment>, String> {
        let metadata = self.run.recording.metadata();
        let (Some(origin), Some(metadata)) = (&self.origin, metadata) else {
            return Err("nobody knows what made it".to_owned());
        };
        let (channels, times) = (self.channels().collect(), self.times(viewer).collect());
        let other = &metadata.other;
        Repeat { program: origin.program(), other, channels, times }.go(viewer)
    }

    /// Shows where everything was.
    pub(super) fn poses(&mut self, show: &mut dyn FnMut(&Moment)) {
        if !self.moments.is_empty() {
            self.moments.iter().for_each(show);
            return;
        }
        let Some(mut viewer) = self.viewer.take() else { return };
        let Some(origin) = &self.origin else { return };
        let mut arena = vec![0.0; origin.program().arena_len];
        let mut channels: Vec<(Series<'_>, Vec<Slot>, usize)> =
            self.channels().map(|(series, slots)| (series, slots, 0)).collect();
        let mut row = Vec::new();
        for t in self.times(&viewer) {
            let mut seen = None;
            for (series, slots, at) in &mut channels {
                while *at + 1 < series.len() && series.stamp(*at + 1).t <= t {
                    *at += 1;
                }
                if series.is_empty() {
                    continue;
                }
                series.values_into(*at, &mut row);
                let mut rest = row.as_slice();
                for slot in slots.iter() {
                    let (own, others) = rest.split_at(slot.len as usize);
                    arena[slot.range()].copy_from_slice(own);
                    rest = others;
                }
                let own = series.stamp(*at).t;
                seen = Some(seen.map_or(own, |seen: f64| seen.max(own)));
            }
            // A pose is that of its row, not of the time between.
            if let Some(t) = seen {
                show(viewer.see(t, &arena));
            }
        }
    }

    /// The samples of all signals, thinned where there are too many.
    pub(super) fn samples(&self) -> Vec<Sampled<'_>> {
        let all: Vec<Series<'_>> = self.run.recording.series_of_all().collect();
        let width = |series: &Series<'_>| series.columns().len() + 1;
        let total: usize = all.iter().map(|series| series.len() * width(series)).sum();
        let mut row = Vec::new();
        let mut sampled = Vec::new();
        for (number, series) in all.iter().enumerate() {
            let leaves = series.columns().len();
            let (mut t, mut values) = (Vec::new(), Vec::new());
            for at in 0..series.len() {
                series.values_into(at, &mut row);
                t.push(series.stamp(at).t);
                values.extend_from_slice(&row);
            }
            let thinned = total > self.budget;
            if thinned {
                let share = series.len() as f64 * self.budget as f64 / total as f64;
                let rows = t.len();
                thin(&mut t, &mut values, leaves, rows, share as usize / 2);
                // What is thinned is to be looked at: single precision will do, and packs well.
                values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
            }
            let rows = Rows { t: t.into(), values: values.into(), thinned };
            sampled.push(Sampled { number: number as u32, leaves, flags: 1, rows });
        }
        sampled
    }
}

/// A scene in which there is nothing.
static EMPTY: LazyLock<Scene> = LazyLock::new(Scene::default);
