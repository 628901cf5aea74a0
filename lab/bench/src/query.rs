//! How long LEAGUE_QUERY takes during a league: one of its players asks all the time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hdrhistogram::Histogram;
use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_protocol::token::Credential;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::Speech;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;

/// The pause keeps the manager busy with the league, not with these questions.
const PAUSE: Duration = Duration::from_millis(2);
const LIMIT: Duration = Duration::from_secs(10);
const QUESTIONS: [QueryType; 3] = [QueryType::GetStandings, QueryType::GetPlayerStats, QueryType::GetStatus];

/// Plays until the league ends, and asks meanwhile. Returns the times of the answers in microseconds.
pub(crate) fn ask_meanwhile(manager: &str) -> Result<Histogram<u64>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(visit(manager))
}

async fn visit(manager: &str) -> Result<Histogram<u64>> {
    let player = Plan::new("guest", Speech::Direct).serve()?;
    let admitted = player.register(manager).await?;
    let token = admitted["auth_token"].as_str().context("the manager gave no token")?;
    let me = Envelope {
        sender: Sender::player(&player.id().parse()?),
        timestamp: Environment::real().now(),
        conversation_id: ConversationId::named("conv-guest"),
        auth_token: Some(Credential::new(token)),
    };
    let (client, manager): (_, Endpoint) = (Client::default(), manager.parse()?);
    let mut times = Histogram::<u64>::new_with_bounds(1, 60_000_000, 2)?;
    for query_type in QUESTIONS.into_iter().cycle() {
        let query = LeagueQuery { league_id: None, query_type, query_params: QueryParams::default() };
        let began = Instant::now();
        let answer = client.call(&manager, &PeerDialect::default(), &me, &Call::LeagueQuery(query), LIMIT).await;
        let Ok(exchange) = answer else { break };
        let took = began.elapsed();
        let answer = ParsedAnswer::parse(&exchange.body).context("the answer is not JSON-RPC")?;
        if let ReplyKind::Error(error) = answer.reply_kind() {
            bail!("the manager refuses LEAGUE_QUERY: {}", error.words);
        }
        times.saturating_record(u64::try_from(took.as_micros())?);
        tokio::time::sleep(PAUSE).await;
    }
    if times.is_empty() { bail!("the league ended before the first question") } else { Ok(times) }
}
