//! Runs one match: the match machine decides, this module performs its effects.
//!
//! Calls to the two sides run concurrently. Effects for one side run in the order of the match machine. Only an error
//! notice runs concurrently with the pause after it: both end before the next try.

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
use league_core::game_match::refusal::PostRefusal;
use league_core::game_match::step::{StepCommand, StepRefused};
use league_core::record::MatchRecord;
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawCommitment;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{GameType, RoundId};
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::report::{Account, AnswerTimes, LearnedDialect};
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::step::MatchState;
use league_protocol::problem::Problem;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::{Pair, Side};
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_store::journal::JournalLevel;
use league_store::views::match_file::{MatchContext, MatchFile, TranscriptEntry};
use league_store::views::writer::ViewUpdate;
use league_wire::endpoint::Endpoint;
use league_wire::peer_client::{OutgoingCall, Peer, SendAttempt, SendOutcome, is_acknowledged};
use smol_str::SmolStr;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::answer::AskedQuestion;
use crate::answer_waiter::{AnswerWaiter, PostedAnswers};
use crate::held_answers::HoldOutcome;
use crate::orders::{MatchPurpose, unnamed_league};
use crate::posted_answer::{Answer, PostedAnswer, PosterProof, move_field};
use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::report;
use crate::transcript::{OwedTranscript, TranscriptTarget};
use crate::transcript_writer::TranscriptWriter;

pub(crate) enum MatchInput {
    /// The sender receives the decision about the answer.
    Answer(Box<PostedAnswer>, oneshot::Sender<Result<(), RequestError>>),
    Step(StepCommand, oneshot::Sender<Result<MatchState, StepRefused>>),
    Look(oneshot::Sender<MatchState>),
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
    transcript: Vec<TranscriptEntry>,
    known: Pair<KnownDialect>,
    problems: Pair<Option<Problem>>,
    /// The last question to each side, and the answers posted to it.
    open: Pair<Option<(CallNumber, Arc<PostedAnswers>)>>,
    /// Entries that the transcript lists after the call that they belong to.
    posted: Pair<Vec<TranscriptEntry>>,
    refused: Pair<usize>,
}

/// The transcript lists at most this many refused posts of a side.
const MAX_REFUSED: usize = 16;

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

struct Done {
    side: Option<Side>,
    input: Option<Input>,
    said: Vec<TranscriptEntry>,
    found: Option<(Side, SendFinding)>,
}

#[derive(Default)]
pub(crate) struct SendFinding {
    pub(crate) dialect: Option<PeerDialect>,
    pub(crate) proven: bool,
    pub(crate) quirks: Quirks,
    pub(crate) shows_token: bool,
    /// `None` for a notice, `Some(None)` for an answer without a problem.
    pub(crate) problem: Option<Option<Problem>>,
}

impl From<SendOutcome> for SendFinding {
    fn from(said: SendOutcome) -> Self {
        Self { dialect: said.learned, quirks: said.quirks, ..Self::default() }
    }
}

pub(crate) async fn run(
    shared: &Arc<Shared>,
    (appointed, purpose): (RefereeIdentity, MatchPurpose),
    order: Arc<StartMatch>,
    endpoints: Pair<Endpoint>,
    match_machine: MatchMachine,
    mut posts: mpsc::Receiver<MatchInput>,
) -> MatchState {
    let commitment = match_machine.commitment();
    let known = order.players.as_ref().map(|player| {
        let (dialect, shows_token) = (player.dialect.clone(), player.shows_token);
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
        transcript: Vec::new(),
        known,
        problems: Pair::default(),
        open: Pair::default(),
        posted: Pair::default(),
        refused: Pair::default(),
    };
    match_runner.tell(Input::Start);
    while !match_runner.match_machine.is_done() {
        tokio::select! {
            biased;
            Some(done) = match_runner.work.next(), if !match_runner.work.is_empty() => match_runner.done(done),
            Some(post) = posts.recv() => match_runner.receive(post),
            else => break,
        }
        match_runner.perform_effects();
    }
    match_runner.match_messages().state()
}

impl MatchRunner {
    fn match_messages(&self) -> MatchMessages<'_> {
        let match_messages = MatchMessages::new(&self.match_machine, &self.order, &self.appointed.id, self.commitment);
        match_messages.explained(self.problems.as_ref().map(Option::as_ref))
    }

    fn done(&mut self, done: Done) {
        self.transcript.extend(done.said);
        if let Some((side, found)) = done.found {
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
            self.transcript.append(&mut self.posted[side]);
        }
        if let Some(input) = done.input {
            self.tell(input);
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
                drop(reply.send(taken.map(|()| self.match_messages().state())));
            }
            MatchInput::Look(reply) => drop(reply.send(self.match_messages().state())),
        }
    }

    fn take_posted(&mut self, posted: PostedAnswer) -> Result<(), RequestError> {
        let PostedAnswer { side, method, standing, ref answer, .. } = posted;
        let ask = answer.ask();
        if !self.match_machine.owes(side, ask) {
            return self.not_owed(posted);
        }
        let illegal = match answer {
            Answer::Moved(text) => self.match_machine.game().check(side, text).err(),
            Answer::Joined(_) | Answer::Declined => None,
        };
        let illegal = illegal.map(|illegal| RequestError::new(ErrorCode::E004, method, illegal.to_string()));
        let illegal = illegal.map(|fault| fault.about(move_field(&self.order)));
        match standing {
            PosterProof::Proven => {
                let known = &mut self.known[side];
                known.shows_token = true;
                known.quirks = known.quirks.and(posted.quirks);
                self.posted[side].push(posted.said);
                if let Answer::Moved(text) = &posted.answer
                    && self.order.game_type == GameType::even_odd()
                {
                    self.problems[side] = Problem::of_choice(text);
                }
                self.tell(posted.answer.input(side, None));
                if let Some((call, open)) = &self.open[side]
                    && !self.match_machine.is_open(side, *call)
                {
                    open.set();
                }
            }
            PosterProof::Doubtful { token, is_near } => {
                let call = self.match_machine.open_call(side, ask);
                let open = self.open[side].clone().filter(|(open, _)| Some(*open) == call);
                let Some((_, open)) = open else { return self.not_owed(posted) };
                let refusal = match (self.order.strict || self.known[side].shows_token, is_near) {
                    (true, _) => Some(token),
                    (false, false) => Some(PostRefusal::OtherAddress),
                    (false, true) => None,
                };
                if let Some(refusal) = refusal {
                    open.held().refuse(refusal);
                    return self.refuse(posted, &refusal.to_string(), refusal.code(), refusal.advice());
                }
                self.hold(posted, &open)?;
            }
        }
        illegal.map_or(Ok(()), Err)
    }

    fn hold(&mut self, posted: PostedAnswer, open: &PostedAnswers) -> Result<(), RequestError> {
        let echoes = posted.conversation.as_ref() == Some(&self.match_messages().conversation(posted.side));
        let again = posted.clone();
        match open.hold(posted, echoes) {
            HoldOutcome::First => Ok(()),
            HoldOutcome::Repeated => self.refuse(again, "the same was posted before", ErrorCode::E010, "send it once"),
            HoldOutcome::Contradicted => {
                let match_id = &self.order.match_id;
                let player = &self.order.players[again.side].player_id;
                tracing::warn!(%match_id, %player, "two different answers were posted without a right token");
                let text = format!("{match_id}: two different answers were posted in the name of {player}");
                self.shared.alert("CONTRADICTING_POSTS", text);
                let advice = "send one answer, with the auth_token of your registration";
                self.refuse(again, "another posted answer differs", ErrorCode::E010, advice)
            }
        }
    }

    /// Refuses an answer that the referee does not wait for. A second choice, in a game with one choice per side, gets a
    /// warning; a second join is harmless.
    fn not_owed(&mut self, posted: PostedAnswer) -> Result<(), RequestError> {
        let side = posted.side;
        match posted.answer {
            Answer::Joined(_) if self.match_machine.has_joined(side) => Ok(()),
            Answer::Moved(_) if self.match_machine.has_made_only_move(side) => {
                let (match_id, player) = (&self.order.match_id, &self.order.players[side].player_id);
                tracing::warn!(%match_id, %player, "a second choice was posted; the first one counts");
                self.shared
                    .alert("SECOND_CHOICE", format!("{match_id}: {player} posted a second choice; the first counts"));
                self.refuse(
                    posted,
                    "a second choice",
                    ErrorCode::E010,
                    "the first choice counts; send one in each match",
                )
            }
            Answer::Joined(_) | Answer::Declined | Answer::Moved(_) => {
                let advice = "answer when you are called, and within the limit";
                self.refuse(posted, "nothing of the kind is asked for now", ErrorCode::E010, advice)
            }
        }
    }

    /// Records the refusal, up to a limit.
    fn refuse(&mut self, posted: PostedAnswer, why: &str, code: ErrorCode, advice: &str) -> Result<(), RequestError> {
        let (side, method) = (posted.side, posted.method);
        let match_id = &self.order.match_id;
        let fault =
            RequestError::new(code, method, format!("this answer does not count in {match_id}: {why}; {advice}"));
        self.refused[side] += 1;
        if self.refused[side] <= MAX_REFUSED {
            self.posted[side].push(posted.said.refused(why));
        }
        Err(fault)
    }

    fn perform_effects(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            match side_of(&effect) {
                Some(side) => self.waiting[side].push_back(effect),
                None => self.report(),
            }
        }
        for side in Side::BOTH {
            while !self.busy[side] {
                let Some(effect) = self.waiting[side].pop_front() else { break };
                self.begin(side, effect);
            }
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
                    Done { side: holds_up.then_some(side), input: None, said, found: Some((side, found)) }
                }));
            }
            Effect::Pause { call, span, .. } => {
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    sleep(span).await;
                    let input = Some(Input::PauseOver { side, call });
                    Done { side: Some(side), input, said: Vec::new(), found: None }
                }));
            }
            Effect::SendGameOver { call, limit, .. } => {
                let Some(over) = self.match_messages().over(side) else { return };
                let envelope = self.match_messages().envelope(side, now);
                let told = self.inform(side, envelope, Call::NotifyMatchResult(over), limit);
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    let (found, said) = told.await;
                    let input = Some(Input::GameOverSent { side, call });
                    Done { side: Some(side), input, said, found: Some((side, found)) }
                }));
            }
            Effect::Report => self.report(),
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
        self.busy[side] = true;
        self.work.push(Box::pin(async move {
            let time = peer_client.client().deadline(limit);
            let asked = AskedQuestion { side, call, ask, order: &order };
            let posts = known.dialect.posts();
            let waiter = AnswerWaiter { asked, posted: &posted, posts, limit, time };
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
            Done { side: Some(side), input, said, found: Some((side, found)) }
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

    /// What the referee learned about the players and the manager does not know.
    fn learned(&self) -> ByPlayer<LearnedDialect> {
        let news = Side::BOTH.into_iter().map(|side| {
            let (player, known) = (&self.order.players[side], &self.known[side]);
            let own = known.dialect.of_referees();
            let dialect = (own != player.dialect.of_referees()).then_some(own);
            let shows_token = known.shows_token && !player.shows_token;
            (player.player_id.clone(), LearnedDialect { dialect, quirks: known.quirks, shows_token })
        });
        ByPlayer(news.filter(|(_, learned)| !learned.is_nothing()).collect())
    }

    /// Writes the match file before it reports: when a league has all results, all files are on their way.
    fn report(&mut self) {
        let Some(mut report) = self.match_messages().report() else { return };
        report.learned = self.learned();
        if self.shared.logs(JournalLevel::Debug) {
            let message = format!("{} is decided; the manager is told", report.match_id);
            self.shared.write(self.shared.entry(JournalLevel::Debug, "MATCH_DECIDED", message).with(&report.result));
        }
        report.account.started = Some(self.began);
        report.account.times = self.times();
        let (target, mut file) = (self.shared.transcript_target(&self.order), self.file());
        let mut transcript = None;
        if let Some(file) = &mut file {
            if target == TranscriptTarget::Send {
                file.shorten_transcript();
                let owed = transcript.insert(OwedTranscript::of(file));
                report.account.transcript_sha256 = Some(owed.digest);
            }
            file.explain(report.account.clone());
            if target == TranscriptTarget::InManagersHome {
                // The manager finds the rest in the file.
                let problems = std::mem::take(&mut report.account.problems);
                report.account = Account { problems, in_your_home: true, ..Account::default() };
            }
        }
        let (shared, appointed, purpose) = (Arc::clone(&self.shared), self.appointed.clone(), self.purpose);
        self.work.push(Box::pin(async move {
            if let (Some(views), Some(file)) = (&shared.views, file) {
                views.put(ViewUpdate::Match(Box::new(file))).await;
            }
            if purpose == MatchPurpose::League {
                if let Some(owed) = &mut transcript {
                    shared.owe(owed).await;
                }
                let reported = report::deliver(&shared, &appointed, report).await;
                if let Some(owed) = transcript {
                    shared.deliver_in_background(appointed, owed, reported).await;
                }
            }
            Done { side: None, input: Some(Input::Reported), said: Vec::new(), found: None }
        }));
    }

    /// The time of an answer ends with its last byte.
    fn times(&self) -> ByPlayer<AnswerTimes> {
        let took = |player: &str, what: &str| {
            let answers = self.transcript.iter().filter(|said| said.from == player && said.message_type == what);
            answers.rev().find_map(|said| said.receipt?.last_byte_ms)
        };
        let times = self.order.players.as_ref().map(|player| {
            let id = player.player_id.as_str();
            let moved = took(id, "CHOOSE_PARITY_RESPONSE").or_else(|| took(id, "GAME_MOVE_RESPONSE"));
            (player.player_id.clone(), AnswerTimes { join_ms: took(id, "GAME_JOIN_ACK"), move_ms: moved })
        });
        ByPlayer(vec![times.a, times.b])
    }

    fn file(&mut self) -> Option<MatchFile> {
        let ending = self.match_machine.ending()?;
        let occasion = MatchContext {
            league_id: self.order.league_id.clone().or_else(unnamed_league)?,
            round_id: self.order.round_id.unwrap_or(RoundId(0)),
            match_id: self.order.match_id.clone(),
            attempt: self.order.attempt,
            game_type: self.order.game_type.clone(),
            players: self.order.players.as_ref().map(|player| player.player_id.clone()),
            referee_id: self.appointed.id.clone(),
        };
        let record = MatchRecord::of(&self.match_machine, ending, self.order.draw_secret.is_some());
        let names = self.order.players.as_ref().map(|player| player.player_id.as_str());
        let reason = self.match_machine.reason(names).map(SmolStr::new);
        let mut file = MatchFile::new(occasion, self.began);
        file.lifecycle.started = Some(self.began);
        file.transcript = std::mem::take(&mut self.transcript);
        for side in Side::BOTH {
            file.transcript.append(&mut self.posted[side]);
        }
        file.finish(&record, &self.order.scoring, reason, self.shared.environment.now());
        Some(file)
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
