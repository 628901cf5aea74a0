//! The command line.

mod agent_options;
#[cfg(test)]
mod deployed;
mod serve_options;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use league_core::rules::registry::game_named;
use league_core::season::format::KnownFormat;
use league_protocol::id::{GameType, LeagueId, MatchId};
use league_protocol::message::operate::{DisputeDecision, KeyRole};
use league_protocol::token::Credential;
use league_store::log::LogHead;
use league_wire::endpoint::Endpoint;

use crate::config::seconds_flag;
use crate::copy::Copy;
use crate::store::StoreOption;

pub(crate) use agent_options::{ManagerOptions, Place, PlayerOptions, RefereeOptions, SecretOptions, TlsOptions};
pub(crate) use serve_options::{Create, ServeOptions};

/// The Even/Odd agent league: manager, referees and players in one binary.
#[derive(Debug, Parser)]
#[command(name = "league", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The command; `run` if left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  league                                    play a league of four agents over HTTP
  league run --players 20 --referees 4      play a larger one
  league run --strategies random,markov     choose the players' strategies
  league run --game tic_tac_toe             play another game
  league run --format swiss:rounds=5        pair players with similar scores
  league run --config league.json           play with the agents that a file names
  league manager --port 8000 --expect-players 4 --expect-referees 1
  league serve --port 8000 --store postgres://user@host/database
  league create spring --expect-players 4 --expect-referees 1
  league referee --port 8001 --referee-id REF01
  league player --port 8101 --player-id P01 --strategy markov
  league show                               show the last league in a browser
  league leagues                            list the leagues in this home
  league standings                          print the table of the last league
  league status --manager http://localhost:8000/mcp
  league verify                             check every draw and result of the last league
  league export --sqlite league.sqlite      write the last league as SQL tables
  league simulate --players 500             play in memory, without agents
  league check http://127.0.0.1:8101/mcp    grade an agent and say what to change
  league completions bash > ~/.local/share/bash-completion/completions/league

Exit codes: 0 done, 1 failed or something is wrong, 2 wrong arguments, 3 files are out of date (verify)
LEAGUE_LOG=info (or debug) shows internal events on stderr";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a whole league in this process, with real HTTP between its agents.
    Run(Run),
    /// Run the manager of a league.
    Manager(ManagerOptions),
    /// Run the managers of any number of leagues in one process. Several such processes share the leagues of one --store.
    Serve(ServeOptions),
    /// Tell `league serve` to open a new league.
    Create(Create),
    /// Run a referee.
    Referee(RefereeOptions),
    /// Run a player.
    Player(PlayerOptions),
    /// Show a league and its history in a browser, read-only.
    Show(Show),
    /// List the leagues in a home.
    Leagues(Leagues),
    /// Show the table of a league.
    Standings(Which),
    /// Show who meets whom.
    Schedule(Which),
    /// Show the matches that were played.
    Matches(Which),
    /// Show one match: what each player sent and when, what was drawn, why it ended so, and what to fix.
    Match {
        /// The match, like R1M1.
        #[arg(value_parser = match_id)]
        match_id: MatchId,
        #[command(flatten)]
        which: Which,
    },
    /// Show the registered agents.
    Agents(Which),
    /// Show the state of a league.
    Status(Which),
    /// Tell a running manager to start the league, or to continue it.
    Start(Operate),
    /// Tell a running manager to stop after the running matches.
    Stop(Operate),
    /// Tell a running manager to reopen the registration, as long as no match has a result.
    Reopen(Operate),
    /// Tell a running manager to withdraw a player or a referee. The results of a player stand, and it loses its other
    /// matches; other referees play the matches of a referee.
    Withdraw {
        /// The id, like P03 or REF02, or the name of a player.
        agent: String,
        #[command(flatten)]
        options: Operate,
    },
    /// Show the alerts: matches whose referee may have cheated.
    Alerts(Which),
    /// Tell a running manager how you decide about the alerts of a match.
    Resolve {
        /// The match, like R1M1.
        #[arg(value_parser = match_id)]
        match_id: MatchId,
        /// uphold: the referee is at fault, and another one plays a match that waits. reject: the referee is not at fault, and
        /// the match counts as reported; without a report it is played again.
        #[arg(value_parser = decision)]
        decision: DisputeDecision,
        #[command(flatten)]
        options: Operate,
    },
    /// Tell a running manager to forget what was learned about a player's dialect: the next calls to it are canonical.
    ForgetDialect {
        /// The player's id, like P03, or its name.
        player: String,
        #[command(flatten)]
        options: Operate,
    },
    /// Tell a running manager to replace a key that agents show to register.
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Check a league's log, draws, results and files.
    ///
    /// Names each file that differs from the log, its field and both values. Exit code 0: all agree. 1: the log is damaged, or a file
    /// was changed, damaged or deleted. 3: files show an earlier state of the log.
    Verify(Verify),
    /// Write a league as SQL tables to a new file: agents, rounds, matches, results, standings, events.
    Export(Export),
    /// Copy the log of a league from one home or PostgreSQL server to another.
    Copy(Copy),
    /// Play a whole league in memory, by the same rules and without agents.
    Simulate(Simulate),
    /// Grade any agent by the rules of the protocol, and say what to change.
    Check(Check),
    /// Print a script that completes these commands in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands into a directory.
    Man {
        /// The directory; without one the page of `league` is printed.
        directory: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a new key and print it once. Agents that are registered stay registered.
    Rotate {
        /// Whose key: that of referees or that of players.
        #[arg(long, value_parser = key_role)]
        role: KeyRole,
        #[command(flatten)]
        options: Operate,
    },
}

fn decision(text: &str) -> Result<DisputeDecision, String> {
    match text {
        "uphold" => Ok(DisputeDecision::Uphold),
        "reject" => Ok(DisputeDecision::Reject),
        other => Err(format!("{other:?} is no decision; say uphold or reject")),
    }
}

/// At most a minute, so that agents do not take a pause for the end of the league.
fn pace(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let span = match (number.parse(), unit) {
        (Ok(number), "s") => Some(Duration::from_secs(number)),
        (Ok(number), "ms") => Some(Duration::from_millis(number)),
        (Ok(_) | Err(_), _) => None,
    };
    span.filter(|span| *span <= Duration::from_secs(60))
        .ok_or_else(|| String::from("expected a time up to 60s, such as 1s or 500ms"))
}

fn key_role(text: &str) -> Result<KeyRole, String> {
    match text {
        "referee" => Ok(KeyRole::Referee),
        "player" => Ok(KeyRole::Player),
        _ => Err(String::from("expected referee or player")),
    }
}

#[derive(Debug, Parser)]
pub(crate) struct Run {
    /// The game, even_odd unless configured; an unknown one lists them all.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    /// How players are paired: round_robin, swiss or knockout, with parameters as in swiss:rounds=7. docs/formats.md has them all.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KnownFormat>,
    /// How many games a match has, with the sides swapped in turn; 1 unless configured.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) games_per_match: Option<u32>,
    /// How many players take part.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=2000))]
    pub(crate) players: u32,
    /// How many referees run matches.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) referees: u32,
    /// How many further players you start yourself; the league waits for them.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2000))]
    pub(crate) guests: u32,
    /// The players' strategies, assigned in turn: `random,frequency`; an unknown one lists them all.
    #[arg(long, value_delimiter = ',')]
    pub(crate) strategies: Vec<String>,
    /// Make the league repeatable, and so predictable: the same seed gives the same results.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The directory of the league's data.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreOption,
    /// The manager's port, 8000 unless configured; referees follow it, players begin 101 above it. 0 takes free ports everywhere.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The league's id; an unfinished league of the home is continued.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// Keep serving when the league is over.
    #[arg(long)]
    pub(crate) stay: bool,
    /// Begin the matches one after the other, with this pause before each, so that a fast league can be watched: 1s or 500ms.
    #[arg(long, value_name = "TIME", value_parser = pace)]
    pub(crate) pace: Option<Duration>,
    /// Start or contact the agents that this file names, as processes of their own; see docs/orchestrator.md.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "referees", "guests", "game", "format", "games_per_match", "strategies", "seed", "port", "stay", "pace", "figures", "store"])]
    pub(crate) config: Option<PathBuf>,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to this file what the league cost: calls, times, bytes, processor time and memory, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsOptions,
}

/// A league in a home.
#[derive(Debug, Args)]
pub(crate) struct LeagueChoice {
    /// The directory of the league's data.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreOption,
    /// The league; by default the configured one, or the one that was played last.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
}

/// The league to show.
#[derive(Debug, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    pub(crate) league: LeagueChoice,
    /// Ask the manager that runs it instead, like http://localhost:8000/mcp; several URLs for a manager with standbys.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed, value_delimiter = ',', conflicts_with = "home")]
    pub(crate) manager: Vec<Endpoint>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

#[derive(Debug, Args)]
pub(crate) struct Leagues {
    /// The directory of the leagues' data.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreOption,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the operator calls a manager.
#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// The operator's token, if the manager wants one.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<Credential>,
    /// Trust the authority in this PEM file, beside those of the system (or LEAGUE_CA).
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Operate {
    /// The manager's endpoint; several URLs for a manager with standbys.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8000/mcp", value_parser = Endpoint::typed, value_delimiter = ',')]
    pub(crate) manager: Vec<Endpoint>,
    /// Print the league's new state as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) league: LeagueChoice,
    /// The address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port to listen at; 0 takes a free one.
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) league: LeagueChoice,
    /// The published head of the log, like 42:9f…: shows that the log was not rewritten as a whole.
    #[arg(long)]
    pub(crate) head: Option<LogHead>,
    /// Write stale and missing files again from the log; the manager must not run. Files that were changed stay as they are.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) league: LeagueChoice,
    /// The SQLite file to write; it must not exist.
    #[arg(long, value_name = "FILE")]
    pub(crate) sqlite: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// The game, even_odd if not given; an unknown one lists them all.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    /// How players are paired: round_robin, swiss or knockout, with parameters as in swiss:rounds=7. docs/formats.md has them all.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KnownFormat>,
    /// How many games a match has, with the sides swapped in turn; 1 unless configured.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) games_per_match: Option<u32>,
    /// How many players take part.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(crate) players: u32,
    /// Make the league repeatable: the same seed gives the same results.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const CHECKS: &str = "Examples:
  league check http://127.0.0.1:8101/mcp                       a player: start it before its manager, so that it is in no league
  league check http://127.0.0.1:8101/mcp --json                the same for programs
  league check http://127.0.0.1:8101/mcp --junit report.xml --accept known.txt
  league check http://127.0.0.1:8001/mcp --role referee --listen 8000
                                                               a referee that registers with http://127.0.0.1:8000/mcp
  league check http://127.0.0.1:8000/mcp --role manager        a manager: a few agents stay registered with it

docs/checks.md lists all checks. A file for --accept has one of their names per line; # begins a comment.

Exit codes: 0 every required check holds, 1 one of them does not or the agent could not be checked, 2 wrong arguments";

#[derive(Debug, Args)]
#[command(after_help = CHECKS)]
pub(crate) struct Check {
    /// The game in which to check the agent, even_odd if not given.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    /// The agent's endpoint, such as http://127.0.0.1:8101/mcp, or localhost:8101 for short.
    #[arg(value_parser = Endpoint::typed)]
    pub(crate) endpoint: Endpoint,
    /// The agent's role; found out if left out.
    #[arg(long)]
    pub(crate) role: Option<CheckedRole>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Known failures, one check per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) accept: Option<PathBuf>,
    /// The frozen set of checks; by default the newest.
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<String>,
    /// The longest wait for any answer, whatever the protocol allows.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_flag)]
    pub(crate) timeout: Option<f64>,
    /// For a referee: the port at which the checker listens as its manager.
    #[arg(long, value_name = "PORT")]
    pub(crate) listen: Option<u16>,
    /// For a referee: the address at which the checker listens.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// For a referee on another machine: the URL under which it reaches the checker.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    pub(crate) advertise: Option<Endpoint>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CheckedRole {
    Player,
    Referee,
    Manager,
}

fn match_id(text: &str) -> Result<MatchId, String> {
    text.to_ascii_uppercase().parse().map_err(|error| format!("{error}; expected an id like R1M1"))
}
