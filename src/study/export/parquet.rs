//! Columns of Apache Parquet.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use legwork_runtime::recording::Kind;
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{BoolType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde_json::{Map, Value};

use super::{Column, Export};

/// Writes the times `t` [s] and a column for each number under its path; where its signal has no
/// row it is null. The file's metadata have `units` and `labels`, such as names of joints: objects
/// of JSON by path.
pub(super) fn write(export: &Export<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    write_all(export, out).map_err(|error| match error {
        ParquetError::External(error) => Error::other(error),
        error => Error::other(error.to_string()),
    })
}

fn write_all(
    export: &Export<'_>,
    out: &mut (dyn Write + Send),
) -> std::result::Result<(), ParquetError> {
    let mut fields = vec![field("t", Physical::DOUBLE, Repetition::REQUIRED)?];
    let (mut units, mut labels) = (Map::new(), Map::new());
    units.insert("t".to_owned(), "s".into());
    for numbers in &export.numbers {
        for (i, (name, kind)) in numbers.elements.iter().zip(export.kinds(numbers)).enumerate() {
            let physical = match kind {
                Kind::Real => Physical::DOUBLE,
                Kind::Int => Physical::INT64,
                Kind::Bool => Physical::BOOLEAN,
            };
            fields.push(field(name, physical, Repetition::OPTIONAL)?);
            if let Some(unit) = &numbers.unit {
                units.insert(name.clone(), unit.as_str().into());
            }
            if let Some(label) = numbers.labels.get(i) {
                labels.insert(name.clone(), label.as_str().into());
            }
        }
    }
    let schema = Type::group_type_builder("recording").with_fields(fields).build()?;
    let about = [("units", units), ("labels", labels)]
        .map(|(name, map)| KeyValue::new(name.to_owned(), Value::Object(map).to_string()));
    let properties = WriterProperties::builder()
        .set_created_by("legwork".to_owned())
        .set_key_value_metadata(Some(about.to_vec()))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    if let Some(mut column) = rows.next_column()? {
        column.typed::<DoubleType>().write_batch(&export.times, None, None)?;
        column.close()?;
    }
    for numbers in &export.numbers {
        for values in export.columns(numbers) {
            if let Some(mut column) = rows.next_column()? {
                write_column(&mut column, &values)?;
                column.close()?;
            }
        }
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

fn field(
    name: &str,
    physical: Physical,
    repetition: Repetition,
) -> std::result::Result<Arc<Type>, ParquetError> {
    Type::primitive_type_builder(name, physical).with_repetition(repetition).build().map(Arc::new)
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    Column { kind, values }: &Column,
) -> std::result::Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present = values.iter().flatten();
    match kind {
        Kind::Real => {
            let values: Vec<f64> = present.copied().collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Int => {
            let values: Vec<i64> = present.map(|value| *value as i64).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Bool => {
            let values: Vec<bool> = present.map(|value| *value != 0.0).collect();
            column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}
