//! `league create`: tells a process of `league serve` to open a new league.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use league_dashboard::index::NewLeague;
use league_wire::client::Client;
use league_wire::exchange::Exchange;
use serde_json::Value;
use tokio::runtime::Builder;

use crate::cli::Create;
use crate::secure;

const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn run(options: &Create) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime could not be started")?;
    let client = secure::operator_client(options.operator.ca.as_deref(), &[])?;
    let created = runtime.block_on(create(options, &client))?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&created)?);
        return Ok(());
    }
    let text = |name: &str| created[name].as_str().unwrap_or_default().to_owned();
    println!("{}", text("endpoint"));
    eprintln!("{} is open. Watch it at {}{}", options.league_id, options.manager.site(), text("path"));
    Ok(())
}

async fn create(options: &Create, client: &Client) -> Result<Value> {
    let new = NewLeague {
        league_id: options.league_id.to_string(),
        display_name: options.name.clone(),
        game: options.game.as_ref().map(ToString::to_string),
        format: options.format.as_ref().map(ToString::to_string),
        games_per_match: options.games_per_match,
        expect_players: options.expect_players,
        expect_referees: options.expect_referees,
        registration_window: options.registration_window,
    };
    let mut headers = HeaderMap::new();
    if let Some(token) = &options.operator.token {
        let shown = HeaderValue::try_from(format!("Bearer {}", token.reveal()));
        headers.insert(header::AUTHORIZATION, shown.context("the token has characters that no header may have")?);
    }
    let target = options.manager.at("/api/v1/leagues");
    let posting = client.post(&target, &headers, serde_json::to_vec(&new)?.into(), LIMIT).await;
    let Exchange { status, body, .. } = match posting {
        Ok(exchange) => exchange,
        Err(error) => bail!("{target} does not answer: {error}; --manager names a process of `league serve`"),
    };
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    match (status, answer["error"].as_str()) {
        (StatusCode::CREATED, _) => Ok(answer),
        (StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED, _) => {
            bail!(
                "the program at {} hosts one league only; --manager names a process of `league serve`",
                options.manager
            )
        }
        (_, Some(why)) => bail!("{why}"),
        (status, None) => bail!("{target} answers with {status} and gives no reason"),
    }
}
