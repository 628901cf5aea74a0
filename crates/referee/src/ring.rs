//! One match: the bout decides, the ring carries it out.
//!
//! Calls to the two sides run at the same time. What belongs to one side runs in the order in which the bout asked for it; only
//! the news of an error runs beside the pause that follows it, because both are over when the next try begins.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::HeaderMap;
use league_core::bout::Bout;
use league_core::bout::effect::{Ask, Effect};
use league_core::bout::input::{CallFault, CallNo, Input};
use league_core::bout::letters::Letters;
use league_core::bout::step::{Step, StepRefused};
use league_core::record::MatchRecord;
use league_protocol::draw::DrawCommitment;
use league_protocol::head::Envelope;
use league_protocol::id::RefereeId;
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::step::MatchState;
use league_protocol::side::{Pair, Side};
use league_protocol::speech::Form;
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_store::views::match_file::{MatchFile, Occasion, Utterance};
use league_store::views::writer::View;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::{CallError, Exchange};
use smol_str::SmolStr;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

use crate::answer::{Asked, Understood};
use crate::referee::Shared;
use crate::report;
use crate::scribe::Scribe;

/// What reaches a match from outside.
pub(crate) enum Post {
    /// An answer that a player posted by itself.
    Answer(Input),
    /// A step of the operator.
    Step(Step, oneshot::Sender<Result<MatchState, StepRefused>>),
    /// How does it stand?
    Look(oneshot::Sender<MatchState>),
}

/// A match under way.
struct Ring {
    shared: Arc<Shared>,
    referee: RefereeId,
    order: Arc<StartMatch>,
    endpoints: Pair<Endpoint>,
    commitment: DrawCommitment,
    bout: Bout,
    effects: Vec<Effect>,
    /// What is still to be done for each side, in order.
    waiting: Pair<VecDeque<Effect>>,
    busy: Pair<bool>,
    work: FuturesUnordered<Work>,
    began: Timestamp,
    transcript: Vec<Utterance>,
}

/// Something that is being done.
type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What was done.
struct Done {
    /// The side that is free again.
    side: Option<Side>,
    /// What the bout is to be told.
    input: Option<Input>,
    /// What was said.
    said: Vec<Utterance>,
}

/// Runs a match from the invitations to the report.
pub(crate) async fn run(
    shared: &Arc<Shared>,
    referee: &RefereeId,
    order: Arc<StartMatch>,
    endpoints: Pair<Endpoint>,
    bout: Bout,
    mut posts: mpsc::Receiver<Post>,
) -> MatchState {
    let commitment = bout.commitment();
    let mut ring = Ring {
        shared: Arc::clone(shared),
        referee: referee.clone(),
        order,
        endpoints,
        commitment,
        bout,
        effects: Vec::new(),
        waiting: Pair::default(),
        busy: Pair::default(),
        work: FuturesUnordered::new(),
        began: shared.world.now(),
        transcript: Vec::new(),
    };
    ring.tell(Input::Start);
    while !ring.bout.is_done() {
        tokio::select! {
            Some(done) = ring.work.next(), if !ring.work.is_empty() => ring.done(done),
            Some(post) = posts.recv() => ring.take(post),
            else => break,
        }
        ring.go_on();
    }
    ring.letters().state()
}

impl Ring {
    fn letters(&self) -> Letters<'_> {
        Letters::new(&self.bout, &self.order, &self.referee, self.commitment)
    }

    fn done(&mut self, done: Done) {
        self.transcript.extend(done.said);
        if let Some(side) = done.side {
            self.busy[side] = false;
        }
        if let Some(input) = done.input {
            self.tell(input);
        }
    }

    fn tell(&mut self, input: Input) {
        self.bout.handle(input, &mut self.effects);
        self.go_on();
    }

    fn take(&mut self, post: Post) {
        match post {
            Post::Answer(input) => self.tell(input),
            Post::Step(step, reply) => {
                let taken = self.bout.step(step, &mut self.effects);
                self.go_on();
                // Whoever asked may be gone; the step is taken all the same.
                drop(reply.send(taken.map(|()| self.letters().state())));
            }
            Post::Look(reply) => drop(reply.send(self.letters().state())),
        }
    }

    /// Begins whatever can be begun.
    fn go_on(&mut self) {
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
        let now = self.shared.world.now();
        match effect {
            Effect::Invite { call, limit, .. } => {
                let said = Call::GameInvitation(self.letters().invitation(side));
                self.ask(side, call, Ask::Join, said, limit);
            }
            Effect::AskMove { call, limit, .. } => {
                let said = self.letters().ask(side, now, limit);
                self.ask(side, call, Ask::Move, said, limit);
            }
            Effect::TellError { ask, complaint, tries_made, tries_allowed, pause, .. } => {
                let next = now.after(pause);
                let error = self.letters().error(side, ask, &complaint, (tries_made, tries_allowed), next);
                let envelope = self.letters().envelope(side, now);
                let told =
                    self.say(side, envelope, Call::NotifyGameError(error), self.bout.terms().limits.to_acknowledge);
                // With a pause behind it the news can take its time; without one the next try must not overtake it.
                let holds_up = pause.is_zero();
                self.busy[side] = holds_up;
                self.work.push(Box::pin(async move {
                    let (_, said) = told.await;
                    Done { side: holds_up.then_some(side), input: None, said }
                }));
            }
            Effect::Pause { call, span, .. } => {
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    sleep(span).await;
                    Done { side: Some(side), input: Some(Input::PauseOver { side, call }), said: Vec::new() }
                }));
            }
            Effect::TellOver { call, limit, .. } => {
                let Some(over) = self.letters().over(side) else { return };
                let envelope = self.letters().envelope(side, now);
                let told = self.say(side, envelope, Call::NotifyMatchResult(over), limit);
                self.busy[side] = true;
                self.work.push(Box::pin(async move {
                    let (_, said) = told.await;
                    Done { side: Some(side), input: Some(Input::Told { side, call }), said }
                }));
            }
            Effect::Report => self.report(),
        }
    }

    /// Asks a side, and waits for its answer to the end of the limit.
    fn ask(&mut self, side: Side, call: CallNo, ask: Ask, question: Call, limit: Duration) {
        let envelope = self.letters().envelope(side, self.shared.world.now());
        let asking = self.say(side, envelope, question, limit);
        let order = Arc::clone(&self.order);
        self.busy[side] = true;
        self.work.push(Box::pin(async move {
            let end = Instant::now() + limit;
            let (came, said) = asking.await;
            let asked = Asked { side, call, ask, match_id: &order.match_id, game: &order.game_type };
            let input = match asked.understand(&came) {
                Understood::Said { input, quirks } => {
                    if !quirks.is_empty() {
                        tracing::debug!(match_id = %order.match_id, ?side, ?quirks, "an unusual answer");
                    }
                    input
                }
                // The answer may still be posted; the bout then no longer waits for this call.
                Understood::Heard => {
                    sleep_until(end).await;
                    Input::Failed { side, call, fault: CallFault::TimedOut }
                }
            };
            Done { side: Some(side), input: Some(input), said }
        }));
    }

    /// Says something to a side, and writes down what was said.
    fn say(
        &self,
        side: Side,
        envelope: Envelope,
        call: Call,
        limit: Duration,
    ) -> impl Future<Output = (Result<Exchange, CallError>, Vec<Utterance>)> + Send + use<> {
        let (client, endpoint) = (self.shared.client.clone(), self.endpoints[side].clone());
        let scribe = Scribe::new(&self.referee, &self.order.players[side].player_id, &call);
        async move {
            let mut body = Vec::with_capacity(1024);
            if let Err(error) = Form::default().write(client.next_id(), &envelope, &call, &mut body) {
                tracing::error!(%error, "a message of ours cannot be written");
            }
            let body = Bytes::from(body);
            let came = client.post(&endpoint, &HeaderMap::new(), body.clone(), limit).await;
            let said = scribe.write_down(&body, &came);
            (came, said)
        }
    }

    /// Puts the match down, then reports it: a league that knows all results has all files on their way.
    fn report(&mut self) {
        let Some(report) = self.letters().report() else { return };
        let (shared, file) = (Arc::clone(&self.shared), self.file());
        self.work.push(Box::pin(async move {
            if let (Some(views), Some(file)) = (&shared.views, file) {
                views.put(View::Match(Box::new(file))).await;
            }
            report::deliver(&shared, report).await;
            Done { side: None, input: Some(Input::Reported), said: Vec::new() }
        }));
    }

    /// The match as a file; nothing where it does not say which league and round it belongs to.
    fn file(&mut self) -> Option<MatchFile> {
        let ending = self.bout.ending()?;
        let occasion = Occasion {
            league_id: self.order.league_id.clone()?,
            round_id: self.order.round_id?,
            match_id: self.order.match_id.clone(),
            attempt: self.order.attempt,
            game_type: self.order.game_type.clone(),
            players: self.order.players.as_ref().map(|player| player.player_id.clone()),
            referee_id: self.referee.clone(),
        };
        let record = MatchRecord::of(&self.bout, ending, self.order.draw_secret.is_some());
        let names = self.order.players.as_ref().map(|player| player.player_id.as_str());
        let reason = self.bout.reason(names).map(SmolStr::new);
        let mut file = MatchFile::new(occasion, self.began);
        file.lifecycle.started = Some(self.began);
        file.transcript = std::mem::take(&mut self.transcript);
        file.finish(&record, &self.order.scoring, reason, self.shared.world.now());
        Some(file)
    }
}

/// Whose effect it is; the report is nobody's.
fn side_of(effect: &Effect) -> Option<Side> {
    match effect {
        Effect::Invite { side, .. }
        | Effect::AskMove { side, .. }
        | Effect::TellError { side, .. }
        | Effect::Pause { side, .. }
        | Effect::TellOver { side, .. } => Some(*side),
        Effect::Report => None,
    }
}
