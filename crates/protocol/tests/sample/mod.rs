//! One message of every kind with all fields set, for the goldens and other tests.

use league_protocol::dialect::PeerDialect;
use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use league_protocol::envelope::Envelope;
use league_protocol::frame::Frame;
use league_protocol::id::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall, ChooseParityResponse, PostedChoice};
use league_protocol::message::game_error::{GameError, RetryInfo};
use league_protocol::message::game_move::{GameMoveCall, GameMoveResponse, MoveContext};
use league_protocol::message::game_over::{ByPlayer, DrawProof, GameOver, GameResult, OwnResult, ResultStatus};
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::message::league_error::LeagueError;
use league_protocol::message::league_view::{AgentEntry, GetLeague, LeaguePage, LeagueView};
use league_protocol::message::operate::{CreateSchedule, Empty, LeagueCommand, ScheduleAnswer, WithdrawPlayer};
use league_protocol::message::query::{
    AssignedMatches, DirectoryEntry, Findings, GetAssignedMatches, LeagueQuery, LeagueQueryResponse, LeagueStatus,
    NextMatch, PlayerStats, QueryParams, QueryType, ScheduledMatch, ScheduledRound,
};
use league_protocol::message::registration::{
    AgentMeta, LeagueRegisterRequest, PASS_SCHEME, RefereeRegisterRequest, RegisterResponse, RegistrationStatus,
};
use league_protocol::message::report::{
    Account, AnswerTimes, LearnedDialect, MatchResultAck, MatchResultReport, ReportedResult, ResultDetails,
};
use league_protocol::message::round::{
    AnnouncedMatch, Champion, LeagueCompleted, RoundAnnouncement, RoundCompleted, RoundSummary, ShutdownCommand,
};
use league_protocol::message::standings::{
    FinalRow, GetStandings, PlayerRecord, StandingsAnswer, StandingsRow, StandingsUpdate,
};
use league_protocol::message::start_match::{
    Contestant, MatchLimits, MatchMode, MatchPoints, StartMatch, StartMatchAnswer,
};
use league_protocol::message::state::PlayerState;
use league_protocol::message::step::{MatchState, MatchStep, RegisterToLeague, RegisteredToLeague};
use league_protocol::message::transcript::{MatchTranscript, TranscriptAck, TranscriptDigest};
use league_protocol::parity::Parity;
use league_protocol::problem::Problem;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::reply::ReplyTo;
use league_protocol::sender::Sender;
use league_protocol::side::{Pair, Side};
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};

/// With a fraction, because written times have whole seconds.
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_unix_millis(1_772_614_800_750)
}

pub(crate) fn league() -> LeagueId {
    "harbour_cup".parse().unwrap()
}

pub(crate) fn match_id() -> MatchId {
    MatchId::of(RoundId(2), 3)
}

pub(crate) fn player(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

pub(crate) fn referee() -> RefereeId {
    RefereeId::numbered(7)
}

pub(crate) fn token() -> Token {
    Token::mint("P05", &[0x5A; 32])
}

pub(crate) fn envelope() -> Envelope {
    Envelope {
        sender: Sender::manager(),
        timestamp: noon(),
        conversation_id: ConversationId::named("conv-r2m3"),
        auth_token: Some(Credential::from(token().digest().manager_pass(&league()))),
    }
}

fn meta(name: &str, max_concurrent_matches: Option<u32>) -> AgentMeta {
    AgentMeta {
        display_name: name.into(),
        version: "3.1.4".into(),
        protocol_version: Some("2.1.0".into()),
        game_types: vec![GameType::even_odd()],
        contact_endpoint: "http://127.0.0.1:8205/mcp".into(),
        max_concurrent_matches,
        pass_scheme: max_concurrent_matches.map(|_| PASS_SCHEME.into()),
        accepts_batches: true,
    }
}

fn record() -> PlayerRecord {
    PlayerRecord { wins: 1, losses: 2, draws: 0, points: 3 }
}

fn proof() -> DrawProof {
    let secret = DrawSecret([7; 32]);
    let nonces = ByPlayer(vec![(player(5), "salt".parse().unwrap()), (player(6), DrawNonce::default())]);
    let seal = Some(DrawSeal([0x5E; 32]));
    DrawProof { commitment: secret.commitment(), secret, attempt: 1, nonces, seal, seeded: true }
}

fn choices() -> ByPlayer<Option<smol_str::SmolStr>> {
    ByPlayer(vec![(player(5), Some("even".into())), (player(6), None)])
}

fn announced() -> AnnouncedMatch {
    AnnouncedMatch {
        match_id: match_id(),
        round_id: Some(RoundId(2)),
        game_type: Some(GameType::even_odd()),
        player_a_id: player(5),
        player_b_id: player(6),
        referee_endpoint: Some("http://127.0.0.1:8107/mcp".into()),
        referee_id: Some(referee()),
        player_a_endpoint: Some("http://127.0.0.1:8205/mcp".into()),
        player_b_endpoint: Some("http://127.0.0.1:8206/mcp".into()),
    }
}

fn standing() -> StandingsRow {
    let display_name = "Quay \"the\" First".into();
    StandingsRow {
        rank: 1,
        player_id: player(5),
        display_name,
        played: 3,
        wins: 1,
        draws: 0,
        losses: 2,
        points: 3,
        withdrawn: false,
    }
}

fn game_result() -> GameResult {
    GameResult {
        status: Some(ResultStatus::TechnicalLoss),
        winner_player_id: Some(player(5)),
        drawn_number: None,
        number_parity: None,
        choices: choices(),
        reason: "P06 did not answer.".into(),
    }
}

fn contestant(number: u32) -> Contestant {
    let key = Token::mint(player(number).as_str(), &[number as u8; 32]).digest();
    Contestant {
        player_id: player(number),
        endpoint: format!("http://127.0.0.1:82{number:02}/mcp"),
        display_name: "Quay".into(),
        standings: record(),
        referee_pass: Some(key.referee_pass(&league(), &match_id(), &referee())),
        player_pass: Some(key.player_pass(&league(), &match_id())),
        dialect: PeerDialect::from(Frame::Nested).calling(Method::ChooseParity, "parity_choose"),
        shows_token: true,
        attempts: Some(1),
    }
}

fn scheduled() -> ScheduledRound {
    let planned = ScheduledMatch {
        match_id: match_id(),
        round_id: RoundId(2),
        game_type: GameType::even_odd(),
        player_a_id: player(5),
        player_b_id: player(6),
        status: "PENDING".into(),
        winner: None,
    };
    ScheduledRound { round_id: RoundId(2), completed: false, bye: Some(player(7)), matches: vec![planned] }
}

fn status() -> LeagueStatus {
    LeagueStatus {
        league_id: league(),
        display_name: Some("Harbour Cup".into()),
        state: "RUNNING_LEAGUE".into(),
        halted: false,
        current_round: RoundId(0),
        total_rounds: 3,
        players: 4,
        referees: 1,
        matches_completed: 0,
        total_matches: 6,
    }
}

fn findings() -> Findings {
    let entry = |player_id, referee_id| DirectoryEntry {
        player_id,
        referee_id,
        display_name: "Quay".into(),
        endpoint: Some("http://127.0.0.1:8205/mcp".into()),
    };
    Findings {
        standings: Some(vec![standing()]),
        schedule: Some(vec![scheduled()]),
        next_match: Some(NextMatch {
            match_id: match_id(),
            round_id: RoundId(2),
            opponent_id: player(6),
            referee_endpoint: None,
            game_type: GameType::even_odd(),
        }),
        stats: Some(PlayerStats { standing: standing(), technical_losses: 1, remaining: 2, state: "ACTIVE".into() }),
        status: Some(status()),
        players: Some(vec![entry(Some(player(5)), None)]),
        referees: Some(vec![entry(None, Some(referee()))]),
    }
}

pub(crate) fn call(method: Method) -> Call {
    let step = MatchStep { match_id: match_id() };
    match method {
        Method::RegisterReferee => Call::RegisterReferee(RefereeRegisterRequest {
            referee_meta: meta("Whistle", Some(4)),
            referee_id: Some(referee()),
            join_key: Some(Credential::new("let-me-in")),
            quirks: Quirks::default(),
        }),
        Method::RegisterPlayer => Call::RegisterPlayer(LeagueRegisterRequest {
            player_meta: meta("Quay", None),
            player_id: Some(player(5)),
            join_key: None,
            quirks: Quirks::default(),
        }),
        Method::ReportMatchResult => Call::ReportMatchResult(MatchResultReport {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            game_type: Some(GameType::even_odd()),
            attempt: Some(1),
            result: ReportedResult {
                winner: None,
                score: ByPlayer(vec![(player(5), 1), (player(6), 1)]),
                details: ResultDetails {
                    drawn_number: Some(8),
                    number_parity: Some(Parity::Even),
                    choices: choices(),
                    status: Some(ResultStatus::Draw),
                    technical_losses: vec![player(6)],
                    reason: Some("Both said the same.".into()),
                    draw: Some(proof()),
                    moves: Vec::new(),
                },
            },
            learned: ByPlayer(vec![(
                player(6),
                LearnedDialect {
                    dialect: Some(PeerDialect::from(Frame::Typed)),
                    quirks: [Quirk::NoToken, Quirk::PostsAnswers].into_iter().collect(),
                    shows_token: true,
                },
            )]),
            account: Account {
                reason: None,
                started: Some(noon()),
                problems: ByPlayer(vec![(player(6), Problem::silent(std::time::Duration::from_secs(30)))]),
                times: ByPlayer(vec![
                    (player(5), AnswerTimes { join_ms: Some(12), move_ms: Some(340) }),
                    (player(6), AnswerTimes { join_ms: Some(7), move_ms: None }),
                ]),
                transcript_sha256: Some(TranscriptDigest([0xAB; 32])),
                in_your_home: true,
            },
        }),
        Method::StoreTranscript => Call::StoreTranscript(MatchTranscript {
            league_id: Some(league()),
            match_id: match_id(),
            attempt: 1,
            sha256: TranscriptDigest([0xAB; 32]),
            part: 1,
            parts: 2,
            data: "W10=".into(),
        }),
        Method::LeagueQuery => Call::LeagueQuery(LeagueQuery {
            league_id: Some(league()),
            query_type: QueryType::GetNextMatch,
            query_params: QueryParams { player_id: Some(player(5)), round_id: None },
        }),
        Method::GetAssignedMatches => Call::GetAssignedMatches(GetAssignedMatches { league_id: Some(league()) }),
        Method::GetStandings => Call::GetStandings(GetStandings { league_id: Some(league()) }),
        Method::GetLeague => Call::GetLeague(GetLeague {
            league_id: Some(league()),
            view: LeagueView::Match,
            match_id: Some(match_id()),
            from: 8192,
        }),
        Method::CreateSchedule => Call::CreateSchedule(CreateSchedule { players: Some(vec![player(5), player(6)]) }),
        Method::StartLeague => Call::StartLeague(LeagueCommand { league_id: Some(league()) }),
        Method::StopLeague => Call::StopLeague(LeagueCommand { league_id: None }),
        Method::ReopenRegistration => Call::ReopenRegistration(LeagueCommand { league_id: None }),
        Method::WithdrawPlayer => {
            Call::WithdrawPlayer(WithdrawPlayer { league_id: Some(league()), player_id: player(5) })
        }
        Method::StartMatch => Call::StartMatch(StartMatch {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            game_type: GameType::even_odd(),
            attempt: 1,
            mode: MatchMode::Flowing,
            players: Pair::new(contestant(5), contestant(6)),
            timeouts: MatchLimits::default(),
            scoring: MatchPoints::default(),
            draw_secret: Some(DrawSecret([7; 32])),
            strict: true,
            home_mark: Some("0f1e2d3c4b5a69788796a5b4c3d2e1f0".into()),
        }),
        Method::CollectChoices => Call::CollectChoices(step),
        Method::DrawNumber => Call::DrawNumber(step),
        Method::FinalizeMatch => Call::FinalizeMatch(step),
        Method::GetMatchState => Call::GetMatchState(step),
        Method::RegisterToLeague => {
            Call::RegisterToLeague(RegisterToLeague { manager_endpoint: Some("http://127.0.0.1:8100/mcp".into()) })
        }
        Method::NotifyRound => Call::NotifyRound(RoundAnnouncement {
            league_id: Some(league()),
            round_id: RoundId(2),
            matches: vec![announced()],
            total_matches: Some(2),
            referees_show_passes: Some(false),
            players: None,
            agents: None,
        }),
        Method::GameInvitation => Call::GameInvitation(GameInvitation {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            player_id: Some(player(5)),
            game_type: Some(GameType::even_odd()),
            role_in_match: Some(Side::A),
            opponent_id: Some(player(6)),
            attempt: Some(1),
            draw_commitment: Some(DrawCommitment([0xC0; 32])),
        }),
        Method::ChooseParity => Call::ChooseParity(ChooseParityCall {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            player_id: Some(player(5)),
            game_type: Some(GameType::even_odd()),
            context: ChoiceContext {
                opponent_id: Some(player(6)),
                round_id: Some(RoundId(2)),
                your_standings: record(),
            },
            deadline: Some(noon().after(std::time::Duration::from_secs(30))),
        }),
        Method::MakeMove => Call::MakeMove(GameMoveCall {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            player_id: Some(player(5)),
            game_type: "tic_tac_toe".parse().unwrap(),
            context: MoveContext {
                opponent_id: Some(player(6)),
                state: "X.O......".into(),
                your_standings: record(),
                legal_moves: Vec::new(),
            },
            deadline: Some(noon()),
        }),
        Method::NotifyMatchResult => Call::NotifyMatchResult(GameOver {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: match_id(),
            player_id: Some(player(5)),
            game_type: Some(GameType::even_odd()),
            game_result: Some(game_result()),
            result: Some(OwnResult::Win),
            drawn_number: None,
            your_choice: Some("even".into()),
            opponent_choice: None,
            points_earned: Some(3),
            draw: Some(proof()),
            hint: Some("you sent `ODD`; send `odd`".into()),
        }),
        Method::NotifyGameError => Call::NotifyGameError(GameError {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            match_id: Some(match_id()),
            player_id: Some(player(5)),
            affected_player: Some(player(5)),
            error_code: Some("E001".into()),
            error_name: Some("TIMEOUT_ERROR".into()),
            error_description: Some("TIMEOUT_ERROR".into()),
            hint: Some("No answer within 30 seconds.".into()),
            game_state: Some("COLLECTING_CHOICES".into()),
            action_required: Some("CHOOSE_PARITY_RESPONSE".into()),
            retryable: Some(true),
            retry_count: Some(1),
            max_retries: Some(3),
            retry_info: Some(RetryInfo { retry_count: 1, max_retries: 3, next_retry_at: Some(noon()) }),
            consequence: Some("Two more, then the match is lost.".into()),
        }),
        Method::PostJoin => Call::PostJoin(join()),
        Method::PostChoice => Call::PostChoice(PostedChoice {
            match_id: match_id(),
            player_id: Some(player(5)),
            parity_choice: Some("even".into()),
            choice: None,
            played: None,
        }),
        Method::UpdateStandings => Call::UpdateStandings(StandingsUpdate {
            league_id: Some(league()),
            round_id: Some(RoundId(2)),
            standings: vec![standing()],
            total_players: None,
        }),
        Method::NotifyRoundCompleted => Call::NotifyRoundCompleted(RoundCompleted {
            league_id: Some(league()),
            round_id: RoundId(3),
            matches_played: 2,
            matches_completed: 2,
            next_round_id: None,
            summary: RoundSummary { total_matches: 2, wins: 1, draws: 1, technical_losses: 0 },
        }),
        Method::NotifyLeagueCompleted => Call::NotifyLeagueCompleted(LeagueCompleted {
            league_id: Some(league()),
            total_rounds: 3,
            total_matches: 6,
            champion: Some(Champion { player_id: player(5), display_name: "Quay".into(), points: 9 }),
            final_standings: vec![FinalRow::from(&standing())],
            total_players: None,
        }),
        Method::NotifyLeagueError => Call::NotifyLeagueError(LeagueError::of(
            &league_protocol::error::RequestError::new(
                league_protocol::error::ErrorCode::E012,
                method,
                "Register again.",
            ),
            Some("LEAGUE_QUERY"),
        )),
        Method::Shutdown => Call::Shutdown(ShutdownCommand { reason: Some("The league is over.".into()) }),
        Method::GetPlayerState => Call::GetPlayerState(Empty {}),
        Method::Ping => Call::Ping(Empty {}),
    }
}

fn join() -> GameJoinAck {
    GameJoinAck {
        match_id: Some(match_id()),
        player_id: Some(player(5)),
        arrival_timestamp: Some(noon()),
        accept: Some(true),
        draw_nonce: Some("salt".parse().unwrap()),
        reason: None,
    }
}

pub(crate) fn answer(method: Method, to: &ReplyTo, out: &mut Vec<u8>) {
    let envelope = envelope();
    let heard = Acknowledgement::of_player(player(5)).for_round(RoundId(2)).for_match(match_id());
    match method {
        Method::RegisterReferee | Method::RegisterPlayer => {
            let response = RegisterResponse {
                status: RegistrationStatus::Accepted,
                player_id: (method == Method::RegisterPlayer).then(|| player(5)),
                referee_id: (method == Method::RegisterReferee).then(referee),
                league_id: Some(league()),
                reason: None,
                reason_code: None,
                error_code: None,
                pass_scheme: Some(PASS_SCHEME.into()),
                warnings: vec!["no sender in the envelope".into()],
            };
            to.answer(&envelope, &response, out)
        }
        Method::ReportMatchResult => {
            let (status, round_id) = ("ACCEPTED".into(), Some(RoundId(2)));
            to.answer(&envelope, &MatchResultAck { status, match_id: match_id(), round_id, duplicate: true }, out)
        }
        Method::StoreTranscript => {
            let status = "ACCEPTED".into();
            to.answer(&envelope, &TranscriptAck { status, match_id: match_id(), received: 2, complete: true }, out)
        }
        Method::LeagueQuery => {
            let response = LeagueQueryResponse {
                query_type: QueryType::GetStandings,
                success: true,
                current_round: RoundId(2),
                data: findings(),
                error: None,
            };
            to.answer(&envelope, &response, out)
        }
        Method::GetAssignedMatches => to.answer(&envelope, &AssignedMatches { matches: vec![announced()] }, out),
        Method::GetStandings => {
            let standings = vec![standing()];
            to.answer(&envelope, &StandingsAnswer { league_id: league(), current_round: RoundId(0), standings }, out)
        }
        Method::GetLeague => {
            let agent = AgentEntry {
                id: "P05".into(),
                role: "player".into(),
                name: "Player 5".into(),
                version: "1.0.0".into(),
                endpoint: "http://localhost:8105/mcp".into(),
                state: "ACTIVE".into(),
                dialect: PeerDialect::from(Frame::Bare),
                quirks: [Quirk::BareMessage].into_iter().collect(),
            };
            let page = LeaguePage {
                status: Some(status()),
                standings: vec![standing()],
                rounds: vec![scheduled()],
                agents: vec![agent],
                text: Some("{".into()),
                next: Some(8192),
            };
            to.answer(&envelope, &page, out)
        }
        Method::CreateSchedule => {
            let (rounds, matches) = (vec![scheduled()], scheduled().matches);
            let made = ScheduleAnswer { league_id: league(), rounds, matches, total_matches: 6 };
            to.answer(&envelope, &made, out)
        }
        Method::StartLeague | Method::StopLeague | Method::ReopenRegistration | Method::WithdrawPlayer => {
            to.answer(&envelope, &status(), out)
        }
        Method::StartMatch => {
            let (status, reason) = ("REFUSED".into(), Some("Busy with two matches.".into()));
            let refusal = StartMatchAnswer { status, match_id: match_id(), attempt: Some(1), reason };
            to.answer(&envelope, &refusal, out)
        }
        Method::CollectChoices | Method::DrawNumber | Method::FinalizeMatch | Method::GetMatchState => {
            let state = MatchState {
                match_id: match_id(),
                attempt: 1,
                game_type: GameType::even_odd(),
                state: "FINISHED".into(),
                waiting_for: Some("finalize_match".into()),
                player_a_id: player(5),
                player_b_id: player(6),
                joined: ByPlayer(vec![(player(5), true), (player(6), true)]),
                chosen: ByPlayer(vec![(player(5), true), (player(6), false)]),
                draw_commitment: Some(DrawCommitment([0xC0; 32])),
                game_result: Some(game_result()),
            };
            to.answer(&envelope, &state, out)
        }
        Method::RegisterToLeague => {
            let registered = RegisteredToLeague {
                status: RegistrationStatus::Accepted,
                referee_id: Some(referee()),
                league_id: Some(league()),
                reason: None,
            };
            to.answer(&envelope, &registered, out)
        }
        Method::GameInvitation => to.answer(&envelope, &join(), out),
        Method::ChooseParity => {
            let (match_id, player_id) = (match_id(), player(5));
            to.answer(&envelope, &ChooseParityResponse { match_id, player_id, parity_choice: Parity::Even }, out)
        }
        Method::MakeMove => {
            let (match_id, player_id) = (match_id(), player(5));
            to.answer(&envelope, &GameMoveResponse { match_id, player_id, played: "4".into() }, out)
        }
        Method::NotifyRound
        | Method::NotifyMatchResult
        | Method::NotifyGameError
        | Method::PostJoin
        | Method::PostChoice
        | Method::UpdateStandings
        | Method::NotifyRoundCompleted
        | Method::NotifyLeagueCompleted
        | Method::NotifyLeagueError
        | Method::Shutdown => to.answer(&envelope, &heard, out),
        Method::GetPlayerState => {
            let state = PlayerState {
                player_id: Some(player(5)),
                display_name: "Quay".into(),
                state: "CHOOSING_PARITY".into(),
                lifecycle: Some("ACTIVE".into()),
                league_id: Some(league()),
                current_round: Some(RoundId(2)),
                current_match: Some(match_id()),
                record: record(),
                matches_played: 3,
                rank: None,
                strategy: Some("random".into()),
            };
            to.answer(&envelope, &state, out)
        }
        Method::Ping => to.answer(&envelope, &Empty {}, out),
    }
    .unwrap();
}
