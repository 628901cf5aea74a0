// A player for the agent league. Change `choose`: it is your strategy. README.md says what it gets.
import { play, randomChoice } from "./league_kit.mjs";
import * as server from "./server.mjs";

/** Returns the move. In Even/Odd it avoids what the opponent chose most often, because equal choices are a draw. */
function choose(opponent, history, standings, game) {
  if (game.gameType === "even_odd") {
    const known = history.withOpponent.length ? history.withOpponent : history.all;
    const evens = known.filter((match) => match.opponentMove === "even").length;
    const odds = known.filter((match) => match.opponentMove === "odd").length;
    if (evens !== odds) return evens > odds ? "odd" : "even";
  }
  return randomChoice(game.legalMoves);
}

await play({ choose, server, name: "Node", port: 8102 });
