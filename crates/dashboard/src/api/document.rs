//! The OpenAPI document, generated from the table.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Row, Subject, TABLE};

/// `root` is the path of the first page.
pub(super) fn open_api(root: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for row in &TABLE {
        let schema = (row.answer)(&mut generator);
        let media = if row.subject == Subject::Events {
            json!({ "text/event-stream": { "schema": { "type": "string" }, "x-event-data": schema } })
        } else {
            json!({ "application/json": { "schema": schema } })
        };
        let operation = json!({
            "operationId": format!("{:?}", row.subject).to_lowercase(),
            "summary": row.summary,
            "parameters": parameters(row),
            "responses": {
                "200": { "description": row.summary, "content": media },
                "404": {
                    "description": "There is no such thing",
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } }
                }
            }
        });
        paths.insert(format!("/{}", row.path), json!({ "get": operation }));
    }
    let mut schemas = generator.take_definitions(true);
    let error = json!({ "type": "object", "required": ["error"], "properties": { "error": { "type": "string" } } });
    schemas.insert(String::from("Error"), error);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "league",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A league as it stands, as it was, and as it happens. Read only.",
        },
        "servers": [{ "url": format!("{root}api/v1") }],
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn parameters(row: &Row) -> Vec<Value> {
    let in_path = row.path.contains("{id}").then(|| {
        json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" }, "description": "Its id." })
    });
    let in_query = row.query.iter().map(|(name, meaning)| {
        let kind = if *name == "q" { "string" } else { "integer" };
        json!({ "name": name, "in": "query", "schema": { "type": kind }, "description": meaning })
    });
    in_path.into_iter().chain(in_query).collect()
}
