//! Runs one match: the match machine decides, this module performs its effects.
//!
//! Calls to the two sides run concurrently. Effects for one side run in the order of the match machine. Only an error
//! notice runs concurrently with the pause after it: both end before the next try. The report waits for the end of all
//! calls, so that its transcript is complete.

mod kept_transcript;
mod posts;
mod result;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use league_core::game_match::MatchMachine;
use league_core::game_match::effect::{AskKind, Effect};
use league_core::game_match::input::{CallNumber, Input};
use league_core::game_match::messages::MatchMessages;
use league_core::game_match::step::{StepCommand, StepRefused};
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawCommitment;
use league_protocol::envelope::Envelope;
use league_protocol::error::RequestError;
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::step::{MatchState, OpenCall};
use league_protocol::problem::Problem;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::{Pair, Side};
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_store::views::match_file::TranscriptEntry;
use league_wire::endpoint::Endpoint;
use league_wire::peer_client::{OutgoingCall, Peer, SendAttempt, SendOutcome, is_acknowledged};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use crate::answer::AskedQuestion;
use crate::answer_waiter::{AnswerWaiter, PostedAnswers};
use crate::orders::MatchPurpose;
use crate::posted_answer::PostedAnswer;
use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::report::ReportAnswer;
use crate::transcript_writer::TranscriptWriter;
use kept_transcript::KeptTranscript;
use result::ReportStep;

pub(crate) enum MatchInput {
    /// The sender receives the decision about the answer.
    Answer(Box<PostedAnswer>, oneshot::Sender<Result<(), RequestError>>),
    Step(StepCommand, oneshot::Sender<Result<MatchState, StepRefused>>),
    Look(oneshot::Sender<MatchState>),
    /// The referee leaves: give the match back, unless a player has moved or it is decided.
    GiveBack(oneshot::Sender<bool>),
}

struct MatchRunner {
    shared: Arc<Shared>,
    /// The referee's identity when it accepted the match.
    appointed: RefereeIdentity,
    purpose: MatchPurpose,
    order: Arc<StartMatch>,
    endpoints: Pair<Endpoint>,
    commitment: DrawCommitment,
    match_machine: MatchMachine,
    effects: Vec<Effect>,
    waiting: Pair<VecDeque<Effect>>,
    busy: Pair<bool>,
    work: FuturesUnordered<Work>,
    began: Timestamp,
    transcript: KeptTranscript,
    known: Pair<KnownDialect>,
    problems: Pair<Option<Problem>>,
    /// The last question to each side, and the answers posted to it.
    open: Pair<Option<(CallNumber, Arc<PostedAnswers>)>>,
    /// When the open call to each side was sent, and its limit.
    clocks: Pair<Option<(Instant, Duration)>>,
    /// Entries that the transcript lists after the call that they belong to.
    posted: Pair<Vec<TranscriptEntry>>,
    refused: Pair<usize>,
    /// Whether the match has ended and is not reported yet.
    report_due: bool,
    answer: Option<ReportAnswer>,
    /// The match is given back to the manager, and ends here.
    is_given_back: bool,
    /// The dialects of the players as the manager knows them after the report.
    reported_dialects: Pair<PeerDialect>,
}

#[derive(Clone, Debug, Default)]
struct KnownDialect {
    dialect: PeerDialect,
    /// Whether the player answered a question of this match in this dialect.
    proven: bool,
    quirks: Quirks,
    /// Whether the player has shown a valid token or pass in this league.
    shows_token: bool,
}

type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

#[derive(Default)]
struct Done {
    side: Option<Side>,
    input: Option<Input>,
    said: Vec<TranscriptEntry>,
    found: Option<(Side, SendFinding)>,
    reported: Option<ReportStep>,
}

#[derive(Default)]
pub(crate) struct SendFinding {
    pub(crate) dialect: Option<PeerDialect>,
    pub(crate) proven: bool,
    pub(crate) quirks: Quirks,
    pub(crate) shows_token: bool,
    /// The player merely acknowledged the call, and a post cannot reach this referee.
    pub(crate) post_cannot_arrive: bool,
    /// `None` for a notice, `Some(None)` for an answer without a problem.
    pub(crate) problem: Option<Option<Problem>>,
}

impl From<SendOutcome> for SendFinding {
    fn from(said: SendOutcome) -> Self {
        Self { dialect: said.learned, quirks: said.quirks, ..Self::default() }
    }
}

/// Returns `None` if the referee gives the match back.
pub(crate) async fn run(
    shared: &Arc<Shared>,
    (appointed, purpose): (RefereeIdentity, MatchPurpose),
    order: Arc<StartMatch>,
    endpoints: Pair<Endpoint>,
    match_machine: MatchMachine,
    mut posts: mpsc::Receiver<MatchInput>,
) -> Option<MatchState> {
    let commitment = match_machine.commitment();
    let known = order.players.as_ref().map(|player| {
        let (dialect, shows_token) = (shared.late_lessons.apply(player), player.shows_token);
        KnownDialect { dialect, shows_token, ..KnownDialect::default() }
    });
    let mut match_runner = MatchRunner {
        shared: Arc::clone(shared),
        appointed,
        purpose,
        order,
        endpoints,
        commitment,
        match_machine,
        effects: Vec::new(),
        waiting: Pair::default(),
        busy: Pair::default(),
        work: FuturesUnordered::new(),
        began: shared.environment.now(),
        transcript: KeptTranscript::default(),
        known,
        problems: Pair::default(),
        open: Pair::default(),
        clocks: Pair::default(),
        posted: Pair::default(),
        refused: Pair::default(),
        report_due: false,
        answer: None,
        is_given_back: false,
        reported_dialects: Pair::default(),
    };
    match_runner.tell(Input::Start);
    // A report that the manager has not answered outlives the match.
    while !(match_runner.match_machine.is_done() && match_runner.work.is_empty()) {
        tokio::select! {
            biased;
            Some(done) = match_runner.work.next(), if !match_runner.work.is_empty() => match_runner.done(done),
            Some(post) = posts.recv() => match_runner.receive(post),
            else => break,
        }
        if match_runner.is_given_back {
            return None;
        }
        match_runner.perform_effects();
    }
    match_runner.keep_lessons();
    if match_runner.owes_confirmation() {
        shared.confirm_game_over(match_runner.appointed.clone(), match_runner.order.match_id.clone());
    }
    Some(match_runner.state())
}

impl MatchRunner {
    fn match_messages(&self) -> MatchMessages<'_> {
        let match_messages = MatchMessages::new(&self.match_machine, &self.order, &self.appointed.id, self.commitment);
        match_messages.explained(self.problems.as_ref().map(Option::as_ref))
    }

    fn state(&self) -> MatchState {
        let whole = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let open_calls = Side::BOTH.into_iter().filter_map(|side| {
            let (sent, limit) = self.clocks[side]?;
            let left_ms = whole(limit.saturating_sub(sent.elapsed()));
            Some((self.order.players[side].player_id.clone(), OpenCall { left_ms, limit_ms: whole(limit) }))
        });
        MatchState { open_calls: ByPlayer(open_calls.collect()), ..self.match_messages().state() }
    }

    fn done(&mut self, done: Done) {
        self.transcript.extend(done.said);
        if let Some((side, found)) = done.found {
            if found.post_cannot_arrive && self.may_go_elsewhere(side) {
                self.shared.pulled.give_back(&self.order, Some(self.order.players[side].player_id.clone()));
                self.is_given_back = true;
                return;
            }
            let known = &mut self.known[side];
            known.dialect = found.dialect.unwrap_or_else(|| std::mem::take(&mut known.dialect));
            known.proven |= found.proven;
            known.quirks = known.quirks.and(found.quirks);
            known.shows_token |= found.shows_token;
            if let Some(problem) = found.problem {
                self.problems[side] = problem;
            }
        }
        if let Some(side) = done.side {
            self.busy[side] = false;
            self.clocks[side] = None;
            self.transcript.extend(self.posted[side].drain(..));
        }
        if let Some(input) = done.input {
            self.tell(input);
        }
        if let Some(step) = done.reported {
            self.reported(step);
        }
    }

    /// Whether the match of a player that posts its answers goes to a referee that can be reached. After a move it ends here: the
    /// opponent would have to move again. So does a match that the manager gives to this referee although it knows that the player posts.
    fn may_go_elsewhere(&self, side: Side) -> bool {
        !self.has_moved() && !self.order.players[side].dialect.posts()
    }

    fn has_moved(&self) -> bool {
        Side::BOTH.into_iter().any(|side| self.match_machine.has_moved(side))
    }

    /// Keeps what GAME_OVER taught about the players, because the report was already sent.
    fn keep_lessons(&self) {
        for side in Side::BOTH {
            let (player, known) = (&self.order.players[side], &self.known[side]);
            if known.dialect.of_referees() != self.reported_dialects[side] {
                self.shared.late_lessons.keep(player, known.dialect.of_referees());
            }
        }
    }

    fn tell(&mut self, input: Input) {
        self.shared.note_answer(&self.order, &input);
        self.match_machine.handle(input, &mut self.effects);
        self.perform_effects();
    }

    fn receive(&mut self, post: MatchInput) {
        match post {
            // The poster may have disconnected; the decision stands.
            MatchInput::Answer(posted, reply) => drop(reply.send(self.take_posted(*posted))),
            MatchInput::Step(step, reply) => {
                let taken = self.match_machine.step(step, &mut self.effects);
                self.perform_effects();
                // The client may have disconnected; the step stands.
                drop(reply.send(taken.map(|()| self.state())));
            }
            MatchInput::Look(reply) => drop(reply.send(self.state())),
            MatchInput::GiveBack(reply) => {
                let may_go = !self.has_moved() && self.match_machine.ending().is_none();
                // The referee must know that it gives the match back.
                self.is_given_back = reply.send(may_go).is_ok() && may_go;
            }
        }
    }

    fn perform_effects(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            match side_of(&effect) {
                Some(side) => self.waiting[side].push_back(effect),
                None => self.report_due = true,
            }
        }
        for side in Side::BOTH {
            while !self.busy[side] {
                let Some(effect) = self.waiting[side].pop_front() else { break };
                self.begin(side, effect);
            }
        }
        let is_idle = self.work.is_empty() && self.waiting.both(VecDeque::is_empty);
        if is_idle && std::mem::take(&mut self.report_due) {
            self.report();
        }
    }

    fn begin(&mut self, side: Side, effect: Effect) {
        let now = self.shared.environment.now();
        match effect {
            Effect::Invite { call, limit, try_number, .. } => {
                let said = Call::GameInvitation(self.match_messages().invitation(side));
                self.ask((side, call, try_number), AskKind::Join, said, limit);
            }
            Effect::AskMove { call, limit, try_number, .. } => {
                let said = self.match_messages().ask(side, now, limit);
                self.ask((side, call, try_number), AskKind::Move, said, limit);
            }
            Effect::SendError { ask, attempt_error, tries_made, tries_allowed, pause, .. } => {
                self.shared.note_attempt_error(&self.order, side, &attempt_error, (tries_made, tries_allowed));
                let next = now.after(pause);
                let error = self.match_messages().error(side, ask, &attempt_error, (tries_made, tries_allowed), next);
                let envelope = self.match_messages().envelope(side, now);
                let told = self.inform(
                    side,
                    envelope,
                    Call::NotifyGameError(error),
                    self.match_machine.terms().limits.to_acknowledge,
                );
                // A pause leaves time for the notice. Without a pause the next try must not overtake it.
                let holds_up = pause.is_zero();
                self.busy[side] = holds_up;
                self.work.push(Box::pin(async move {
                    let (found, said) = told.await;
                    Done { side: holds_up.then_some(side), said, found: Some((side, found)), ..Done::default() }
                }));
            }
            Effect::Pause { call, span, .. } => {
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    sleep(span).await;
                    let input = Some(Input::PauseOver { side, call });
                    Done { side: Some(side), input, ..Done::default() }
                }));
            }
            Effect::SendGameOver { call, limit, .. } => {
                let Some(over) = self.match_messages().over(side) else { return };
                let envelope = self.match_messages().envelope(side, now);
                let told = self.inform(side, envelope, Call::NotifyMatchResult(over), limit);
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    let (found, _) = told.await;
                    let input = Some(Input::GameOverSent { side, call });
                    Done { side: Some(side), input, found: Some((side, found)), ..Done::default() }
                }));
            }
            Effect::Report => self.report_due = true,
        }
    }

    /// Waits until the limit for an answer to the call or a post.
    fn ask(&mut self, (side, call, number): (Side, CallNumber, u8), ask: AskKind, question: Call, limit: Duration) {
        let envelope = self.match_messages().envelope(side, self.shared.environment.now());
        let (peer_client, endpoint) = (self.shared.peer_client.clone(), self.endpoints[side].clone());
        let (order, mut known) = (Arc::clone(&self.order), self.known[side].clone());
        // The dialect may be wrong, because another referee may have taught it. The second try does without it.
        let usual = match number {
            2 if known.proven => Some(known.dialect.with_usual(question.method())),
            2 => Some(PeerDialect::default()),
            _ => None,
        };
        let is_other = usual.as_ref().is_some_and(|usual| *usual != known.dialect);
        known.dialect = usual.unwrap_or(known.dialect);
        let shared = Arc::clone(&self.shared);
        let transcript_writer = TranscriptWriter::new(&self.appointed.id, &order.players[side].player_id, &question);
        let posted = Arc::new(PostedAnswers::default());
        self.open[side] = Some((call, Arc::clone(&posted)));
        self.clocks[side] = Some((Instant::now(), limit));
        self.busy[side] = true;
        self.work.push(Box::pin(async move {
            let time = peer_client.client().deadline(limit);
            let asked = AskedQuestion { side, call, ask, order: &order };
            let posts = known.dialect.posts();
            let is_reached = !shared.settings.pulls;
            let waiter = AnswerWaiter { asked, posted: &posted, posts, is_reached, limit, time };
            let peer = Peer { endpoint: &endpoint, dialect: &known.dialect, proven: known.proven };
            let message = OutgoingCall { envelope: &envelope, call: &question, body: None, limit, notice: false };
            let (mut tries, mut read): (Vec<SendAttempt>, _) = (Vec::new(), None);
            let asking = async {
                let mut sending = peer_client.sending(peer, message, &mut tries);
                while let Some(exchange) = sending.next().await {
                    if waiter.is_understood(read.insert(asked.understand(exchange))).await {
                        return sending.finish(true);
                    }
                }
                sending.finish(false)
            };
            let said = tokio::select! {
                biased;
                said = asking => said,
                () = posted.over() => SendOutcome::default(),
            };
            let understood = said.understood;
            let (input, mut found, words) = waiter.outcome(said, read, &tries).await;
            found.problem = input.as_ref().map(|input| asked.problem(input, &endpoint, &tries, limit));
            if let Some(Ok(exchange)) = tries.iter_mut().rfind(|attempt| !attempt.is_probe).map(|last| &mut last.result)
            {
                exchange.receipt.granted = exchange.receipt.granted.max(posted.granted());
            }
            if is_other && understood && found.dialect.is_none() {
                found.dialect = Some(known.dialect.clone());
            }
            if posted.is_set() || words.iter().any(|said| said.refused.is_none()) {
                found.quirks.note(Quirk::PostsAnswers);
                found.dialect = Some(found.dialect.unwrap_or(known.dialect).posting());
            }
            if !found.quirks.is_empty() {
                tracing::debug!(match_id = %order.match_id, ?side, quirks = ?found.quirks, "an unusual answer");
            }
            let player = order.players[side].player_id.as_str();
            let answered = understood || posted.is_set();
            shared.note_tries(&order.match_id, (player, Some(number)), &tries, answered);
            let mut said = transcript_writer.write_down(&tries);
            said.extend(words);
            Done { side: Some(side), input, said, found: Some((side, found)), reported: None }
        }));
    }

    fn inform(
        &self,
        side: Side,
        envelope: Envelope,
        call: Call,
        limit: Duration,
    ) -> impl Future<Output = (SendFinding, Vec<TranscriptEntry>)> + Send + use<> {
        let (peer_client, endpoint) = (self.shared.peer_client.clone(), self.endpoints[side].clone());
        let transcript_writer = TranscriptWriter::new(&self.appointed.id, &self.order.players[side].player_id, &call);
        let KnownDialect { dialect, proven, .. } = self.known[side].clone();
        let (shared, order) = (Arc::clone(&self.shared), Arc::clone(&self.order));
        async move {
            let peer = Peer { endpoint: &endpoint, dialect: &dialect, proven };
            let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit, notice: true };
            let mut tries = Vec::new();
            let said = peer_client.send(peer, message, &is_acknowledged, &mut tries).await;
            let player = order.players[side].player_id.as_str();
            shared.note_tries(&order.match_id, (player, None), &tries, said.understood);
            (SendFinding::from(said), transcript_writer.write_down(&tries))
        }
    }
}

/// `None` for the report, which belongs to no side.
fn side_of(effect: &Effect) -> Option<Side> {
    match effect {
        Effect::Invite { side, .. }
        | Effect::AskMove { side, .. }
        | Effect::SendError { side, .. }
        | Effect::Pause { side, .. }
        | Effect::SendGameOver { side, .. } => Some(*side),
        Effect::Report => None,
    }
}
