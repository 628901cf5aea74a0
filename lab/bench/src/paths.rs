//! The hottest paths of a league, n times and nothing else: `cargo xtask ci instructions` counts their instructions.

use std::hint::black_box;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use league_protocol::envelope::Envelope;
use league_protocol::id::PlayerId;
use league_protocol::message::choice::ChooseParityResponse;
use league_protocol::parity::Parity;
use league_protocol::request::{self, Incoming};
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_store::views::redact::redact;

use crate::measure::in_memory;

#[derive(Debug, Args)]
pub(crate) struct Options {
    path: HotPath,
    times: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum HotPath {
    /// A call is read and answered.
    Call,
    /// A match is played by its rules.
    Match,
    /// An exchange is written down.
    Transcript,
}

const QUESTION: &[u8] = br#"{"jsonrpc":"2.0","method":"choose_parity","params":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2025-01-15T10:30:05Z","conversation_id":"league_2025_even_odd:R1M1:1","auth_token":"pass-idVKOKh523WCrPtE9J5njbq7X87wOVxrChWTGgUw5U8","league_id":"league_2025_even_odd","round_id":1,"match_id":"R1M1","player_id":"P01","game_type":"even_odd","game_id":"R1M1","context":{"opponent_id":"P02","round_id":1,"your_standings":{"wins":0,"losses":0,"draws":0,"points":0}},"deadline":"2025-01-15T10:30:35Z"},"id":7}"#;

pub(crate) fn run(options: &Options) -> Result<()> {
    match options.path {
        HotPath::Call => calls(options.times),
        HotPath::Match => matches(options.times),
        HotPath::Transcript => transcripts(options.times),
    }
}

fn answered(question: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let Ok(Incoming::Call(request)) = request::read(question) else { bail!("not a call") };
    request.check(false).map_err(|fault| anyhow::anyhow!("{}", fault.message))?;
    let reply_to = request.reply_to();
    let (head, Call::ChooseParity(call)) = (request.head, request.call) else { bail!("not a call for a choice") };
    let envelope = Envelope {
        sender: Sender::player(&PlayerId::numbered(1)),
        timestamp: Timestamp::EPOCH,
        conversation_id: head.conversation_id.good().context("no conversation id")?,
        auth_token: head.auth_token,
    };
    let choice = ChooseParityResponse {
        match_id: call.match_id,
        player_id: PlayerId::numbered(1),
        parity_choice: Parity::Even,
        signature: None,
    };
    out.clear();
    Ok(reply_to.answer(&envelope, &choice, out)?)
}

/// A player reads, checks and answers a call for a choice.
fn calls(times: u32) -> Result<()> {
    let mut out = Vec::new();
    for _ in 0..times {
        answered(black_box(QUESTION), &mut out)?;
        black_box(&out);
    }
    Ok(())
}

/// Question and answer go into the match file without credentials.
fn transcripts(times: u32) -> Result<()> {
    let mut answer = Vec::new();
    answered(QUESTION, &mut answer)?;
    for _ in 0..times {
        black_box((redact(black_box(QUESTION)), redact(black_box(&answer))));
    }
    Ok(())
}

/// Leagues of 46 players in memory: 1,035 matches each.
fn matches(times: u32) -> Result<()> {
    for _ in 0..times {
        let mut league = in_memory(1035, u32::MAX, false)?;
        while league.play_round()? {}
        black_box(league.season().matches_completed());
    }
    Ok(())
}
