"""Pairs every round of Swiss leagues with caissify-pairings (FIDE's Dutch system), from the same history.

Reads leagues as JSON from a file and prints, for each round, how both pairings keep the rules that both know.
"""

import json
import sys

from caissify_pairings import generate_pairings


class Player:
    def __init__(self, number):
        self.number, self.score, self.byes = number, 0, 0
        self.colors, self.floats = [], []

    def as_input(self):
        # A win is two points in these leagues, and one in chess.
        return {
            "id": self.number, "name": f"P{self.number}", "score": self.score / 2, "rating": 2500 - self.number,
            "starting_number": self.number, "pairing_number": self.number, "color_hist": list(self.colors),
            "float_history": list(self.floats), "bye_count": self.byes,
        }

    def balance(self):
        return self.colors.count("white") - self.colors.count("black")


def kept(players, met, pairs, byes):
    """Rematches, second byes, pairs that cannot keep the sides balanced, score groups below the bye, distance of scores."""
    groups = sorted({player.score for player in players.values()}, reverse=True)
    group = {number: groups.index(player.score) for number, player in players.items()}
    unbalanced = 0
    for one, other in pairs:
        one, other = players[one].balance(), players[other].balance()
        unbalanced += one * other > 0 and min(abs(one), abs(other)) >= 2
    return [
        sum(frozenset(pair) in met for pair in pairs),
        sum(players[bye].byes for bye in byes),
        int(unbalanced),
        sum(len(groups) - 1 - group[bye] for bye in byes),
        sum((group[one] - group[other]) ** 2 for one, other in pairs),
    ]


def theirs(players, met, number, total):
    found = generate_pairings(
        system="dutch",
        players=[player.as_input() for player in players.values()],
        previous_pairings={tuple(sorted(pair)) for pair in met},
        round_number=number,
        total_rounds=total,
    )
    sides = [(each.get("white_id"), each.get("black_id")) for each in found]
    pairs = [pair for pair in sides if all(player in players for player in pair)]
    paired = {player for pair in pairs for player in pair}
    return pairs, [number for number in players if number not in paired]


def rounds(league):
    players = {number: Player(number) for number in range(1, league["players"] + 1)}
    met = set()
    for number, played in enumerate(league["rounds"], start=1):
        pairs, byes = [tuple(pair) for pair in played["pairings"]], played["byes"]
        yield {
            "ours": kept(players, met, pairs, byes),
            "theirs": kept(players, met, *theirs(players, met, number, len(league["rounds"]))),
        }
        before = {number: player.score for number, player in players.items()}
        for (one, other), points in zip(pairs, played["points"]):
            met.add(frozenset((one, other)))
            for own, its, color, made in ((one, other, "white", points[0]), (other, one, "black", points[1])):
                players[own].colors.append(color)
                order = (before[own] > before[its]) - (before[own] < before[its])
                players[own].floats.append(("none", "down", "up")[order])
                players[own].score += made
        for bye in byes:
            players[bye].byes += 1
            players[bye].score += 2
            players[bye].colors.append("none")
            players[bye].floats.append("down")


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([found for league in json.load(file) for found in rounds(league)]))
