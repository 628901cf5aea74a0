//! The rules for a manager.

use crate::rule::rules;

rules! {
    REACHABLE = "manager.http.reachable", Required, 1: "A manager answers POST requests at its endpoint.",
        "listen at this address before you are checked; the endpoint is usually http://HOST:PORT/mcp";
    OPEN = "manager.registration.open", Required, 4:
        "A player that registers properly is let in with status ACCEPTED and an id.",
        "answer register_player with LEAGUE_REGISTER_RESPONSE: status, player_id, league_id, auth_token";
    REFEREE = "manager.registration.referee", Required, 4:
        "A referee that registers properly is let in with status ACCEPTED and an id.",
        "answer register_referee with REFEREE_REGISTER_RESPONSE: status, referee_id, league_id, auth_token";
    ENVELOPE = "manager.registration.envelope", Recommended, 2:
        "The answer has a complete envelope: protocol, message_type, sender, timestamp, and the question's conversation_id.",
        "send all five fields, and echo conversation_id";
    TOKEN = "manager.registration.token", Required, 5: "An admitted agent gets a token.",
        "send auth_token with the answer";
    TOKEN_FORM = "manager.registration.token-form", Recommended, 5:
        "A token is tok-, the id, and 32 random bytes in base64url.",
        "make tokens of the form tok-P01-<43 characters>";
    BARE = "manager.registration.bare", Recommended, 4:
        "A registration without an envelope is understood: several public players send none.",
        "fill in what is missing, and note it";
    ALIAS = "manager.registration.alias", Quirk, 6: "league_register is understood as register_player.",
        "accept the aliases of the call table";
    AGAIN = "manager.registration.again", Required, 4:
        "The same name and endpoint once more is the same player: the same id.",
        "look up name and endpoint before you give out an id";
    FRESH_TOKEN = "manager.registration.fresh-token", Recommended, 4:
        "Registering again gives a fresh token, and it works.",
        "give out a new token with every registration; you cannot know whether the old one arrived";
    DUPLICATE = "manager.registration.duplicate-name", Required, 4:
        "A name that is taken under another endpoint is REJECTED, with a reason.",
        "answer with status REJECTED, reason and reason_code 2002";
    BAD_ENDPOINT = "manager.registration.bad-endpoint", Required, 4:
        "A registration whose endpoint is no URL is not accepted.",
        "answer with status REJECTED, reason and reason_code 2003";
    OTHER_GAME = "manager.registration.other-game", Recommended, 4:
        "A player that does not know the league's game is not accepted.",
        "answer with status REJECTED, reason and reason_code 2004";
    OLD_VERSION = "manager.registration.old-version", Required, 4:
        "A player written for protocol version 1 is refused with E018.",
        "compare player_meta.protocol_version with 2.0.0";
    MALFORMED = "manager.registration.malformed", Required, 4: "A registration without an endpoint is refused.",
        "answer with −32602, and say which field is missing";
    QUERY = "manager.query.answers", Required, 9:
        "GET_STANDINGS, GET_SCHEDULE, GET_NEXT_MATCH, GET_PLAYER_STATS and GET_STATUS are answered.",
        "answer league_query with query_type, success and data";
    QUERY_UNKNOWN = "manager.query.unknown", Required, 9: "A query_type that does not exist is refused.",
        "answer with an error (6002)";
    STANDINGS = "manager.query.standings", Recommended, 6: "get_standings is answered without a token.",
        "show the table to every client";
    ENDPOINTS = "manager.query.endpoints-hidden", Recommended, 9: "A player is not told where the others listen.",
        "tell endpoints to referees only";
    NO_TOKEN = "manager.auth.no-token", Required, 2: "A query without auth_token is refused with E011.",
        "answer with E011 when auth_token is missing or empty";
    BAD_TOKEN = "manager.auth.bad-token", Required, 2: "A query with a wrong auth_token is refused with E012.",
        "answer with E012 when the token is not one that you gave out";
    FORGED_SENDER = "manager.auth.forged-sender", Required, 5:
        "An agent that names a sender other than its token's owner gets no other rights.",
        "decide who asks by the token and never by sender";
    NOT_A_REFEREE = "manager.report.not-a-referee", Required, 7: "A result that a player reports is refused.",
        "take reports only with the token of the referee that holds the match";
    UNKNOWN_MATCH = "manager.report.unknown-match", Required, 7: "A report of a match that does not exist is refused.",
        "answer with E007 (5002)";
    MISSING_FIELD = "manager.envelope.missing-field", Required, 2:
        "A query without a timestamp is refused with E003, which names the field.",
        "answer with E003, and say timestamp in its hint or context";
    OTHER_PROTOCOL = "manager.envelope.other-protocol", Required, 2:
        "A query of another protocol is refused with E018.",
        "answer with E018 when protocol is not league.v2";
    BAD_TIME = "manager.envelope.bad-time", Required, 2: "A query whose timestamp is not UTC is refused with E021.",
        "answer with E021 when the timestamp does not end in Z or +00:00";
    UNKNOWN_FIELD = "manager.envelope.unknown-field", Required, 2: "Fields that a manager does not know are ignored.",
        "read the fields that you need and ignore the others";
    ERRORS = "manager.errors.complete", Recommended, 10:
        "A refusal is a JSON-RPC error whose data is a LEAGUE_ERROR with error_code and a hint.",
        "put LEAGUE_ERROR with error_code, error_name, hint and retryable into error.data";
    SECRETS = "manager.secrets.kept", Required, 5:
        "No answer contains a token, except the answer to its own registration.",
        "leave tokens out of queries, errors and logs";
    ID = "manager.rpc.id", Recommended, 3: "An answer has the id of its request.",
        "copy id from the request, with its type";
    UNKNOWN_METHOD = "manager.rpc.unknown-method", Recommended, 10:
        "A method that does not exist is answered with the JSON-RPC error −32601.",
        "answer unknown methods with {\"error\": {\"code\": -32601, \"message\": \"…\"}}";
    NOT_JSON = "manager.bounds.not-json", Required, 10: "A body that is not JSON harms nothing.",
        "catch the parser's error and answer with −32700";
    OVERSIZED = "manager.bounds.oversized", Required, 2: "A body of more than 64 KiB is refused and harms nothing.",
        "answer with 413 when Content-Length is above 65536";
    TOOLS = "manager.mcp.tools", Recommended, 3:
        "tools/list names register_player, register_referee, report_match_result and league_query.",
        "list them, with schemas";
}
