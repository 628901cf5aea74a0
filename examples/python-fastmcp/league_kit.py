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
from collections import deque
from dataclasses import dataclass
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit

MAX_BODY = 64 * 1024
RETRY_SECONDS = 0.5
LONGEST_LINE = 500
MATCHES_KEPT = 64  # the last attempts at matches that the player remembers
MOVES_KEPT = 512  # of a game
MOST_GAMES = 1000  # of a match
GAMES = (
    "even_odd",
    "tic_tac_toe",
    "connect_four",
    "rock_paper_scissors",
    "prisoners_dilemma",
    "kuhn_poker",
    "leduc_poker",
    "colonel_blotto",
)
PASS_SCHEME = "hmac-sha256"  # a manager that says so has its referees show passes

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
    "confirm_match": ("Asks what the player saw of a match.", "MATCH_INQUIRY_RESPONSE"),
    "prove_identity": ("Asks for a proof that this is the registered player.", "IDENTITY_PROOF"),
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
    games: List[Dict[str, Any]]  # the games of a match of several games, as in `Game.finished_games`


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
    number: int  # the game of this match, from 1
    rules: str  # in Markdown; "" in Even/Odd
    state: str  # what the referee shows: "" in Even/Odd; in Tic-Tac-Toe the nine cells from the upper left, like "X.O......"
    view: Dict[str, Any]  # the same by name, like {"card": "K", "pot": 2}; empty where the game has no names for it
    legal_moves: Optional[List[str]]  # None where the referee does not say
    finished_games: List[Dict[str, Any]]  # the games of this match that are over: "your_moves", "opponent_moves", "your_score", ...
    deadline: Optional[str]  # when the answer must be there, like "2025-01-15T10:30:35Z"


# --- The player ---


class Refused(Exception):
    """A request that the player does not answer: a JSON-RPC error code and a message."""


class Attempt:
    """What the player knows of an attempt at a match, and what it has answered."""

    def __init__(self, name, number):
        self.name = name
        self.number = number  # from 1; None where the referee does not say
        self.lock = threading.Lock()
        self.draw_nonce = secrets.token_hex(16)  # our part of the random number: the referee alone cannot choose it
        self.opponent_id = None
        self.side = None
        self.joined = False
        self.asked = 0  # the last of its moves that the referee asked for
        self.game = 1  # the game that is being played
        self.moved_before = 0  # how many moves it made in earlier games
        self.finished_games: Dict[int, Dict[str, Any]] = {}  # by their number
        self.moves: Dict[tuple, str] = {}  # of this game, by the turn and the digest of the state in which they were made
        self.signed_move = None  # the last one, as the manager takes it: the fields of MOVE_DEPOSIT
        self.deposited = set()  # the signatures that were sent to the manager
        self.revealed = False  # whether the player has seen a move of its opponent, or the result

    def moved(self):
        return self.moved_before + len(self.moves)

    def with_finished_games(self, message):
        """Keeps the games that the message says are over, and returns all of them in order."""
        for game in message.get("finished_games") or []:
            if isinstance(game, dict) and whole_number(game.get("game_number")) in range(1, MOST_GAMES + 1):
                self.finished_games[game["game_number"]] = game
        return [game for _, game in sorted(self.finished_games.items())]


class Player:
    """Answers the league's messages. `answer` may be called from several threads at once."""

    def __init__(self, choose, games, name):
        self.choose = choose
        self.games = games
        self.name = name
        self.registration = {}  # the manager's answer: player_id, auth_token, league_id
        self.lock = threading.Lock()
        self.attempts = deque(maxlen=MATCHES_KEPT)  # with referees whom the manager appointed
        self.other_attempts = deque(maxlen=MATCHES_KEPT)  # with every other sender: a checker, friendly matches
        self.finished: Dict[str, Match] = {}
        self.standings = []  # rows of LEAGUE_STANDINGS_UPDATE: rank, player_id, display_name, points, ...
        self.technical_losses = {}  # match_id: what went wrong
        self.league_over = threading.Event()
        self.send = lambda tool, message: None  # sends a message to the manager

    def answer(self, tool, message):
        """Returns the answer to a message of the league, or raises Refused."""
        if tool not in TOOLS:
            raise Refused(-32601, f"no such method: {tool}")
        if not isinstance(message, dict) or message.get("protocol") not in (None, "league.v2"):
            raise Refused(-32602, "E018: this player speaks league.v2")
        if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")):
            raise Refused(-32602, "E021: send the time in UTC")
        if tool == "confirm_match":
            return self.reply(tool, message, **self.account(message))
        if tool == "prove_identity":
            return self.reply(tool, message, proof=self.identity_proof(message))
        if tool not in MATCH_TOOLS:
            self.notice(tool, message)
            return self.reply(tool, message, status="ACKNOWLEDGED")
        match_id = message.get("match_id")
        if not isinstance(match_id, str):
            raise Refused(-32602, "E003: match_id is missing")
        appointed = self.is_appointed(message)
        match = self.attempt(message, appointed, begin=True)
        fields = {"match_id": match_id}
        if appointed:
            fields.update(self.match_pass(match_id))
        if tool == "handle_game_invitation":
            match.opponent_id, match.side = message.get("opponent_id"), message.get("role_in_match")
            match.joined = accept = message.get("game_type", "even_odd") in self.games
            fields.update(accept=accept, arrival_timestamp=now(), draw_nonce=match.draw_nonce)
            if appointed and accept:
                fields.update(self.signed("join", message, referee_id(message), commitment(message), match.draw_nonce))
            return self.reply(tool, message, **fields)
        state = "" if tool == "choose_parity" else str((message.get("context") or {}).get("state") or "")
        move, again = self.move(match, message, match_id, state)
        fields.update({"parity_choice": move, "choice": move} if tool == "choose_parity" else {"move": move})
        if appointed:
            fields.update(self.signed_move(match, message, state, move))
            if again:
                self.deposit(match)
        return self.reply(tool, message, **fields)

    def reply(self, tool, message, **fields):
        player_id = self.registration.get("player_id") or message.get("player_id") or "P01"
        _, message_type = TOOLS[tool]
        return envelope(message_type, player_id, message.get("conversation_id"), player_id=player_id, **fields)

    # --- The attempts at matches ---

    def attempt(self, message, appointed, begin=False):
        """Returns what is known of the attempt that a message is about: of the last one, where the message does not say."""
        name = (message.get("league_id") or self.registration.get("league_id"), message.get("match_id"))
        number = whole_number(message.get("attempt"))
        attempts = self.attempts if appointed else self.other_attempts
        with self.lock:
            for attempt in reversed(attempts):
                if attempt.name == name and (number is None or attempt.number in (None, number)):
                    attempt.number = attempt.number or number
                    return attempt
            if begin:
                attempts.append(Attempt(name, number))
            return attempts[-1] if begin else None

    def account(self, message):
        """Tells the manager what the player saw of an attempt: a referee may say that the player was silent."""
        if not self.shows_pass(message, "manager"):
            raise Refused(-32602, "E012: only the manager may ask this")
        match = self.attempt(message, appointed=True)
        if not match:
            return {"called": False, "joined": False, "asked": 0, "moves": 0, "revealed": False}
        seen = {"joined": match.joined, "asked": match.asked, "moves": match.moved(), "revealed": match.revealed}
        return {"called": True, **seen}

    # --- Proofs: whose answer it is, without showing the token, which goes to the manager only ---

    def shows_pass(self, message, role, *about):
        """Whether a message has the pass that the manager made for it. True in a league without passes."""
        token, league = self.registration.get("auth_token"), self.registration.get("league_id")
        if not token or not league or self.registration.get("pass_scheme") != PASS_SCHEME:
            return True
        expected = make_pass(token, role, league, *about)
        return hmac.compare_digest(str(message.get("auth_token")).encode(), expected.encode())

    def is_appointed(self, message):
        """Whether the manager appointed this referee for this match. Every other sender gets an answer too, but nothing that counts:
        no pass, no signature, and another nonce and maybe another move than the referee."""
        of_this_league = message.get("league_id") in (None, self.registration.get("league_id"))
        return of_this_league and self.shows_pass(message, "referee", str(message.get("match_id")), referee_id(message) or "")

    def match_pass(self, match_id):
        """Proves to the referee that this is the registered player."""
        token, league = self.registration.get("auth_token"), self.registration.get("league_id")
        return {"auth_token": make_pass(token, "player", league, match_id)} if token and league else {}

    def signed(self, kind, message, *fields):
        """Signs an answer for the manager, so that the referee cannot report another one.
        Signs nothing where something is missing: a referee of other make says no attempt, and some managers give no token."""
        token, league = self.registration.get("auth_token"), self.registration.get("league_id")
        fields = [kind, league, message.get("match_id"), whole_number(message.get("attempt")), *fields]
        if not token or None in fields:
            return {}
        return {"signature": seal(token, *fields).hex()}

    def signed_move(self, match, message, state, move):
        """Signs a move together with the state that it answers, and keeps it for the manager."""
        numbers = {name: whole_number(message.get(name)) for name in ("attempt", "game_number", "turn")}
        view = hashlib.sha256(state.encode()).digest()
        signed = self.signed("move", message, numbers["game_number"], numbers["turn"], view, str(move))
        if signed:
            about = {"match_id": message["match_id"], **numbers, "view_sha256": view.hex(), "move": str(move)}
            match.signed_move = {**about, **signed}
            # PLAYER_A begins where the players take turns, so it has seen nothing in its first turn.
            is_first = numbers["game_number"] == numbers["turn"] == 1
            match.revealed = match.revealed or not is_first or (state != "" and match.side != "PLAYER_A")
        return signed

    def deposit(self, match):
        """Gives the manager a signed move that the referee asks for again: it may say that the player was silent.
        In the background and once, because the referee waits; a manager that does not know the call does no harm."""
        move = match.signed_move
        if not move or move["signature"] in match.deposited:
            return
        match.deposited.add(move["signature"])
        sender = {name: self.registration.get(name) for name in ("player_id", "league_id", "auth_token")}
        message = envelope("MOVE_DEPOSIT", sender["player_id"], f"deposit-{move['match_id']}", **sender, **move)
        threading.Thread(target=self.try_to_send, args=("deposit_move", message), daemon=True).start()

    def try_to_send(self, tool, message):
        try:
            self.send(tool, message)
        except Exception:  # the match goes on without
            pass

    def identity_proof(self, message):
        """Proves that this player still holds its token, so that no other agent can register in its place."""
        token, nonce = self.registration.get("auth_token"), message.get("nonce")
        if not token:
            raise Refused(-32602, "E005: this player is in no league")
        if not isinstance(nonce, str):
            raise Refused(-32602, "E003: nonce is missing")
        return seal(token, "identity", nonce).hex()

    # --- The strategy ---

    def move(self, match, message, match_id, state):
        """Returns the strategy's move, and whether it was asked for before: then it is the same move again."""
        context = message.get("context") or {}
        opponent_id = context.get("opponent_id") or match.opponent_id
        game_type = message.get("game_type") or "even_odd"
        rows = [row for row in self.standings if row.get("player_id") == opponent_id]
        opponent = Opponent(opponent_id, rows[0].get("display_name") if rows else None)
        finished = list(self.finished.values())
        history = History(finished, [one for one in finished if one.opponent_id == opponent_id])
        legal = ["even", "odd"] if game_type == "even_odd" else context.get("legal_moves")
        number = whole_number(message.get("game_number")) or 1
        rules, view = context.get("rules") or "", context.get("view") or {}
        games = match.with_finished_games(message)
        game = Game(game_type, match_id, match.side, number, rules, state, view, legal, games, message.get("deadline"))
        turn = (number, whole_number(message.get("turn")), hashlib.sha256(state.encode()).digest())
        with match.lock:
            if number < match.game:
                raise Refused(-32602, f"E010: game {number} of this match is over")
            if number > match.game:
                match.game, match.moved_before, match.moves = number, match.moved(), {}
            match.asked = max(match.asked, match.moved_before + (turn[1] or 0))
            if turn in match.moves:
                return match.moves[turn], True
            if len(match.moves) >= MOVES_KEPT:
                raise Refused(-32602, "E010: this game has too many moves")
            try:
                match.moves[turn] = self.choose(opponent, history, list(self.standings), game)
            except Exception as error:
                traceback.print_exc()
                if not legal:
                    raise Refused(-32603, "the strategy failed") from error
                say(f"{match_id}: your strategy failed, so a random legal move is sent")
                match.moves[turn] = random.choice(legal)
            return match.moves[turn], False

    # --- What the league tells, and what is printed of it ---

    def notice(self, tool, message):
        if not self.registration:  # a checker tries the player before its league
            return
        if tool == "update_standings":
            self.standings = message.get("standings") or []
        elif tool == "notify_game_error":
            self.game_error(message)
        elif tool == "notify_match_result":
            self.match_over(message)
        elif tool == "notify_league_error":
            say(f"the manager says: {message.get('hint') or message.get('error_description')}")
        elif tool == "notify_league_completed" and not self.league_over.is_set():
            self.print_league_result(message)
        if tool in ("notify_league_completed", "shutdown"):
            self.league_over.set()

    def game_error(self, message):
        """Prints what the referee says. If it says that the player is late (E001), the manager gets the move."""
        tries = f" (try {message['retry_count']} of {message.get('max_retries')})" if message.get("retry_count") else ""
        what = message.get("hint") or message.get("error_description") or "the referee gives no reason"
        say(f"{message.get('match_id')}{tries}: {what}")
        if message.get("error_code") == "E001" and self.is_appointed(message):
            match = self.attempt(message, appointed=True)
            if match:
                self.deposit(match)

    def match_over(self, message):
        """Keeps and prints the result of a match. It may be told twice."""
        match_id, hint, result = message.get("match_id"), message.get("hint"), message.get("result")
        appointed = self.is_appointed(message)
        match = self.attempt(message, appointed)
        if match and appointed:  # it stays, because the manager may ask for it
            match.revealed = True
        elif match:
            match.name = None  # forgotten: the next friendly match may have the same name
        opponent_id = match.opponent_id if match else None
        of_this_league = message.get("league_id") in (None, self.registration.get("league_id"))
        if match_id in self.finished or not of_this_league:  # friendly matches do not count
            return
        reason = (message.get("game_result") or {}).get("reason") or ""
        self.finished[match_id] = Match(
            match_id=match_id,
            game_type=message.get("game_type") or "even_odd",
            opponent_id=opponent_id,
            my_move=message.get("your_choice"),
            opponent_move=message.get("opponent_choice"),
            drawn_number=message.get("drawn_number"),
            result=result,
            points=message.get("points_earned") or 0,
            games=match.with_finished_games(message) if match else [],
        )
        if hint or result == "TECHNICAL_LOSS":
            self.technical_losses[match_id] = hint or reason or "the referee gives no reason"
            say(f"{match_id}: a technical loss. {self.technical_losses[match_id]}")
        else:
            say(f"{match_id}: {result} against {opponent_id}, points: {message.get('points_earned')}. {reason}")

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


def referee_id(message):
    """Returns the id of the referee that sent the message: REF01 of referee:REF01."""
    role, _, name = str(message.get("sender")).partition(":")
    return name if role == "referee" and name else None


def commitment(message):
    """Returns the bytes of `draw_commitment`, by which the referee is bound to its part of the random number."""
    try:
        given = bytes.fromhex(message.get("draw_commitment") or "")
    except (TypeError, ValueError):
        return None
    return given if len(given) in (0, 32) else None


def whole_number(value):
    return value if type(value) is int and 0 <= value < 2**32 else None


def seal(token, *fields):
    """HMAC-SHA-256 under the token's SHA-256. Each field has its length before it, so that none can pass for a part of
    another. A number is four bytes, the highest first."""
    sealed = b""
    for field in fields:
        field = field.to_bytes(4, "big") if isinstance(field, int) else field.encode() if isinstance(field, str) else field
        sealed += len(field).to_bytes(4, "big") + field
    return hmac.digest(hashlib.sha256(token.encode()).digest(), sealed, "sha256")


def make_pass(token, *fields):
    return "pass-" + base64.urlsafe_b64encode(seal(token, *fields)).decode().rstrip("=")


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
        "signs_moves": True,
    }
    if server.ACCEPTS_BATCHES:
        player_meta["accepts_batches"] = True
    message = envelope("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta=player_meta)
    if options.join_key:
        message["join_key"] = options.join_key
    waiting = False
    while True:
        try:
            text = post(options.manager, server.request("register_player", message))
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


def post(manager, request):
    """Returns the text of the manager's answer, or raises OSError where nothing answers."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(manager, json.dumps(request).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        return error.read()


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
    parser.add_argument("--game", help="the game of the league, where it is not one of those that the kit names")
    parser.add_argument("--join-key", help="the league's join key, where players need one")
    server.add_arguments(parser)
    return parser.parse_args()


def play(choose, server, *, name, port, games=GAMES):
    """Starts a player with the strategy `choose`, and returns when its league is over."""
    options = arguments(server, name, port)
    games = dict.fromkeys([*games, *([options.game] if options.game else [])])
    player = Player(choose, list(games), options.name)
    player.send = lambda tool, message: post(options.manager, server.request(tool, message))
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
