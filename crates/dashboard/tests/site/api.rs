//! The API answers as its OpenAPI document describes.

use serde_json::Value;

use crate::leagues::played;
use crate::schema;
use crate::support::{Site, begun};

#[tokio::test]
async fn every_answer_is_as_the_document_describes_it() {
    for generated in [begun(5, 4), played(5, 3), begun(3, 0)] {
        let site = Site::of(&generated.events).await;
        let document = site.get("/api/v1/openapi.json").await.json();
        assert_eq!(document["openapi"], "3.1.0");
        for (path, methods) in document["paths"].as_object().unwrap() {
            let content = &methods["get"]["responses"]["200"]["content"];
            let Some(schema) = content.get("application/json").map(|media| &media["schema"]) else { continue };
            let ids: &[&str] = match path.as_str() {
                "/players/{id}" => &["P01", "P03"],
                "/matches/{id}" if generated.season.current_round().is_some() => &["R1M1", "R2M1"],
                "/matches/{id}" => &[],
                _ => &[""],
            };
            for id in ids {
                let real = format!("/api/v1{}", path.replace("{id}", id));
                let answer = site.get(&real).await;
                assert_eq!(answer.status, 200, "{real}");
                assert_eq!(schema::fault(&document, schema, &answer.json(), &real), None);
            }
        }
    }
}

async fn all(site: &Site, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut from = Some(0);
    while let Some(start) = from {
        let page = site.get(&format!("/api/v1/{path}?from={start}&limit=7")).await.json();
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        assert!(page["total"].as_u64().unwrap() >= items.len() as u64);
        from = page["next"].as_u64();
    }
    items
}

#[tokio::test]
async fn lists_come_in_pieces_and_the_pieces_are_everything() {
    let generated = played(9, 5);
    let site = Site::of(&generated.events).await;
    assert_eq!(all(&site, "standings").await.len(), 9);
    assert_eq!(all(&site, "matches").await.len(), 36);
    assert_eq!(all(&site, "agents").await.len(), 11);
    let log = all(&site, "log").await;
    let seqs: Vec<u64> = log.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=generated.events.len() as u64).collect::<Vec<_>>());
    assert!(log.iter().all(|entry| entry["hash"].as_str().unwrap().len() == 64));
    let found = site.get("/api/v1/players?q=player+3").await.json();
    assert_eq!(found["items"][0]["id"], "P03", "{found}");
}

#[tokio::test]
async fn the_standings_are_those_of_the_season_in_json_and_csv() {
    let generated = played(6, 2);
    let site = Site::of(&generated.events).await;
    let rows = site.get("/api/v1/standings").await.json();
    let csv = site.get("/export/standings.csv").await;
    assert!(csv.header("content-disposition").unwrap().contains("standings.csv"));
    let mut lines = csv.body.lines().skip(1);
    for (place, row) in generated.season.standings().into_iter().enumerate() {
        assert_eq!(rows["items"][place]["player_id"], row.player_id.as_str());
        assert_eq!(rows["items"][place]["points"], row.points);
        let line = lines.next().unwrap();
        assert!(line.starts_with(&format!("{},{},", row.rank, row.player_id)), "{line}");
    }
    assert_eq!(site.get("/export/results.csv").await.body.lines().count(), 16);
    assert_eq!(site.get("/export/results.json").await.json().as_array().unwrap().len(), 15);
    assert_eq!(site.get("/export/standings.json").await.json().as_array().unwrap().len(), 6);
    assert_eq!(site.get("/export/matches/R1M1.json").await.json()["match_id"], "R1M1");
}
