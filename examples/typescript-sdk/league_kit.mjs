// The library of this kit: the league's protocol, registration, command-line flags and messages to the console.
//
// Your own code is in the file `player`. Both JavaScript kits have the same copy of this file; only the file `server` differs.
// PROTOCOL.md describes every message that is named here.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

export const MAX_BODY = 64 * 1024;
const RETRY_MS = 500;
const PATIENCE_MS = 10_000;
const LONGEST_LINE = 500;
const MATCHES_KEPT = 64; // the last attempts at matches that the player remembers
const MOVES_KEPT = 512; // of a game
const MOST_GAMES = 1000; // of a match
const GAMES = [
  "even_odd",
  "tic_tac_toe",
  "connect_four",
  "rock_paper_scissors",
  "prisoners_dilemma",
  "kuhn_poker",
  "leduc_poker",
  "colonel_blotto",
];
const PASS_SCHEME = "hmac-sha256"; // a manager that says so has its referees show passes

/**
 * The messages that a player answers: the tool's name, what it is for, and the message type of the answer.
 * @type {Record<string, [description: string, answer: string]>}
 */
export const TOOLS = {
  handle_game_invitation: ["Invites to a match.", "GAME_JOIN_ACK"],
  choose_parity: ["Asks for even or odd.", "CHOOSE_PARITY_RESPONSE"],
  make_move: ["Asks for a move in a game other than Even/Odd.", "GAME_MOVE_RESPONSE"],
  notify_round: ["Announces a round.", "ROUND_ANNOUNCEMENT_ACK"],
  notify_match_result: ["Tells how a match ended.", "GAME_OVER_ACK"],
  notify_game_error: ["Tells what was wrong with an answer.", "GAME_ERROR_ACK"],
  update_standings: ["Tells the standings.", "STANDINGS_UPDATE_ACK"],
  notify_round_completed: ["Ends a round.", "ROUND_COMPLETED_ACK"],
  notify_league_completed: ["Ends the league.", "LEAGUE_COMPLETED_ACK"],
  notify_league_error: ["Tells what the manager complains of.", "LEAGUE_ERROR_ACK"],
  confirm_match: ["Asks what the player saw of a match.", "MATCH_INQUIRY_RESPONSE"],
  prove_identity: ["Asks for a proof that this is the registered player.", "IDENTITY_PROOF"],
  shutdown: ["Ends the player.", "SHUTDOWN_COMMAND_ACK"],
};
const MATCH_TOOLS = ["handle_game_invitation", "choose_parity", "make_move"];

// --- What a strategy gets ---

/**
 * @typedef {Record<string, any>} Message
 *
 * @typedef {object} Opponent
 * @property {string} [playerId] like "P02"
 * @property {string} [name] the name that tables show; undefined before the first standings
 *
 * @typedef {object} Match A match that is over.
 * @property {string} matchId
 * @property {string} gameType
 * @property {string} [opponentId]
 * @property {string | null} myMove the last move, where there were several; null after a technical loss
 * @property {string | null} opponentMove
 * @property {number | null} drawnNumber
 * @property {"WIN" | "LOSS" | "DRAW" | "TECHNICAL_LOSS"} result
 * @property {number} points
 * @property {Message[]} games the games of a match of several games, as in `Game.finishedGames`
 *
 * @typedef {object} History The matches of this league that are over, the oldest first.
 * @property {Match[]} all
 * @property {Match[]} withOpponent
 *
 * @typedef {object} Game
 * @property {string} gameType "even_odd", "tic_tac_toe", ...
 * @property {string} matchId
 * @property {string} [side] "PLAYER_A" or "PLAYER_B"; PLAYER_A begins where the players take turns
 * @property {number} number the game of this match, from 1
 * @property {string} rules in Markdown; "" in Even/Odd
 * @property {string} state what the referee shows: "" in Even/Odd; in Tic-Tac-Toe the nine cells from the upper left, like "X.O......"
 * @property {Message} view the same by name, like {card: "K", pot: 2}; empty where the game has no names for it
 * @property {string[] | undefined} legalMoves undefined where the referee does not say
 * @property {Message[]} finishedGames the games of this match that are over: your_moves, opponent_moves, your_score, ...
 * @property {string} [deadline] when the answer must be there, like "2025-01-15T10:30:35Z"
 *
 * @typedef {(opponent: Opponent, history: History, standings: Message[], game: Game) => any} Strategy
 */

/**
 * Returns one of `items`, each with the same chance.
 * @template Item
 * @param {Item[]} items
 */
export function randomChoice(items) {
  return items[Math.floor(Math.random() * items.length)];
}

// --- The player ---

/** A request that the player does not answer: a JSON-RPC error. */
export class Refused extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What the player knows of an attempt at a match, and what it has answered. */
class Attempt {
  drawNonce = randomBytes(16).toString("hex"); // our part of the random number: the referee alone cannot choose it
  /** @type {string | undefined} */
  opponentId;
  /** @type {string | undefined} */
  side;
  joined = false;
  asked = 0; // the last of its moves that the referee asked for
  game = 1; // the game that is being played
  movedBefore = 0; // how many moves it made in earlier games
  /** @type {Map<number, Message>} */
  finishedGames = new Map(); // by their number
  /** @type {Map<string, Promise<any>>} */
  moves = new Map(); // of this game, by the turn and the digest of the state in which they were made
  /** @type {Message | undefined} */
  signedMove; // the last one, as the manager takes it: the fields of MOVE_DEPOSIT
  /** @type {Set<string>} */
  deposited = new Set(); // the signatures that were sent to the manager
  revealed = false; // whether the player has seen a move of its opponent, or the result

  /** @param {string} name @param {number | undefined} number from 1; undefined where the referee does not say */
  constructor(name, number) {
    this.name = name;
    this.number = number;
  }

  moved() {
    return this.movedBefore + this.moves.size;
  }

  /**
   * Keeps the games that the message says are over, and returns all of them in order.
   * @param {Message} message
   */
  withFinishedGames(message) {
    for (const game of Array.isArray(message.finished_games) ? message.finished_games : []) {
      const number = wholeNumber(game?.game_number) ?? 0;
      if (number >= 1 && number <= MOST_GAMES) this.finishedGames.set(number, game);
    }
    return [...this.finishedGames].sort(([one], [other]) => one - other).map(([, game]) => game);
  }
}

/** Answers the league's messages. */
export class Player {
  /** @type {Message | undefined} */
  registration; // the manager's answer: player_id, auth_token, league_id
  /** @type {Attempt[]} */
  attempts = []; // with referees whom the manager appointed
  /** @type {Attempt[]} */
  otherAttempts = []; // with every other sender: a checker, friendly matches
  /** @type {Map<string, Match>} */
  finished = new Map();
  /** @type {Message[]} */
  standings = []; // rows of LEAGUE_STANDINGS_UPDATE: rank, player_id, display_name, points, ...
  /** @type {Map<string, string>} */
  technicalLosses = new Map(); // by match_id: what went wrong
  leagueIsOver = false;
  /** @type {(tool: string, message: Message) => Promise<any>} */
  send = async () => {}; // sends a message to the manager

  /** @param {Strategy} choose @param {string[]} games @param {string} name */
  constructor(choose, games, name) {
    this.choose = choose;
    this.games = games;
    this.name = name;
  }

  /**
   * Returns the answer to a message of the league, or throws Refused.
   * @param {string} tool
   * @param {Message} message
   * @returns {Promise<Message>}
   */
  async answer(tool, message) {
    if (!Object.hasOwn(TOOLS, tool)) throw new Refused(-32601, `no such method: ${tool}`);
    if (typeof message !== "object" || message === null || (message.protocol ?? "league.v2") !== "league.v2") {
      throw new Refused(-32602, "E018: this player speaks league.v2");
    }
    if (!/(Z|\+00:00)$/.test(message.timestamp ?? "Z")) throw new Refused(-32602, "E021: send the time in UTC");
    if (tool === "confirm_match") return this.reply(tool, message, this.account(message));
    if (tool === "prove_identity") return this.reply(tool, message, { proof: this.identityProof(message) });
    if (!MATCH_TOOLS.includes(tool)) {
      this.notice(tool, message);
      return this.reply(tool, message, { status: "ACKNOWLEDGED" });
    }
    const match_id = message.match_id;
    if (typeof match_id !== "string") throw new Refused(-32602, "E003: match_id is missing");
    const appointed = this.isAppointed(message);
    const match = this.attempt(message, appointed) ?? this.newAttempt(message, appointed);
    const fields = { match_id, ...(appointed ? this.matchPass(match_id) : {}) };
    if (tool === "handle_game_invitation") {
      match.opponentId = message.opponent_id;
      match.side = message.role_in_match;
      const accept = this.games.includes(message.game_type ?? "even_odd");
      match.joined = accept;
      const joined = { accept, arrival_timestamp: now(), draw_nonce: match.drawNonce };
      const about = [refereeId(message), commitment(message), match.drawNonce];
      const signed = appointed && accept ? this.signed("join", message, about) : {};
      return this.reply(tool, message, { ...fields, ...joined, ...signed });
    }
    const state = tool === "choose_parity" ? "" : String(message.context?.state ?? "");
    const [chosen, again] = this.move(match, message, state);
    const move = await chosen;
    const moved = tool === "choose_parity" ? { parity_choice: move, choice: move } : { move };
    const signed = appointed ? this.signedMove(match, message, state, move) : {};
    if (appointed && again) this.deposit(match);
    return this.reply(tool, message, { ...fields, ...moved, ...signed });
  }

  /** @param {string} tool @param {Message} message @param {Message} fields */
  reply(tool, message, fields) {
    const player_id = this.registration?.player_id ?? message.player_id ?? "P01";
    return envelope(TOOLS[tool][1], player_id, message.conversation_id, { player_id, ...fields });
  }

  // --- The attempts at matches ---

  /** @param {Message} message */
  matchName(message) {
    return `${message.league_id ?? this.registration?.league_id} ${message.match_id}`;
  }

  /**
   * Returns what is known of the attempt that a message is about: of the last one, where the message does not say.
   * @param {Message} message
   * @param {boolean} appointed
   */
  attempt(message, appointed) {
    const name = this.matchName(message);
    const number = wholeNumber(message.attempt);
    const isMeant = (/** @type {Attempt} */ one) => one.name === name && (number ?? one.number) === (one.number ?? number);
    const found = (appointed ? this.attempts : this.otherAttempts).findLast(isMeant);
    if (found) found.number ??= number;
    return found;
  }

  /** @param {Message} message @param {boolean} appointed */
  newAttempt(message, appointed) {
    const attempts = appointed ? this.attempts : this.otherAttempts;
    const attempt = new Attempt(this.matchName(message), wholeNumber(message.attempt));
    attempts.push(attempt);
    if (attempts.length > MATCHES_KEPT) attempts.shift();
    return attempt;
  }

  /**
   * Tells the manager what the player saw of an attempt: a referee may say that the player was silent.
   * @param {Message} message
   */
  account(message) {
    if (!this.showsPass(message, "manager")) throw new Refused(-32602, "E012: only the manager may ask this");
    const match = this.attempt(message, true);
    if (!match) return { called: false, joined: false, asked: 0, moves: 0, revealed: false };
    const { joined, asked, revealed } = match;
    return { called: true, joined, asked, moves: match.moved(), revealed };
  }

  // --- Proofs: whose answer it is, without showing the token, which goes to the manager only ---

  /**
   * Whether a message has the pass that the manager made for it. True in a league without passes.
   * @param {Message} message
   * @param {string} role
   * @param {string[]} about
   */
  showsPass(message, role, ...about) {
    const { auth_token, league_id, pass_scheme } = this.registration ?? {};
    if (!auth_token || !league_id || pass_scheme !== PASS_SCHEME) return true;
    const expected = Buffer.from(makePass(auth_token, role, league_id, ...about));
    const shown = Buffer.from(String(message.auth_token));
    return shown.length === expected.length && timingSafeEqual(shown, expected);
  }

  /**
   * Whether the manager appointed this referee for this match. Every other sender gets an answer too, but nothing that counts:
   * no pass, no signature, and another nonce and maybe another move than the referee.
   * @param {Message} message
   */
  isAppointed(message) {
    const ofThisLeague = (message.league_id ?? this.registration?.league_id) === this.registration?.league_id;
    return ofThisLeague && this.showsPass(message, "referee", String(message.match_id), refereeId(message) ?? "");
  }

  /**
   * Proves to the referee that this is the registered player.
   * @param {string} match_id
   */
  matchPass(match_id) {
    const { auth_token, league_id } = this.registration ?? {};
    return auth_token && league_id ? { auth_token: makePass(auth_token, "player", league_id, match_id) } : {};
  }

  /**
   * Signs an answer for the manager, so that the referee cannot report another one.
   * Signs nothing where something is missing: a referee of other make says no attempt, and some managers give no token.
   * @param {string} kind
   * @param {Message} message
   * @param {(Field | undefined)[]} about
   * @returns {{signature?: string}}
   */
  signed(kind, message, about) {
    const { auth_token, league_id } = this.registration ?? {};
    const fields = [kind, league_id, message.match_id, wholeNumber(message.attempt), ...about];
    if (!auth_token || fields.some((field) => field == null)) return {};
    return { signature: seal(auth_token, ...fields).toString("hex") };
  }

  /**
   * Signs a move together with the state that it answers, and keeps it for the manager.
   * @param {Attempt} match
   * @param {Message} message
   * @param {string} state
   * @param {any} chosen
   */
  signedMove(match, message, state, chosen) {
    const { match_id, attempt, game_number, turn } = message;
    const [view, move] = [sha256(state), String(chosen)];
    const signed = this.signed("move", message, [wholeNumber(game_number), wholeNumber(turn), view, move]);
    if (signed.signature) {
      match.signedMove = { match_id, attempt, game_number, turn, view_sha256: view.toString("hex"), move, ...signed };
      // PLAYER_A begins where the players take turns, so it has seen nothing in its first turn.
      match.revealed ||= Math.max(game_number, turn) > 1 || (state !== "" && match.side !== "PLAYER_A");
    }
    return signed;
  }

  /**
   * Gives the manager a signed move that the referee asks for again: it may say that the player was silent.
   * No call waits for it, and it is sent once; a manager that does not know the call does no harm.
   * @param {Attempt} match
   */
  deposit(match) {
    const move = match.signedMove;
    if (!move || match.deposited.has(move.signature)) return;
    match.deposited.add(move.signature);
    const { player_id, league_id, auth_token } = this.registration ?? {};
    const fields = { player_id, league_id, auth_token, ...move };
    const message = envelope("MOVE_DEPOSIT", player_id, `deposit-${move.match_id}`, fields);
    this.send("deposit_move", message).catch(() => {}); // the match goes on without
  }

  /**
   * Proves that this player still holds its token, so that no other agent can register in its place.
   * @param {Message} message
   */
  identityProof({ nonce }) {
    if (!this.registration?.auth_token) throw new Refused(-32602, "E005: this player is in no league");
    if (typeof nonce !== "string") throw new Refused(-32602, "E003: nonce is missing");
    return seal(this.registration.auth_token, "identity", nonce).toString("hex");
  }

  // --- The strategy ---

  /**
   * Returns the strategy's move, and whether it was asked for before: then it is the same move again.
   * @param {Attempt} match
   * @param {Message} message
   * @param {string} state
   * @returns {[Promise<any>, boolean]}
   */
  move(match, message, state) {
    const number = wholeNumber(message.game_number) ?? 1;
    if (number < match.game) throw new Refused(-32602, `E010: game ${number} of this match is over`);
    if (number > match.game) [match.game, match.movedBefore, match.moves] = [number, match.moved(), new Map()];
    const turn = [wholeNumber(message.turn), sha256(state).toString("hex")].join(" ");
    match.asked = Math.max(match.asked, match.movedBefore + (wholeNumber(message.turn) ?? 0));
    const known = match.moves.get(turn);
    if (known) return [known, true];
    if (match.moves.size >= MOVES_KEPT) throw new Refused(-32602, "E010: this game has too many moves");
    const context = message.context ?? {};
    const opponentId = context.opponent_id ?? match.opponentId;
    const gameType = message.game_type ?? "even_odd";
    const name = this.standings.find((row) => row.player_id === opponentId)?.display_name;
    const all = [...this.finished.values()];
    const history = { all, withOpponent: all.filter((one) => one.opponentId === opponentId) };
    const { match_id: matchId, deadline } = message;
    const legalMoves = gameType === "even_odd" ? ["even", "odd"] : context.legal_moves;
    const { rules = "", view = {} } = context;
    const finishedGames = match.withFinishedGames(message);
    const game = { gameType, matchId, side: match.side, number, rules, state, view, legalMoves, finishedGames, deadline };
    const chosen = this.chosen({ playerId: opponentId, name }, history, game);
    match.moves.set(turn, chosen);
    return [chosen, false];
  }

  /** @param {Opponent} opponent @param {History} history @param {Game} game */
  async chosen(opponent, history, game) {
    try {
      return await this.choose(opponent, history, [...this.standings], game);
    } catch (error) {
      console.error(error);
      if (!game.legalMoves?.length) throw new Refused(-32603, "the strategy failed");
      say(`${game.matchId}: your strategy failed, so a random legal move is sent`);
      return randomChoice(game.legalMoves);
    }
  }

  // --- What the league tells, and what is printed of it ---

  /** @param {string} tool @param {Message} message */
  notice(tool, message) {
    if (!this.registration) return; // a checker tries the player before its league
    if (tool === "update_standings") this.standings = message.standings ?? [];
    if (tool === "notify_game_error") this.gameError(message);
    if (tool === "notify_match_result") this.matchOver(message, this.registration);
    if (tool === "notify_league_error") say(`the manager says: ${message.hint ?? message.error_description}`);
    if (tool === "notify_league_completed" && !this.leagueIsOver) this.printLeagueResult(message, this.registration);
    if (tool === "notify_league_completed" || tool === "shutdown") {
      this.leagueIsOver = true;
      setTimeout(() => process.exit(), 500); // once this is answered
    }
  }

  /**
   * Prints what the referee says. If it says that the player is late (E001), the manager gets the move.
   * @param {Message} message
   */
  gameError(message) {
    const { match_id, retry_count, max_retries, hint, error_description, error_code } = message;
    const tries = retry_count ? ` (try ${retry_count} of ${max_retries})` : "";
    say(`${match_id}${tries}: ${hint ?? error_description ?? "the referee gives no reason"}`);
    const match = error_code === "E001" && this.isAppointed(message) && this.attempt(message, true);
    if (match) this.deposit(match);
  }

  /**
   * Keeps and prints the result of a match. It may be told twice.
   * @param {Message} message
   * @param {Message} registration
   */
  matchOver(message, registration) {
    const { match_id: matchId, hint, result } = message;
    const appointed = this.isAppointed(message);
    const match = this.attempt(message, appointed);
    if (match && appointed) match.revealed = true; // it stays, because the manager may ask for it
    else if (match) match.name = ""; // forgotten: the next friendly match may have the same name
    const opponentId = match?.opponentId;
    const ofThisLeague = (message.league_id ?? registration.league_id) === registration.league_id;
    if (this.finished.has(matchId) || !ofThisLeague) return; // friendly matches do not count
    const reason = message.game_result?.reason;
    this.finished.set(matchId, {
      matchId,
      gameType: message.game_type ?? "even_odd",
      opponentId,
      myMove: message.your_choice ?? null,
      opponentMove: message.opponent_choice ?? null,
      drawnNumber: message.drawn_number ?? null,
      result,
      points: message.points_earned ?? 0,
      games: match?.withFinishedGames(message) ?? [],
    });
    if (hint || result === "TECHNICAL_LOSS") {
      const what = hint ?? reason ?? "the referee gives no reason";
      this.technicalLosses.set(matchId, what);
      say(`${matchId}: a technical loss. ${what}`);
    } else {
      say(`${matchId}: ${result} against ${opponentId}, points: ${message.points_earned}. ${reason ?? ""}`);
    }
  }

  /** @param {Message} message @param {Message} registration */
  printLeagueResult(message, { player_id }) {
    const rows = message.final_standings ?? [];
    const mine = rows.find((/** @type {Message} */ row) => row.player_id === player_id);
    const players = message.total_players ?? rows.length;
    const place = mine ? `finished ${ordinal(mine.rank)} of ${players} with ${mine.points} points` : "finished";
    const reasons = [...this.technicalLosses].map(([match, what]) => `${match}, ${what.split("; ")[0]}`).join("; ");
    const count = this.technicalLosses.size;
    const losses = count === 0 ? "no technical loss" : `${count} technical ${count === 1 ? "loss" : "losses"}: ${reasons}`;
    say(`${player_id} ${this.name} ${place}; ${losses}.`);
  }
}

/**
 * Returns the id of the referee that sent the message: REF01 of referee:REF01.
 * @param {Message} message
 * @returns {string | undefined}
 */
const refereeId = (message) => /^referee:(.+)$/.exec(message.sender)?.[1];

/**
 * Returns the bytes of `draw_commitment`, by which the referee is bound to its part of the random number.
 * @param {Message} message
 */
function commitment({ draw_commitment }) {
  return /^([0-9a-f]{64})?$/i.test(draw_commitment ?? "") ? Buffer.from(draw_commitment ?? "", "hex") : undefined;
}

/** @param {any} value */
const wholeNumber = (value) => (Number.isInteger(value) && value >= 0 && value < 2 ** 32 ? Number(value) : undefined);

/** @param {string} text */
const sha256 = (text) => createHash("sha256").update(text).digest();

/**
 * HMAC-SHA-256 under the token's SHA-256. Each field has its length before it, so that none can pass for a part of
 * another. A number is four bytes, the highest first.
 * @typedef {string | number | Buffer} Field
 * @param {string} token
 * @param {Field[]} fields
 */
export function seal(token, ...fields) {
  const proof = createHmac("sha256", sha256(token));
  for (const field of fields) {
    const bytes = typeof field === "number" ? fourBytes(field) : Buffer.from(field);
    proof.update(fourBytes(bytes.length)).update(bytes);
  }
  return proof.digest();
}

/** @param {number} number */
function fourBytes(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

/** @param {string} token @param {Field[]} fields */
const makePass = (token, ...fields) => `pass-${seal(token, ...fields).toString("base64url")}`;

const now = () => new Date().toISOString().replace(/\.\d+/, "");

/** @param {string} message_type @param {string} sender @param {string} conversation_id @param {Message} fields */
function envelope(message_type, sender, conversation_id, fields) {
  return { protocol: "league.v2", message_type, sender: `player:${sender}`, timestamp: now(), conversation_id, ...fields };
}

/** @param {number} number */
function ordinal(number) {
  const teen = number % 100 >= 11 && number % 100 <= 13;
  return `${number}${(!teen && ["th", "st", "nd", "rd"][number % 10]) || "th"}`;
}

/**
 * Prints one line to stderr. Texts of other agents may hold control characters.
 * @param {string} line
 */
export function say(line) {
  console.error(line.replace(/\p{C}/gu, " ").slice(0, LONGEST_LINE));
}

/**
 * Ends the program with a sentence for its user.
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}

// --- The HTTP server, as far as both kits need it ---

/**
 * Reads the body of a POST request. Answers other methods and longer bodies itself, and returns undefined.
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 * @returns {Promise<string | undefined>}
 */
export async function readBody(request, response) {
  const refuse = (/** @type {number} */ status) => void response.writeHead(status).end();
  if (request.method !== "POST") return refuse(405);
  if (Number(request.headers["content-length"]) > MAX_BODY) return refuse(413);
  let body = "";
  for await (const piece of request.setEncoding("utf8")) {
    body += piece;
    if (body.length > MAX_BODY) return void response.destroy();
  }
  return body;
}

/** @param {Options} options @param {import("node:http").RequestListener} handler */
async function listen({ host, port }, handler) {
  const server = createServer(handler);
  server.on("error", (error) => {
    fail(`cannot listen at ${host} port ${port}: ${error.message}. Choose another port with --port, or stop what uses it.`);
  });
  server.listen(Number(port), host);
  await once(server, "listening");
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

// --- Addresses ---

/**
 * Returns the address from which this machine reaches `host`. Connecting a UDP socket sends nothing.
 * @param {string} host
 * @param {number} family
 */
async function reachedFrom(host, family) {
  const target = await lookup(host.replace(/^\[|\]$/g, ""), { family });
  const probe = createSocket(target.family === 6 ? "udp6" : "udp4");
  try {
    probe.connect(9, target.address);
    await once(probe, "connect");
    return probe.address().address;
  } finally {
    probe.close();
  }
}

/**
 * Returns the address at which other machines reach this one.
 * @param {Options} options
 */
async function ownAddress({ host, manager }) {
  if (host !== "0.0.0.0" && host !== "::") return host;
  const family = host === "0.0.0.0" ? 4 : 0;
  const found = await reachedFrom(new URL(manager).hostname, family).catch(() => undefined);
  if (found && !found.startsWith("127.") && found !== "::1") return found;
  // The manager is on this machine, or cannot be found.
  const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return others.find((one) => !one.internal && one.family === "IPv4")?.address ?? "127.0.0.1";
}

/**
 * Returns the URL that the player registers.
 * @param {Options} options
 * @param {number} port
 */
async function contactEndpoint(options, port) {
  if (options.advertise) return options.advertise;
  const host = await ownAddress(options);
  return host.includes(":") ? `http://[${host}]:${port}/mcp` : `http://${host}:${port}/mcp`;
}

/**
 * Completes a URL as people type it: localhost:8000 is http://localhost:8000/mcp.
 * @param {string} text
 */
function url(text) {
  const whole = text.includes("://") ? text : `http://${text}`;
  try {
    return new URL(whole).pathname === "/" ? whole.replace(/\/$/, "") + "/mcp" : whole;
  } catch {
    return fail(`${text} is no URL; write it like http://192.168.1.10:8000/mcp`);
  }
}

// --- Registration ---

/**
 * Registers as soon as the manager is there, and returns its answer. Ends the program when the manager refuses.
 * @param {Options} options
 * @param {string[]} games
 * @param {Server} server
 * @param {string} contact_endpoint
 * @returns {Promise<Message>}
 */
async function register(options, games, server, contact_endpoint) {
  const about = { display_name: options.name, version: "1.0.0", game_types: games, contact_endpoint, signs_moves: true };
  const player_meta = server.acceptsBatches ? { ...about, accepts_batches: true } : about;
  const fields = options.joinKey ? { player_meta, join_key: options.joinKey } : { player_meta };
  const message = envelope("LEAGUE_REGISTER_REQUEST", options.name, `register-${options.name}`, fields);
  for (let tries = 0; ; tries++) {
    let text;
    try {
      text = await post(options.manager, server.request("register_player", message));
    } catch (/** @type {any} */ error) {
      const why = error.cause?.message || error.cause?.code || error.message;
      if (tries === 0) say(`waiting for the manager at ${options.manager} (${why})`);
      await sleep(RETRY_MS);
      continue;
    }
    const said = registrationAnswer(text);
    if (said.status === "ACCEPTED") return said;
    if (!said.retryable) {
      const why = said.reason ?? said.hint ?? said.error_description ?? "it does not say why";
      fail(`the manager at ${options.manager} refused us: ${why}`);
    }
    await sleep(said.retry_after ? 1000 * said.retry_after : RETRY_MS);
  }
}

/**
 * Returns the text of the manager's answer, or throws where nothing answers.
 * @param {string} manager
 * @param {Message} request
 */
async function post(manager, request) {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const response = await fetch(manager, { method: "POST", headers, body: JSON.stringify(request), signal });
  return response.text();
}

/**
 * Returns the message in the manager's answer: LEAGUE_REGISTER_RESPONSE or LEAGUE_ERROR.
 * @param {string} text
 * @returns {Message}
 */
function registrationAnswer(text) {
  try {
    const { error, result } = JSON.parse(text);
    if (error) return error.data ?? { reason: error.message };
    if (result.content) return result.structuredContent ?? JSON.parse(result.content[0].text); // the result of an MCP tool
    return result;
  } catch {
    return { reason: "its answer is no message of the league; is this the address of a manager?" };
  }
}

// --- The program ---

/**
 * @typedef {{manager: string, name: string, host: string, port: string, advertise?: string, game?: string, joinKey?: string, stateless: boolean}} Options
 *
 * @typedef {object} Server What the file `server` is: it brings the messages to the player.
 * @property {boolean} acceptsBatches whether one POST may carry a JSON array of requests
 * @property {boolean} hasSessions whether it takes --stateless
 * @property {(tool: string, message: Message) => Message} request a request to the manager
 * @property {(player: Player, options: Options) => import("node:http").RequestListener} handler
 */

/**
 * @param {Server} server
 * @param {string} name
 * @param {number} port
 * @returns {Options}
 */
function readOptions(server, name, port) {
  const help = `A player for the agent league.
  --manager URL     where the manager listens (http://localhost:8000/mcp)
  --name NAME       the name that tables show (${name})
  --host ADDRESS    the address to listen at; 0.0.0.0 for every address of this machine (127.0.0.1)
  --port PORT       the port to listen at; 0 takes a free one (${port})
  --advertise URL   where others reach the player; found out when left out
  --game NAME       the game of the league, where it is not one of those that the kit names
  --join-key KEY    the league's join key, where players need one${
    server.hasSessions ? "\n  --stateless       serve without MCP sessions" : ""
  }`;
  /** @type {Record<string, {type: "string" | "boolean", default?: string}>} */
  const known = {
    manager: { type: "string", default: "http://localhost:8000/mcp" },
    name: { type: "string", default: name },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: String(port) },
    advertise: { type: "string" },
    game: { type: "string" },
    "join-key": { type: "string" },
    help: { type: "boolean" },
    ...(server.hasSessions ? { stateless: { type: "boolean" } } : {}),
  };
  /** @type {Message} */
  let given;
  try {
    given = parseArgs({ options: known }).values;
  } catch (/** @type {any} */ error) {
    return fail(`${error.message}\n${help}`);
  }
  if (given.help) {
    console.log(help);
    process.exit(0);
  }
  const advertise = given.advertise && url(given.advertise);
  const { host, port: listenPort, game, stateless = false } = given;
  const manager = url(given.manager);
  return { manager, name: given.name, host, port: listenPort, advertise, game, joinKey: given["join-key"], stateless };
}

/**
 * Starts a player with the strategy `choose`. The program ends with its league.
 * @param {{choose: Strategy, server: Server, name: string, port: number, games?: string[]}} agent
 */
export async function play({ choose, server, name, port, games = GAMES }) {
  const options = readOptions(server, name, port);
  if (options.game && !games.includes(options.game)) games = [...games, options.game];
  const player = new Player(choose, games, options.name);
  player.send = (tool, message) => post(options.manager, server.request(tool, message));
  const endpoint = await contactEndpoint(options, await listen(options, server.handler(player, options)));
  player.registration = await register(options, games, server, endpoint);
  say(`${player.registration.player_id} is ${options.name} at ${endpoint}`);
}
