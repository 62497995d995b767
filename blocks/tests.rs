//! What holds for every block of the library.

use legwork_block::{Diagnostics, FileId, Ports, Registry};
use legwork_diagram::document::parse;

use crate::register;
use crate::testing::robots::{Diagrams, World, go};

fn registry() -> Registry {
    let mut registry = Registry::default();
    register(&mut registry);
    registry
}

#[test]
fn every_example_binds_and_plans() {
    let go = go();
    let world = World::new(&go);
    for kind in registry().blocks() {
        let node = parse(FileId(0), kind.example.as_bytes())
            .unwrap_or_else(|error| panic!("{}: {}", kind.kind, error.message));
        assert_eq!(node.kind_name().map(|name| name.text.as_str()), Some(kind.kind));
        let mut diagnostics = Diagnostics::default();
        let block = (kind.bind)(&node, &(), &[], &mut diagnostics);
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let block = block.unwrap_or_else(|| panic!("{}: {messages:?}", kind.kind));
        if let Err(invalid) = block.plan(Ports::new(&world, &Diagrams, 0.001)) {
            panic!("{}: {}", kind.kind, invalid.message);
        }
    }
}

/// The attribute `ports` makes both the table and the declaration; blocks without it write ports
/// twice. Rows with a condition are those that the example may lack.
#[test]
fn tables_of_ports_agree_with_what_blocks_declare() {
    let go = go();
    let world = World::new(&go);
    let mut rows = 0;
    for kind in registry().blocks() {
        let node = parse(FileId(0), kind.example.as_bytes()).expect("the example is written well");
        let block = (kind.bind)(&node, &(), &[], &mut Diagnostics::default()).expect("it binds");
        let (declaration, _) =
            block.plan(Ports::new(&world, &Diagrams, 0.001)).expect("the example plans");
        let schema = (kind.schema)();
        let doc = schema.get("description").and_then(|doc| doc.as_str()).expect("a manual");
        let inputs: Vec<&str> = declaration.inputs.iter().map(|port| &*port.name).collect();
        let outputs: Vec<&str> = declaration.outputs.iter().map(|port| &*port.name).collect();
        for (side, declared) in [("| in `", inputs), ("| out `", outputs)] {
            let table: Vec<&str> = doc.lines().filter(|line| line.starts_with(side)).collect();
            if table.is_empty() || table.iter().any(|row| row.contains('…')) {
                continue;
            }
            let named = |row: &str| -> Vec<String> {
                let cell = row[2..].split(" |").next().unwrap_or_default();
                cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
            };
            let all: Vec<String> = table.iter().flat_map(|row| named(row)).collect();
            for port in &declared {
                assert!(all.iter().any(|name| name == port), "{}: no row of `{port}`", kind.kind);
            }
            let always = table.iter().filter(|row| {
                !["optional", "with `", "without `", "with the "]
                    .iter()
                    .any(|if_| row.contains(if_))
            });
            for name in always.flat_map(|row| named(row)) {
                assert!(declared.contains(&name.as_str()), "{}: no port `{name}`", kind.kind);
                rows += 1;
            }
        }
    }
    assert!(rows > 200, "{rows} rows");
}

#[test]
fn every_block_and_every_parameter_is_described() {
    for kind in registry().blocks() {
        let schema = (kind.schema)();
        assert!(schema.get("description").is_some(), "{} has no manual", kind.kind);
        let properties = schema.get("properties").and_then(|p| p.as_object());
        for (name, property) in properties.into_iter().flatten() {
            assert!(property.get("description").is_some(), "{}.{name} has no text", kind.kind);
        }
    }
}

#[test]
fn every_kind_is_on_a_shelf_and_no_shelf_is_empty() {
    let registry = registry();
    let blocks = registry.blocks().map(|entry| (entry.kind, entry.shelf));
    let kinds: Vec<_> =
        blocks.chain(registry.resources().map(|entry| (entry.kind, entry.shelf))).collect();
    let shelves: Vec<&str> = registry.shelves().map(|shelf| shelf.name).collect();
    for (kind, shelf) in &kinds {
        assert!(shelves.contains(shelf) && *shelf != "other", "{kind} is on the shelf {shelf}");
    }
    for shelf in shelves {
        assert!(kinds.iter().any(|(_, on)| *on == shelf), "{shelf} is empty");
    }
}

/// A diagram may name what another build has; it is told how to get it.
#[cfg(not(feature = "osqp"))]
#[test]
fn a_block_that_this_build_lacks_is_named_with_its_remedy() {
    struct NoFiles;
    impl legwork_diagram::ReadFile for NoFiles {
        fn read(&self, _: &std::path::Path) -> std::io::Result<Vec<u8>> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    let text =
        br#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: { "solve": Osqp(tol: 1e-6) })"#;
    let options = legwork_diagram::Options::default();
    let compiled = legwork_diagram::compile(
        std::path::Path::new("d.ron"),
        text,
        &options,
        &registry(),
        &NoFiles,
    );
    let told: Vec<_> = compiled.diagnostics.iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].code, "absent-block-kind");
    assert_eq!(told[0].message, "this build has no block `Osqp`");
    assert!(told[0].hints[0].contains("--features osqp"), "{:?}", told[0].hints);
    let span = told[0].primary.span;
    assert_eq!(&text[span.start as usize..span.end as usize], b"Osqp");
}
