//! What can be typed.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use league_protocol::id::{LeagueId, MatchId, PlayerId, RefereeId};
use league_protocol::message::start_match::MatchLimits;
use league_protocol::token::Credential;
use league_store::log::LogHead;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

use crate::config::tls::TlsFiles;

/// The Even/Odd agent league: manager, referees and players in one binary.
#[derive(Debug, Parser)]
#[command(name = "league", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do; `run` when left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  league                                    play a league of four agents over HTTP
  league run --players 20 --referees 4      play a larger one
  league run --strategies random,markov     choose who plays
  league run --config league.json           play with the agents that a file names
  league manager --port 8000 --expect-players 4 --expect-referees 1
  league referee --port 8001 --referee-id REF01
  league player --port 8101 --player-id P01 --strategy markov
  league show                               the last league in a browser
  league leagues                            which leagues are kept here
  league standings                          the table of the last league
  league status --manager http://localhost:8000/mcp
  league verify                             check every draw and result of the last league
  league simulate --players 500             play in memory, without any agents
  league check http://127.0.0.1:8101/mcp    grade an agent, and say what to change
  league completions bash > ~/.local/share/bash-completion/completions/league

Exit codes: 0 done, 1 failed or something is wrong, 2 wrong arguments
LEAGUE_LOG=info (or debug) shows on stderr what goes on inside";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a whole league in this process, with real HTTP between its parts.
    Run(Run),
    /// Be the manager of a league.
    Manager(ManagerOptions),
    /// Be a referee.
    Referee(RefereeOptions),
    /// Be a player.
    Player(PlayerOptions),
    /// Show a league in a browser, read-only, with a way through its history.
    Show(Show),
    /// List the leagues that a home holds.
    Leagues(Leagues),
    /// Show the table of a league.
    Standings(Which),
    /// Show who meets whom.
    Schedule(Which),
    /// Show the matches that were played.
    Matches(Which),
    /// Tell one match: what each player sent and in what time, what was drawn, why it ended so, and what to fix.
    Match {
        /// The match, like R1M1.
        #[arg(value_parser = match_id)]
        match_id: MatchId,
        #[command(flatten)]
        which: Which,
    },
    /// Show who takes part.
    Agents(Which),
    /// Show where a league stands.
    Status(Which),
    /// Tell a running manager to start the league, or to go on.
    Start(Operate),
    /// Tell a running manager to stop after the matches that are running.
    Stop(Operate),
    /// Tell a running manager to open the registration again, as long as no match has its result.
    Reopen(Operate),
    /// Tell a running manager to take a player out: its results stand, its other matches are lost to it.
    Withdraw {
        /// The player's id, like P03, or its name.
        player: String,
        #[command(flatten)]
        options: Operate,
    },
    /// Check a league's log, draws, results and files.
    Verify(Verify),
    /// Play a whole league in memory, by the same rules and without any agents.
    Simulate(Simulate),
    /// Grade an agent of anybody's by the rules of the protocol, and say what to change.
    Check(Check),
    /// Print a script that completes these commands in a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands into a directory.
    Man {
        /// The directory; without one the page of `league` is printed.
        directory: Option<PathBuf>,
    },
}

/// How to run a league.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// How many players take part.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=2000))]
    pub(crate) players: u32,
    /// How many referees run matches.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) referees: u32,
    /// How many players come from elsewhere, beside these; the league waits for them.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2000))]
    pub(crate) guests: u32,
    /// How they play, in turns: `random,frequency`; an unknown one lists them all.
    #[arg(long, value_delimiter = ',')]
    pub(crate) strategies: Vec<String>,
    /// Makes the league repeatable, and so predictable: the same seed gives the same results.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Where everything is kept.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// The manager's port, 8000 unless configured; referees follow it, players begin 101 above it. 0 takes free ports everywhere.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The league's name; an unfinished league of the home is gone on with.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// Go on serving when the league is over.
    #[arg(long)]
    pub(crate) stay: bool,
    /// Start or contact the agents that this file names, as processes of their own; docs/orchestrator.md describes it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "referees", "guests", "strategies", "seed", "port", "stay", "figures"])]
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

impl Run {
    /// Who plays when nobody is named.
    pub(crate) fn usual(&self) -> [String; 4] {
        ["random", "frequency", "pattern", "markov"].map(String::from)
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            players: 4,
            referees: 2,
            guests: 0,
            strategies: Vec::new(),
            seed: None,
            home: PathBuf::from("SHARED"),
            port: None,
            league_id: None,
            stay: false,
            config: None,
            json: false,
            figures: None,
            tls: TlsOptions::default(),
        }
    }
}

/// Where an agent listens.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The address to listen at; 0.0.0.0 (or ::) for every address of this machine, so that other machines reach it.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port to listen at; 0 takes a free one. By default the one that is configured for the agent.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The URL at which others reach it. Found out when left out: at 0.0.0.0, by the network that leads to the manager.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    pub(crate) advertise: Option<Endpoint>,
    #[command(flatten)]
    pub(crate) tls: TlsOptions,
}

/// How HTTPS is spoken; HTTP where nothing is said.
#[derive(Debug, Default, Args)]
pub(crate) struct TlsOptions {
    /// Serve HTTPS with the certificate in this PEM file (or LEAGUE_TLS_CERT); needs --tls-key.
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file too (or LEAGUE_TLS_KEY).
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Trust the authority in this PEM file in calls, beside those of the system (or LEAGUE_CA).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl TlsOptions {
    /// The files that are named.
    pub(crate) fn files(&self) -> TlsFiles {
        let Self { tls_cert, tls_key, ca } = self;
        TlsFiles { certificate: tls_cert.clone(), key: tls_key.clone(), authority: ca.clone() }
    }
}

/// What players are given time for; the league's own values where left out.
#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// Seconds to accept an invitation.
    #[arg(long, value_name = "SECONDS", value_parser = crate::config::seconds)]
    join_timeout: Option<f64>,
    /// Seconds to make a choice.
    #[arg(long, value_name = "SECONDS", value_parser = crate::config::seconds)]
    move_timeout: Option<f64>,
    /// Seconds before a player is asked again; doubled each time.
    #[arg(long, value_name = "SECONDS", value_parser = crate::config::seconds)]
    retry_delay: Option<f64>,
}

impl LimitOptions {
    /// These limits, and `usual` where nothing is said.
    pub(crate) fn laid_over(&self, usual: MatchLimits) -> MatchLimits {
        MatchLimits {
            game_join_ack_timeout_sec: self.join_timeout.unwrap_or(usual.game_join_ack_timeout_sec),
            move_timeout_sec: self.move_timeout.unwrap_or(usual.move_timeout_sec),
            base_delay_sec: self.retry_delay.unwrap_or(usual.base_delay_sec),
            ..usual
        }
    }
}

/// How to manage a league.
#[derive(Debug, Args)]
pub(crate) struct ManagerOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) limits: LimitOptions,
    /// The league's name.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// Start as soon as so many players are registered.
    #[arg(long)]
    pub(crate) expect_players: Option<u32>,
    /// And so many referees.
    #[arg(long)]
    pub(crate) expect_referees: Option<u32>,
    /// Otherwise start after so many seconds with whoever is there.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) registration_window: u64,
    /// Where everything is kept.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// Makes the league repeatable, and so predictable.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Matches wait for collect_choices, draw_number and finalize_match, called at their referee: for teaching.
    #[arg(long)]
    pub(crate) stepped: bool,
    /// What the operator must show; without it only this machine may operate the league.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) operator_token: Option<Credential>,
    /// What referees must show before they are let in. Off loopback one is made and printed where none is given.
    #[arg(long, env = "LEAGUE_JOIN_KEY", hide_env_values = true)]
    pub(crate) join_key: Option<Credential>,
    /// Players must show the join key, too.
    #[arg(long)]
    pub(crate) players_need_key: bool,
    /// A host that agents may name although they call from elsewhere; may be given several times.
    #[arg(long)]
    pub(crate) allow_host: Vec<String>,
    /// Let in only players that keep every required rule of `league check`; they must listen before they register.
    #[arg(long)]
    pub(crate) require_check: bool,
    /// End when the league is over.
    #[arg(long)]
    pub(crate) exit_when_done: bool,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to be a referee.
#[derive(Debug, Args)]
pub(crate) struct RefereeOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where the manager listens; by default where it is configured to, http://localhost:8000/mcp.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    pub(crate) manager: Option<Endpoint>,
    /// The id it would like, like REF01.
    #[arg(long)]
    pub(crate) referee_id: Option<RefereeId>,
    /// Accepted for compatibility: a referee plays in the league of its manager.
    #[arg(long, hide = true)]
    pub(crate) league_id: Option<LeagueId>,
    /// The name that others see.
    #[arg(long)]
    pub(crate) name: Option<SmolStr>,
    /// How many matches it runs at a time; 16 unless configured.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) capacity: Option<u32>,
    /// What the operator must show; without it only this machine may start friendly matches and step through matches here.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) operator_token: Option<Credential>,
    /// Give up with an error after so many tries to reach the manager; it is waited for when left out.
    #[arg(long, value_name = "TRIES")]
    pub(crate) give_up_after: Option<NonZeroU32>,
    /// Where its configuration is, and the files of its matches.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// The league's join key, where one is needed.
    #[arg(long, env = "LEAGUE_JOIN_KEY", hide_env_values = true)]
    pub(crate) join_key: Option<Credential>,
}

/// How to be a player.
#[derive(Debug, Args)]
pub(crate) struct PlayerOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where the manager listens; by default where it is configured to, http://localhost:8000/mcp.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    pub(crate) manager: Option<Endpoint>,
    /// The id it would like, like P01.
    #[arg(long)]
    pub(crate) player_id: Option<PlayerId>,
    /// Accepted for compatibility: a player plays in the league of its manager.
    #[arg(long, hide = true)]
    pub(crate) league_id: Option<LeagueId>,
    /// How it plays, random unless configured; an unknown strategy lists them all.
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    /// The name that tables show.
    #[arg(long)]
    pub(crate) name: Option<SmolStr>,
    /// Give up with an error after so many tries to reach the manager; it is waited for when left out.
    #[arg(long, value_name = "TRIES")]
    pub(crate) give_up_after: Option<NonZeroU32>,
    /// Where its configuration is, and its history.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// The league's join key, where one is needed.
    #[arg(long, env = "LEAGUE_JOIN_KEY", hide_env_values = true)]
    pub(crate) join_key: Option<Credential>,
}

/// Which league to look at.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Where the league is kept.
    #[arg(long, default_value = "SHARED", conflicts_with = "manager")]
    pub(crate) home: PathBuf,
    /// Ask the manager that runs it instead, like http://localhost:8000/mcp.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    pub(crate) manager: Option<Endpoint>,
    /// Which league; the one that was played last when left out.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

/// Which leagues to list.
#[derive(Debug, Args)]
pub(crate) struct Leagues {
    /// Where the leagues are kept.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// As whom a manager is spoken to.
#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// The operator's token, where the manager wants one.
    #[arg(long, env = "LEAGUE_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<Credential>,
    /// Trust the authority in this PEM file, beside those of the system (or LEAGUE_CA).
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

/// Which manager to speak to.
#[derive(Debug, Args)]
pub(crate) struct Operate {
    /// Where the manager listens.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8000/mcp", value_parser = Endpoint::typed)]
    pub(crate) manager: Endpoint,
    /// Print where the league stands then as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

/// Which league to show in a browser.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Where the league is kept.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// Which league; the one that was played last when left out.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// The address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port to listen at; 0 takes a free one.
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
}

/// What to verify.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Where the league is kept.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    /// Which league; the one that was played last when left out.
    #[arg(long)]
    pub(crate) league_id: Option<LeagueId>,
    /// The head of the log as it was published, like 42:9f…: shows that the log was not rewritten as a whole.
    #[arg(long)]
    pub(crate) head: Option<LogHead>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to simulate.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// How many players take part.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=2000))]
    pub(crate) players: u32,
    /// Makes the league repeatable: the same seed gives the same results.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the standings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const CHECKS: &str = "Examples:
  league check http://127.0.0.1:8101/mcp                       a player: start it before its league, so that it is in none
  league check http://127.0.0.1:8101/mcp --json                the same for programs
  league check http://127.0.0.1:8101/mcp --junit report.xml --accept known.txt
  league check http://127.0.0.1:8001/mcp --role referee --listen 8000
                                                               a referee that registers with http://127.0.0.1:8000/mcp
  league check http://127.0.0.1:8000/mcp --role manager        a manager: a few agents stay registered with it

docs/checks.md lists all checks. A file for --accept has one of their names per line; # begins a comment.

Exit codes: 0 every required check holds, 1 one of them does not or the agent could not be checked, 2 wrong arguments";

/// What to check, and how.
#[derive(Debug, Args)]
#[command(after_help = CHECKS)]
pub(crate) struct Check {
    /// Where the agent listens, such as http://127.0.0.1:8101/mcp, or localhost:8101 for short.
    #[arg(value_parser = Endpoint::typed)]
    pub(crate) endpoint: Endpoint,
    /// What it is; found out when left out.
    #[arg(long)]
    pub(crate) role: Option<CheckedRole>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Failures that are known, one check per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) accept: Option<PathBuf>,
    /// The frozen set of checks; the newest one when left out.
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<String>,
    /// Wait no longer than this for any answer, whatever the protocol allows.
    #[arg(long, value_name = "SECONDS", value_parser = crate::config::seconds)]
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

/// What can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CheckedRole {
    /// A player.
    Player,
    /// A referee.
    Referee,
    /// A manager.
    Manager,
}

/// A match by its id, in large or small letters.
fn match_id(text: &str) -> Result<MatchId, String> {
    text.to_ascii_uppercase().parse().map_err(|error| format!("{error}; a match is called like R1M1"))
}
