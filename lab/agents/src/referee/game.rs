//! One match of Even/Odd in its simplest form: no retries and no proof.

use serde_json::{Value, json};

use crate::client::TestClient;
use crate::message::{envelope, text, with};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Game {
    pub(crate) league: String,
    pub(crate) round: u64,
    pub(crate) name: String,
    pub(crate) players: [(String, String); 2],
}

impl Game {
    /// From START_MATCH, or from an entry of ROUND_ANNOUNCEMENT.
    pub(crate) fn read(entry: &Value, around: &Value) -> Option<Self> {
        let field = |name: &str| Some(text(entry, name)).filter(|text| !text.is_empty()).unwrap_or(text(around, name));
        let player = |id: &str, endpoint: &str| (field(id).to_owned(), field(endpoint).to_owned());
        let players = [player("player_A_id", "player_A_endpoint"), player("player_B_id", "player_B_endpoint")];
        let named = || field("match_id").strip_prefix('R')?.split_once('M')?.0.parse().ok();
        let round = entry.get("round_id").or(around.get("round_id")).and_then(Value::as_u64).or_else(named)?;
        let game = Self { league: field("league_id").into(), round, name: field("match_id").into(), players };
        let complete = !game.name.is_empty() && game.players.iter().all(|(id, _)| !id.is_empty());
        complete.then_some(game)
    }

    pub(crate) async fn play(&self, client: &TestClient, referee: &str, token: &str) -> Value {
        let [a, b] = &self.players;
        let joined = tokio::join!(self.invite(client, referee, token, a, b), self.invite(client, referee, token, b, a));
        let choices = match joined {
            (true, true) => tokio::join!(self.ask(client, referee, token, a), self.ask(client, referee, token, b)),
            (true, false) => (Some(String::from("even")), None),
            (false, true) => (None, Some(String::from("even"))),
            (false, false) => (None, None),
        };
        // A draw that a test can repeat.
        let number = 1 + self.name.bytes().map(u64::from).sum::<u64>() % 10;
        let parity = if number % 2 == 0 { "even" } else { "odd" };
        let right = |choice: &Option<String>| choice.as_deref() == Some(parity);
        let winner = match &choices {
            (Some(_), None) => Some(&a.0),
            (None, Some(_)) => Some(&b.0),
            both if right(&both.0) == right(&both.1) => None,
            both if right(&both.0) => Some(&a.0),
            _ => Some(&b.0),
        };
        let points = |player: &String| winner.map_or(1, |winner| if winner == player { 3 } else { 0 });
        let status = match (&choices, winner) {
            ((Some(_), Some(_)), Some(_)) => "WIN",
            ((None, _) | (_, None), Some(_)) => "TECHNICAL_LOSS",
            (_, None) => "DRAW",
        };
        let chosen = json!({(&a.0): choices.0, (&b.0): choices.1});
        let result = json!({"status": status, "winner_player_id": winner, "drawn_number": number,
            "number_parity": parity, "choices": chosen, "reason": "as drawn"});
        let over = |player: &(String, String)| {
            let own = json!({"match_id": self.name, "game_type": "even_odd", "game_result": result});
            (player.1.clone(), with(self.letter("GAME_OVER", referee, token), own))
        };
        let (one, other) = (over(a), over(b));
        // A player may refuse the notice.
        drop(tokio::join!(client.call(&one.0, "GAME_OVER", &one.1), client.call(&other.0, "GAME_OVER", &other.1)));
        let details = json!({"drawn_number": number, "choices": chosen, "status": status});
        let score = json!({(&a.0): points(&a.0), (&b.0): points(&b.0)});
        let own = json!({"league_id": self.league, "round_id": self.round, "match_id": self.name,
            "game_type": "even_odd", "result": {"winner": winner, "score": score, "details": details}});
        with(self.letter("MATCH_RESULT_REPORT", referee, token), own)
    }

    fn letter(&self, kind: &str, referee: &str, token: &str) -> Value {
        let conversation = format!("conv-{}", self.name.to_lowercase());
        let about = json!({"auth_token": token, "league_id": self.league, "round_id": self.round});
        with(envelope(kind, &format!("referee:{referee}"), &conversation), about)
    }

    async fn invite(
        &self,
        client: &TestClient,
        referee: &str,
        token: &str,
        player: &(String, String),
        opponent: &(String, String),
    ) -> bool {
        let role = if *player == self.players[0] { "PLAYER_A" } else { "PLAYER_B" };
        let own =
            json!({"match_id": self.name, "game_type": "even_odd", "role_in_match": role, "opponent_id": opponent.0});
        let invitation = with(self.letter("GAME_INVITATION", referee, token), own);
        let answer = client.call(&player.1, "GAME_INVITATION", &invitation).await;
        answer.is_ok_and(|answer| answer.get("accept") == Some(&Value::Bool(true)))
    }

    async fn ask(&self, client: &TestClient, referee: &str, token: &str, player: &(String, String)) -> Option<String> {
        let context = json!({"round_id": self.round, "your_standings": {"wins": 0, "losses": 0, "draws": 0}});
        let own = json!({"match_id": self.name, "player_id": player.0, "game_type": "even_odd", "context": context});
        let call = with(self.letter("CHOOSE_PARITY_CALL", referee, token), own);
        let answer = client.call(&player.1, "CHOOSE_PARITY_CALL", &call).await.ok()?;
        let choice = text(&answer, "parity_choice");
        ["even", "odd"].contains(&choice).then(|| choice.to_owned())
    }
}
