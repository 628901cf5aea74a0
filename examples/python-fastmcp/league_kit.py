"""The library of this kit: the league's protocol, registration, command-line flags and messages to the console.

Your own code is in player.py. Both Python kits have the same copy of this file; only server.py differs.
PROTOCOL.md describes every message that is named here.
"""

import argparse
import base64
import hashlib
import hmac
import ipaddress
import json
import random
import secrets
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Dict, List, Optional
from urllib.parse import urlsplit

MAX_BODY = 64 * 1024
RETRY_SECONDS = 0.5
LONGEST_LINE = 500

# The messages that a player answers: the tool's name, what it is for, and the message type of the answer.
TOOLS = {
    "handle_game_invitation": ("Invites to a match.", "GAME_JOIN_ACK"),
    "choose_parity": ("Asks for even or odd.", "CHOOSE_PARITY_RESPONSE"),
    "make_move": ("Asks for a move in a game other than Even/Odd.", "GAME_MOVE_RESPONSE"),
    "notify_round": ("Announces a round.", "ROUND_ANNOUNCEMENT_ACK"),
    "notify_match_result": ("Tells how a match ended.", "GAME_OVER_ACK"),
    "notify_game_error": ("Tells what was wrong with an answer.", "GAME_ERROR_ACK"),
    "update_standings": ("Tells the standings.", "STANDINGS_UPDATE_ACK"),
    "notify_round_completed": ("Ends a round.", "ROUND_COMPLETED_ACK"),
    "notify_league_completed": ("Ends the league.", "LEAGUE_COMPLETED_ACK"),
    "notify_league_error": ("Tells what the manager complains of.", "LEAGUE_ERROR_ACK"),
    "shutdown": ("Ends the player.", "SHUTDOWN_COMMAND_ACK"),
}
MATCH_TOOLS = ("handle_game_invitation", "choose_parity", "make_move")


# --- What a strategy gets ---


@dataclass(frozen=True)
class Opponent:
    player_id: Optional[str]  # like "P02"
    name: Optional[str]  # the name that tables show; None before the first standings


@dataclass(frozen=True)
class Match:
    """A match that is over."""

    match_id: str
    game_type: str
    opponent_id: Optional[str]
    my_move: Optional[str]  # the last move, where there were several; None after a technical loss
    opponent_move: Optional[str]
    drawn_number: Optional[int]
    result: str  # "WIN", "LOSS", "DRAW" or "TECHNICAL_LOSS"
    points: int


@dataclass(frozen=True)
class History:
    """The matches of this league that are over, the oldest first."""

    all: List[Match]
    with_opponent: List[Match]


@dataclass(frozen=True)
class Game:
    game_type: str  # "even_odd", "tic_tac_toe", ...
    match_id: str
    side: Optional[str]  # "PLAYER_A" or "PLAYER_B"; PLAYER_A begins where the players take turns
    state: str  # what the referee shows: "" in Even/Odd; in Tic-Tac-Toe the nine cells from the upper left, like "X.O......"
    legal_moves: Optional[List[str]]  # None where the referee does not say
    deadline: Optional[str]  # when the answer must be there, like "2025-01-15T10:30:35Z"


# --- The player ---


class Refused(Exception):
    """A request that the player does not answer: a JSON-RPC error code and a message."""


class RunningMatch:
    """What the player knows of a match that is not over, and what it has answered."""

    def __init__(self):
        self.lock = threading.Lock()
        self.draw_nonce = secrets.token_hex(16)  # our part of the random number: the referee alone cannot choose it
        self.opponent_id = None
        self.side = None
        self.moves: Dict[str, str] = {}  # by the state in which they were made


class Player:
    """Answers the league's messages. `answer` may be called from several threads at once."""

    def __init__(self, choose, games, name):
        self.choose = choose
        self.games = games
        self.name = name
        self.registration = {}  # the manager's answer: player_id, auth_token, league_id
        self.running: Dict[str, RunningMatch] = {}
        self.finished: Dict[str, Match] = {}
        self.standings = []  # rows of LEAGUE_STANDINGS_UPDATE: rank, player_id, display_name, points, ...
        self.technical_losses = {}  # match_id: what went wrong
        self.league_over = threading.Event()

    def answer(self, tool, message):
        """Returns the answer to a message of the league, or raises Refused."""
        if tool not in TOOLS:
            raise Refused(-32601, f"no such method: {tool}")
        if not isinstance(message, dict) or message.get("protocol") not in (None, "league.v2"):
            raise Refused(-32602, "E018: this player speaks league.v2")
        if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")):
            raise Refused(-32602, "E021: send the time in UTC")
        if tool not in MATCH_TOOLS:
            self.notice(tool, message)
            return self.reply(tool, message, status="ACKNOWLEDGED")
        match_id = message.get("match_id")
        if not isinstance(match_id, str):
            raise Refused(-32602, "E003: match_id is missing")
        match = self.running.setdefault(self.match_key(message), RunningMatch())
        fields = {"match_id": match_id, **self.match_pass(match_id)}
        if tool == "handle_game_invitation":
            match.opponent_id, match.side = message.get("opponent_id"), message.get("role_in_match")
            accept = message.get("game_type", "even_odd") in self.games
            return self.reply(tool, message, **fields, accept=accept, arrival_timestamp=now(), draw_nonce=match.draw_nonce)
        move = self.move(match, message, match_id)
        if tool == "choose_parity":
            return self.reply(tool, message, **fields, parity_choice=move, choice=move)
        return self.reply(tool, message, **fields, move=move)

    def reply(self, tool, message, **fields):
        player_id = self.registration.get("player_id") or message.get("player_id") or "P01"
        _, message_type = TOOLS[tool]
        return envelope(message_type, player_id, message.get("conversation_id"), player_id=player_id, **fields)

    def match_key(self, message):
        return f"{message.get('league_id')} {message.get('match_id')}"

    def match_pass(self, match_id):
        """Proves to the referee that this is the registered player. The token itself goes to the manager only."""
        token, league = self.registration.get("auth_token"), self.registration.get("league_id")
        if not token or not league:
            return {}
        fields = [b"player", league.encode(), match_id.encode()]
        sealed = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
        proof = hmac.digest(hashlib.sha256(token.encode()).digest(), sealed, "sha256")
        return {"auth_token": "pass-" + base64.urlsafe_b64encode(proof).decode().rstrip("=")}

    def move(self, match, message, match_id):
        """Asks the strategy. A referee that asks twice for the same move gets the same answer twice."""
        context = message.get("context") or {}
        opponent_id = context.get("opponent_id") or match.opponent_id
        game_type = message.get("game_type") or "even_odd"
        state = str(context.get("state") or "")
        rows = [row for row in self.standings if row.get("player_id") == opponent_id]
        opponent = Opponent(opponent_id, rows[0].get("display_name") if rows else None)
        finished = list(self.finished.values())
        history = History(finished, [one for one in finished if one.opponent_id == opponent_id])
        legal = ["even", "odd"] if game_type == "even_odd" else context.get("legal_moves")
        game = Game(game_type, match_id, match.side, state, legal, message.get("deadline"))
        with match.lock:
            if state not in match.moves:
                try:
                    match.moves[state] = self.choose(opponent, history, list(self.standings), game)
                except Exception as error:
                    traceback.print_exc()
                    if not legal:
                        raise Refused(-32603, "the strategy failed") from error
                    say(f"{match_id}: your strategy failed, so a random legal move is sent")
                    match.moves[state] = random.choice(legal)
            return match.moves[state]

    # --- What the league tells, and what is printed of it ---

    def notice(self, tool, message):
        if not self.registration:  # a checker tries the player before its league
            return
        if tool == "update_standings":
            self.standings = message.get("standings") or []
        elif tool == "notify_game_error":
            self.print_game_error(message)
        elif tool == "notify_match_result":
            self.match_over(message)
        elif tool == "notify_league_error":
            say(f"the manager says: {message.get('hint') or message.get('error_description')}")
        elif tool == "notify_league_completed" and not self.league_over.is_set():
            self.print_league_result(message)
        if tool in ("notify_league_completed", "shutdown"):
            self.league_over.set()

    def print_game_error(self, message):
        tries = f" (try {message['retry_count']} of {message.get('max_retries')})" if message.get("retry_count") else ""
        what = message.get("hint") or message.get("error_description") or "the referee gives no reason"
        say(f"{message.get('match_id')}{tries}: {what}")

    def match_over(self, message):
        """Keeps and prints the result of a match. It may be told twice."""
        match_id, hint, result = message.get("match_id"), message.get("hint"), message.get("result")
        match = self.running.pop(self.match_key(message), RunningMatch())
        of_this_league = message.get("league_id") in (None, self.registration.get("league_id"))
        if match_id in self.finished or not of_this_league:  # friendly matches do not count
            return
        reason = (message.get("game_result") or {}).get("reason") or ""
        self.finished[match_id] = Match(
            match_id=match_id,
            game_type=message.get("game_type") or "even_odd",
            opponent_id=match.opponent_id,
            my_move=message.get("your_choice"),
            opponent_move=message.get("opponent_choice"),
            drawn_number=message.get("drawn_number"),
            result=result,
            points=message.get("points_earned") or 0,
        )
        if hint or result == "TECHNICAL_LOSS":
            self.technical_losses[match_id] = hint or reason or "the referee gives no reason"
            say(f"{match_id}: a technical loss. {self.technical_losses[match_id]}")
        else:
            say(f"{match_id}: {result} against {match.opponent_id}, points: {message.get('points_earned')}. {reason}")

    def print_league_result(self, message):
        rows = message.get("final_standings") or []
        player_id = self.registration.get("player_id")
        mine = next((row for row in rows if row.get("player_id") == player_id), None)
        players = message.get("total_players") or len(rows)
        place = f"finished {ordinal(mine['rank'])} of {players} with {mine['points']} points" if mine else "finished"
        count = len(self.technical_losses)
        losses = {0: "no technical loss", 1: "1 technical loss: "}.get(count, f"{count} technical losses: ")
        losses += "; ".join(f"{match_id}, {what.split('; ')[0]}" for match_id, what in self.technical_losses.items())
        say(f"{player_id} {self.name} {place}; {losses}.")


def envelope(message_type, sender, conversation_id, **fields):
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": f"player:{sender}",
        "timestamp": now(),
        "conversation_id": conversation_id,
        **fields,
    }


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def ordinal(number):
    ending = "th" if 11 <= number % 100 <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def say(line):
    """Prints one line to stderr. Texts of other agents may hold control characters."""
    print("".join(c if c.isprintable() else " " for c in str(line))[:LONGEST_LINE], file=sys.stderr, flush=True)


# --- Addresses ---


def listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, dualstack_ipv6=host == "::")
    except OSError as error:
        reason = error.strerror or error
        sys.exit(f"cannot listen at {host} port {port}: {reason}. Choose another port with --port, or stop what uses it.")


def own_address(host, manager):
    """Returns the address at which other machines reach this one."""
    if host not in ("0.0.0.0", "::"):
        return host
    families = [socket.AF_INET] if host == "0.0.0.0" else [socket.AF_INET, socket.AF_INET6]
    place = urlsplit(manager)
    # The address from which this machine reaches the manager. Where the manager is on this machine, the address from which it
    # reaches any other one (no machine has 198.51.100.1). Connecting a UDP socket sends nothing.
    for target in (place.hostname, place.port or 80), ("198.51.100.1", 80):
        try:
            for family, kind, _, _, address in socket.getaddrinfo(*target, type=socket.SOCK_DGRAM):
                if family in families:
                    with socket.socket(family, kind) as probe:
                        probe.connect(address)
                        found = probe.getsockname()[0]
                    if not ipaddress.ip_address(found.split("%")[0]).is_loopback:
                        return found
        except OSError:
            continue
    return "127.0.0.1"


def contact_endpoint(options, listener):
    """Returns the URL that the player registers."""
    if options.advertise:
        return options.advertise
    host, port = own_address(options.host, options.manager), listener.getsockname()[1]
    return f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"


def url(text):
    """Completes a URL as people type it: localhost:8000 is http://localhost:8000/mcp."""
    text = text if "://" in text else f"http://{text}"
    return text if urlsplit(text).path.strip("/") else text.rstrip("/") + "/mcp"


# --- Registration ---


def register(options, games, server, endpoint):
    """Registers as soon as the manager is there, and returns its answer. Ends the program when the manager refuses."""
    player_meta = {
        "display_name": options.name,
        "version": "1.0.0",
        "game_types": games,
        "contact_endpoint": endpoint,
    }
    if server.ACCEPTS_BATCHES:
        player_meta["accepts_batches"] = True
    message = envelope("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta=player_meta)
    if options.join_key:
        message["join_key"] = options.join_key
    body = json.dumps(server.registration(message)).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(options.manager, body, headers)
    waiting = False
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            text = error.read()
        except OSError as error:
            if not waiting:
                say(f"waiting for the manager at {options.manager} ({getattr(error, 'reason', error)})")
                waiting = True
            time.sleep(RETRY_SECONDS)
            continue
        said = registration_answer(text)
        if said.get("status") == "ACCEPTED":
            return said
        if not said.get("retryable"):
            why = said.get("reason") or said.get("hint") or said.get("error_description") or "it does not say why"
            sys.exit(f"the manager at {options.manager} refused us: {why}")
        time.sleep(said.get("retry_after") or RETRY_SECONDS)


def registration_answer(text):
    """Returns the message in the manager's answer: LEAGUE_REGISTER_RESPONSE or LEAGUE_ERROR."""
    try:
        response = json.loads(text)
        error, result = response.get("error"), response.get("result") or {}
        if error:
            return error.get("data") or {"reason": error.get("message")}
        if "content" in result:  # the result of an MCP tool
            return result.get("structuredContent") or json.loads(result["content"][0]["text"])
        return result
    except (ValueError, AttributeError, LookupError):
        return {"reason": "its answer is no message of the league; is this the address of a manager?"}


# --- The program ---


def arguments(server, name, port):
    parser = argparse.ArgumentParser(description="A player for the agent league.")
    parser.add_argument("--manager", type=url, default="http://localhost:8000/mcp", help="where the manager listens")
    parser.add_argument("--name", default=name, help="the name that tables show")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 for every address of this machine")
    parser.add_argument("--port", type=int, default=port, help="the port to listen at; 0 takes a free one")
    parser.add_argument("--advertise", type=url, metavar="URL", help="where others reach the player; found out when left out")
    parser.add_argument("--join-key", help="the league's join key, where players need one")
    server.add_arguments(parser)
    return parser.parse_args()


def play(choose, server, *, name, port, games=("even_odd", "tic_tac_toe")):
    """Starts a player with the strategy `choose`, and returns when its league is over."""
    options = arguments(server, name, port)
    player = Player(choose, list(games), options.name)
    listener = listen(options.host, options.port)
    threading.Thread(target=server.serve, args=(listener, player, options), daemon=True).start()
    endpoint = contact_endpoint(options, listener)
    try:
        player.registration = register(options, player.games, server, endpoint)
        say(f"{player.registration['player_id']} is {options.name} at {endpoint}")
        player.league_over.wait()
        time.sleep(0.5)  # the last answer is still on its way
    except KeyboardInterrupt:
        sys.exit(130)
