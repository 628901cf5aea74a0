//! Answers that a player posts itself, after it has acknowledged the call or while the call is open.
//!
//! Any client can post, so a posted answer must prove its sender. A valid token or pass always counts. Without one the
//! answer is *doubtful*. It counts only from the address of the player's endpoint, while its call is open, from a
//! player that never showed a valid token in this league, never in a strict league, and never against an answer to the
//! call itself. So the referee holds it until the call has ended.

use std::net::SocketAddr;

use league_core::game_match::effect::AskKind;
use league_core::game_match::input::{CallNumber, Input};
use league_core::game_match::refusal::PostRefusal;
use league_protocol::answer::token_quirk;
use league_protocol::draw::{DrawNonce, Signature};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, GameType, MatchId, PlayerId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::PostedChoice;
use league_protocol::message::invitation::GameJoinAck;
use league_protocol::message::start_match::StartMatch;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::Method;
use league_store::views::match_file::{Direction, TranscriptEntry};
use league_wire::endpoint::Endpoint;
use league_wire::net;
use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};
use tokio::sync::oneshot;

use crate::match_runner::MatchInput;
use crate::referee::Shared;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Joined(DrawNonce),
    Declined,
    Moved(SmolStr),
}

impl Answer {
    pub(crate) fn ask(&self) -> AskKind {
        match self {
            Self::Joined(_) | Self::Declined => AskKind::Join,
            Self::Moved(_) => AskKind::Move,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PosterProof {
    Proven,
    Doubtful {
        token: PostRefusal,
        /// Whether it comes from the address of the player's endpoint.
        is_near: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct PostedAnswer {
    pub(crate) side: Side,
    pub(crate) method: Method,
    pub(crate) answer: Answer,
    pub(crate) standing: PosterProof,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) quirks: Quirks,
    pub(crate) said: TranscriptEntry,
    pub(crate) signature: Option<Signature>,
}

impl PostedAnswer {
    /// The input for the match machine, and the entry for the transcript.
    pub(crate) fn split(self, call: Option<CallNumber>) -> (Input, TranscriptEntry) {
        let Self { side, answer, signature, said, .. } = self;
        let input = match answer {
            Answer::Joined(nonce) => Input::Joined { side, call, nonce, signature },
            Answer::Declined => Input::Declined { side, call },
            Answer::Moved(text) => Input::Moved { side, call, text, signature },
        };
        (input, said)
    }
}

pub(crate) struct PostedEnvelope<'a> {
    pub(crate) head: &'a ReceivedEnvelope,
    pub(crate) quirks: Quirks,
    pub(crate) peer: SocketAddr,
    /// The message itself, for the transcript.
    pub(crate) body: Vec<u8>,
}

impl<'a> PostedEnvelope<'a> {
    pub(crate) fn new(head: &'a ReceivedEnvelope, quirks: Quirks, peer: SocketAddr, message: &impl Serialize) -> Self {
        let body = serde_json::to_vec(message).unwrap_or_else(|error| {
            tracing::error!(%error, "a posted answer cannot be written down");
            Vec::new()
        });
        Self { head, quirks, peer, body }
    }
}

impl Shared {
    pub(crate) async fn post_join(
        &self,
        envelope: PostedEnvelope<'_>,
        join: &GameJoinAck,
    ) -> Result<Acknowledgement, RequestError> {
        const METHOD: Method = Method::PostJoin;
        let match_id = join.match_id.as_ref().ok_or_else(|| {
            RequestError::new(ErrorCode::E003, METHOD, "match_id is missing; send it").about("match_id")
        })?;
        let answer = match join.accept {
            Some(false) => Answer::Declined,
            Some(true) | None => Answer::Joined(join.draw_nonce.clone().unwrap_or_default()),
        };
        self.posted(envelope, match_id, join.player_id.as_ref(), METHOD, (answer, join.signature)).await
    }

    pub(crate) async fn post_choice(
        &self,
        mut envelope: PostedEnvelope<'_>,
        choice: &PostedChoice,
    ) -> Result<Acknowledgement, RequestError> {
        const METHOD: Method = Method::PostChoice;
        let (match_id, player) = (&choice.match_id, choice.player_id.as_ref());
        let (_, order) = self.posts(match_id, METHOD)?;
        let found = if order.game_type == GameType::even_odd() {
            envelope.quirks.extend(choice.quirk(envelope.head));
            choice.value(envelope.head)
        } else {
            choice.played.clone()
        };
        // The game rejects a missing move and describes a legal one.
        let text = found.unwrap_or_else(|| format_smolstr!("no {}", move_field(&order)));
        self.posted(envelope, match_id, player, METHOD, (Answer::Moved(text), choice.signature)).await
    }

    async fn posted(
        &self,
        envelope: PostedEnvelope<'_>,
        match_id: &MatchId,
        player: Option<&PlayerId>,
        method: Method,
        (answer, signature): (Answer, Option<Signature>),
    ) -> Result<Acknowledgement, RequestError> {
        let (posts, order) = self.posts(match_id, method)?;
        let named = player.cloned().or_else(|| envelope.head.sender.as_good().and_then(Sender::player_id));
        let player = named.ok_or_else(|| {
            RequestError::new(ErrorCode::E003, method, "player_id is missing; send your own id").about("player_id")
        })?;
        let side = Side::BOTH.into_iter().find(|side| order.players[*side].player_id == player);
        let side = side.ok_or_else(|| {
            RequestError::new(ErrorCode::E005, method, format!("{player} does not play in {match_id}"))
                .about("player_id")
        })?;
        let (standing, odd) = standing(&order, side, &envelope).await;
        let mut quirks = envelope.quirks;
        quirks.extend(odd);
        let message_type = match answer {
            Answer::Moved(_) if order.game_type != GameType::even_odd() => "GAME_MOVE_RESPONSE",
            Answer::Moved(_) | Answer::Joined(_) | Answer::Declined => {
                method.row().message.unwrap_or(method.row().name)
            }
        };
        let said = self.written(&player, message_type, &envelope.body);
        let conversation = envelope.head.conversation_id.as_good().cloned();
        let (reply, decided) = oneshot::channel();
        let posted = PostedAnswer { side, method, answer, standing, conversation, quirks, said, signature };
        let over = || RequestError::new(ErrorCode::E010, method, format!("{match_id} is over"));
        posts.send(MatchInput::Answer(Box::new(posted), reply)).await.map_err(|_| over())?;
        decided.await.map_err(|_| over())??;
        Ok(Acknowledgement::of_player(player).for_match(match_id.clone()))
    }

    fn written(&self, player: &PlayerId, message_type: &'static str, body: &[u8]) -> TranscriptEntry {
        let referee = self.identity().map(|me| SmolStr::new(me.id.as_str())).unwrap_or_default();
        let there = (SmolStr::new(player.as_str()), referee);
        let message_type = SmolStr::new_static(message_type);
        TranscriptEntry::new(self.environment.now(), Direction::Received, there, message_type, body, None)
    }
}

/// The field of an answer that holds the move.
pub(crate) fn move_field(order: &StartMatch) -> &'static str {
    if order.game_type == GameType::even_odd() { "parity_choice" } else { "move" }
}

async fn standing(order: &StartMatch, side: Side, envelope: &PostedEnvelope<'_>) -> (PosterProof, Option<Quirk>) {
    let (player, token) = (&order.players[side], envelope.head.auth_token.as_ref());
    let odd = match (&player.player_pass, &order.league_id) {
        (Some(expected), Some(league)) => {
            let odd = token_quirk(token, expected, league, &order.match_id);
            if odd.is_none() {
                return (PosterProof::Proven, None);
            }
            odd
        }
        // A manager of another implementation sends no token digests, so no token can be verified.
        (Some(_) | None, Some(_) | None) => None,
    };
    let is_near = match player.endpoint.parse::<Endpoint>() {
        Ok(endpoint) => net::resolves_to(&endpoint, envelope.peer.ip()).await,
        Err(_) => false,
    };
    let token = if token.is_some() { PostRefusal::WrongToken } else { PostRefusal::NoToken };
    (PosterProof::Doubtful { token, is_near }, odd)
}
