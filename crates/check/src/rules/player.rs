//! The rules for a player.

use crate::rule::rules;

rules! {
    REACHABLE = "player.http.reachable", Required, 1: "A player answers POST requests at its endpoint.",
        "listen at this address before you are checked; the endpoint is usually http://HOST:PORT/mcp";
    STATUS = "player.http.status", Recommended, 3: "An answer that carries a result has the HTTP status 200.",
        "answer understood requests with status 200, also when the league's answer is an error";
    CONTENT_TYPE = "player.http.content-type", Recommended, 3: "Answers are application/json.",
        "send the header Content-Type: application/json with every answer";
    KEEP_ALIVE = "player.http.keep-alive", Recommended, 1: "A connection that is kept open takes the next request.",
        "read all of a request's body before you answer, and send Content-Length; or close with Connection: close";
    GET = "player.http.get", Recommended, 3:
        "A GET at the endpoint is refused with a 4xx status, and does not disturb.",
        "answer GET at the endpoint with 405";
    SPLIT_BODY = "player.http.split-body", Required, 1: "A request may arrive in several pieces.",
        "read as many bytes as Content-Length says, in a loop, before you parse them";
    IDLE_NEIGHBOUR = "player.http.idle-neighbour", Recommended, 1:
        "A connection on which nothing comes does not hold up the others.",
        "serve each connection in a thread or task of its own (in Python: ThreadingHTTPServer, or an async server)";
    ODD_CONTENT_TYPE = "player.http.odd-content-type", Recommended, 1:
        "A request with another Content-Type is answered or refused, and harms nothing.",
        "decide by the body, or refuse with 415";

    FRAME = "player.frame.canonical", Quirk, 3:
        "Calls are understood in frame A: JSON-RPC, the tool's name as the method, the message as params.",
        "accept POST with {\"jsonrpc\": \"2.0\", \"method\": \"handle_game_invitation\", \"params\": {…}, \"id\": 1}";
    TOOL_FRAME = "player.frame.tool", Quirk, 3: "Calls are understood in frame C: MCP's tools/call.",
        "take params.name as the method and params.arguments as the message when the method is tools/call";
    PLACE = "player.frame.answer-place", Quirk, 3:
        "The answer stands in result, in the form in which the question came.",
        "answer JSON-RPC with {\"jsonrpc\": \"2.0\", \"id\": …, \"result\": {…}} and nothing around it";

    JOINS = "player.invitation.joins", Required, 7: "GAME_INVITATION is answered with a join.",
        "answer handle_game_invitation with GAME_JOIN_ACK and \"accept\": true";
    JOIN_TIME = "player.invitation.in-time", Required, 7: "The join is there within 5 seconds.",
        "answer the invitation at once and think later";
    JOIN_PROMPT = "player.invitation.prompt", Recommended, 7: "The join takes less than 80 % of its time.",
        "leave some room: networks and machines have slow days";
    JOIN_TYPE = "player.invitation.message-type", Quirk, 7: "The join is called GAME_JOIN_ACK in message_type.",
        "send \"message_type\": \"GAME_JOIN_ACK\"";
    JOIN_ACCEPT = "player.invitation.accept", Quirk, 7: "The join says \"accept\": true.",
        "send \"accept\": true, a boolean";
    JOIN_MATCH = "player.invitation.match-id", Recommended, 7: "The join names the match that the invitation named.",
        "echo match_id of the invitation";
    JOIN_PLAYER = "player.invitation.player-id", Recommended, 7: "The join names the player.",
        "send your player_id, as the registration was answered";
    JOIN_ARRIVAL = "player.invitation.arrival-timestamp", Recommended, 7: "The join says when it was made, in UTC.",
        "send arrival_timestamp like 2025-01-15T10:30:00Z";
    NONCE = "player.invitation.nonce", Recommended, 8:
        "The join adds a draw_nonce, a text of 1 to 64 bytes, to the draw.",
        "send 16 random bytes in hexadecimal as draw_nonce";
    NONCE_FRESH = "player.invitation.nonce-fresh", Recommended, 8: "Each match gets another draw_nonce.",
        "make a new random draw_nonce for each match";
    SIDE_B = "player.invitation.side-b", Required, 7: "A player also joins as PLAYER_B.",
        "do not depend on role_in_match";
    JOIN_AGAIN = "player.invitation.again", Required, 7:
        "An invitation that comes twice is joined twice: the first answer may have been lost.",
        "answer a repeated invitation like the first one";
    NONCE_AGAIN = "player.invitation.again-same", Recommended, 8: "The repeated join adds the same draw_nonce.",
        "keep what you answered to a match, and answer the same again";
    NEXT_MATCH = "player.invitation.next-match", Recommended, 7:
        "A new match is joined although the last one has no result yet.",
        "keep matches apart by match_id; GAME_OVER may be late or lost";
    OTHER_GAME = "player.invitation.other-game", Required, 7:
        "An invitation to a game that the player does not know is declined, refused or joined, and harms nothing.",
        "answer with \"accept\": false, or with an error";

    CHOOSES = "player.choice.answers", Required, 7: "CHOOSE_PARITY_CALL is answered with a choice.",
        "answer choose_parity with CHOOSE_PARITY_RESPONSE and parity_choice";
    CHOICE_EXACT = "player.choice.exact", Required, 7: "parity_choice is exactly \"even\" or \"odd\".",
        "send the text even or odd: small letters, no spaces, no numbers";
    CHOICE_TIME = "player.choice.in-time", Required, 7: "The choice is there within 30 seconds.",
        "choose at random when the time is nearly over; deadline says when that is";
    CHOICE_PROMPT = "player.choice.prompt", Recommended, 7: "The choice takes less than 80 % of its time.",
        "leave some room: networks and machines have slow days";
    CHOICE_TYPE = "player.choice.message-type", Quirk, 7:
        "The choice is called CHOOSE_PARITY_RESPONSE in message_type.",
        "send \"message_type\": \"CHOOSE_PARITY_RESPONSE\"";
    CHOICE_MATCH = "player.choice.match-id", Recommended, 7: "The choice names the match that was asked about.",
        "echo match_id of the call";
    CHOICE_PLAYER = "player.choice.player-id", Recommended, 7: "The choice names the player.",
        "send your player_id, as the registration was answered";
    CHOICE_AGAIN = "player.choice.again", Recommended, 7:
        "Asked twice for the same match, a player gives the same choice.",
        "keep the choice of each match_id and answer it again";
    CHOICE_RETRY = "player.choice.after-error", Required, 7:
        "After GAME_ERROR a player that is asked again answers again.",
        "GAME_ERROR ends nothing: the next CHOOSE_PARITY_CALL is another chance";
    CHOICE_UNINVITED = "player.choice.uninvited", Required, 7:
        "A choice for a match without an invitation is answered or refused, and harms nothing.",
        "answer with an error such as E007, or simply choose";

    PROTOCOL = "player.envelope.protocol", Quirk, 2: "Answers say \"protocol\": \"league.v2\".",
        "send \"protocol\": \"league.v2\" in every message";
    SENDER = "player.envelope.sender", Quirk, 2: "Answers say who speaks, like player:P01.",
        "send \"sender\": \"player:\" and your id";
    TIMESTAMP = "player.envelope.timestamp", Quirk, 2: "Answers have a timestamp in UTC.",
        "send the time in UTC, like 2025-01-15T10:30:00Z";
    TIMESTAMP_FORM = "player.envelope.timestamp-form", Quirk, 2:
        "Timestamps are written in whole seconds and end in Z.",
        "write whole seconds and Z: some peers refuse anything else";
    CONVERSATION = "player.envelope.conversation", Quirk, 2: "An answer echoes the conversation_id of its question.",
        "copy conversation_id from the message you answer";
    UNKNOWN_FIELD = "player.envelope.unknown-field", Required, 2: "Fields that a player does not know are ignored.",
        "read the fields that you need and ignore the others; do not validate with extra fields forbidden";
    FRACTION = "player.envelope.fraction", Recommended, 2: "A timestamp with fractions of a second is accepted.",
        "accept 2025-01-15T10:30:00.123Z, or do not parse timestamps that you do not need";
    OFFSET = "player.envelope.offset", Recommended, 2: "A timestamp that ends in +00:00 is accepted.",
        "accept +00:00 for Z, or do not parse timestamps that you do not need";
    OTHER_PROTOCOL = "player.envelope.other-protocol", Quirk, 2: "A message of another protocol version is refused.",
        "answer with an error (E018) when protocol is not league.v2";
    BAD_TIME = "player.envelope.bad-time", Quirk, 2: "A message whose timestamp is not UTC is refused.",
        "answer with an error (E021) when the timestamp does not end in Z or +00:00";

    RPC_VERSION = "player.rpc.version", Recommended, 3: "Answers say \"jsonrpc\": \"2.0\".",
        "send \"jsonrpc\": \"2.0\" with every answer";
    ID_NUMBER = "player.rpc.id-number", Recommended, 3: "An answer has the id of its request, a number as a number.",
        "copy id from the request, with its type";
    ID_TEXT = "player.rpc.id-text", Recommended, 3: "An answer has the id of its request, a text as a text.",
        "copy id from the request, with its type: it may be any text";
    ONE_OF_BOTH = "player.rpc.result-or-error", Recommended, 3: "An answer has either result or error.",
        "leave error out of a success and result out of a failure";
    UNKNOWN_METHOD = "player.rpc.unknown-method", Recommended, 10:
        "A method that does not exist is answered with the JSON-RPC error −32601.",
        "answer unknown methods with {\"error\": {\"code\": -32601, \"message\": \"…\"}}";
    NOT_JSON = "player.rpc.not-json", Recommended, 10:
        "A body that is not JSON is answered with the JSON-RPC error −32700 or with status 400.",
        "catch the parser's error and answer with {\"error\": {\"code\": -32700, \"message\": \"…\"}}";
    WRONG_PARAMS = "player.rpc.wrong-params", Recommended, 10:
        "An invitation without a match is answered with an error, such as −32602.",
        "check that match_id is there before you use it, and answer with {\"error\": {\"code\": -32602, …}}";
    NOTIFICATION = "player.rpc.notification", Recommended, 3:
        "A request without id is a notification and gets no JSON-RPC answer.",
        "answer requests without id with status 202 or 204 and no body";
    BATCH = "player.rpc.batch", Quirk, 3: "A JSON array of requests is answered with an array.",
        "handle each element and answer with the list of answers; few peers send batches";
    EXTRA_KEY = "player.rpc.extra-key", Recommended, 3:
        "An extra key beside jsonrpc, method, params and id is ignored.",
        "ignore keys that you do not know in the outer object, too";

    GAME_OVER = "player.notice.game-over", Recommended, 7: "GAME_OVER is acknowledged.",
        "answer notify_match_result with anything but an error";
    GAME_OVER_AGAIN = "player.notice.game-over-again", Recommended, 7:
        "GAME_OVER that comes twice is acknowledged twice.",
        "count a match once, by its match_id, and acknowledge every GAME_OVER";
    GAME_OVER_FORFEIT = "player.notice.forfeit", Recommended, 7:
        "GAME_OVER after a forfeit, with null for number and choices, is acknowledged.",
        "expect null in drawn_number, number_parity and the choices";
    GAME_OVER_UNKNOWN = "player.notice.unknown-match", Required, 7:
        "GAME_OVER for a match that the player never heard of is acknowledged or refused, and harms nothing.",
        "look matches up without assuming that they are there";
    GAME_ERROR = "player.notice.game-error", Recommended, 7: "GAME_ERROR is acknowledged.",
        "answer notify_game_error with anything but an error";
    ROUND = "player.notice.round-announcement", Recommended, 9: "ROUND_ANNOUNCEMENT is acknowledged.",
        "answer notify_round with anything but an error";
    STANDINGS = "player.notice.standings-update", Recommended, 9: "LEAGUE_STANDINGS_UPDATE is acknowledged.",
        "answer update_standings with anything but an error";
    ROUND_COMPLETED = "player.notice.round-completed", Recommended, 9:
        "ROUND_COMPLETED is acknowledged, also the last one, whose next_round_id is null.",
        "answer notify_round_completed with anything but an error, and expect null in next_round_id";
    LEAGUE_COMPLETED = "player.notice.league-completed", Recommended, 9:
        "LEAGUE_COMPLETED is acknowledged before the player leaves.",
        "answer notify_league_completed first, then end";
    AFTER_NOTICES = "player.notice.plays-on", Required, 9:
        "After all notices of a round the player joins the next match.",
        "catch errors in the handlers of notices: they must not end the player";

    PARALLEL = "player.parallel.joins", Recommended, 7: "Two matches at once are joined and answered.",
        "keep what belongs to a match under its match_id, and serve requests at the same time";
    PARALLEL_APART = "player.parallel.kept-apart", Required, 7: "Answers of two matches at once are not mixed up.",
        "take match_id and conversation_id from the request that you answer, not from a variable of the player";

    OVERSIZED = "player.bounds.oversized-refused", Recommended, 2: "A body of more than 64 KiB is refused.",
        "answer with 413 when Content-Length is above 65536, without reading it all";
    OVERSIZED_HARMLESS = "player.bounds.oversized", Required, 2: "A body of more than 64 KiB harms nothing.",
        "limit what you read, and catch the error";
    NESTED = "player.bounds.nested", Required, 2: "JSON that is nested a thousand deep harms nothing.",
        "catch the parser's error (in Python RecursionError, too)";
    NOT_UTF8 = "player.bounds.not-utf8", Required, 2: "A body that is not UTF-8 harms nothing.",
        "catch the decoder's error and answer with 400 or −32700";
    EMPTY = "player.bounds.empty", Required, 2: "An empty body harms nothing.",
        "catch the parser's error and answer with 400 or −32700";
    BROKEN = "player.bounds.broken-json", Required, 2: "JSON that breaks off harms nothing.",
        "catch the parser's error and answer with 400 or −32700";
    NOT_AN_OBJECT = "player.bounds.not-an-object", Required, 2:
        "JSON that is no object, such as a number or null, harms nothing.",
        "check that the body is an object before you look into it";
    HUNG_UP = "player.bounds.hung-up", Required, 1:
        "A caller that hangs up in the middle of its request harms nothing.",
        "catch the error of reading, and close that connection alone";
    SHORT_ANSWERS = "player.bounds.answers", Required, 2: "No answer has more than 64 KiB.",
        "answer with the fields of the message and no more";

    STATE_SECRETS = "player.secrets.state", Required, 5: "get_player_state tells no token.",
        "leave auth_token and everything secret out of the state";
    ECHO = "player.secrets.echo", Recommended, 5:
        "Answers do not echo the auth_token of the question: it is the referee's.",
        "send your own token or pass in auth_token, or none";

    MCP_INITIALIZE = "player.mcp.initialize", Recommended, 3:
        "initialize of MCP is answered with a protocol version, capabilities and serverInfo.",
        "answer initialize with {\"protocolVersion\": \"2025-11-25\", \"capabilities\": {\"tools\": {}}, \"serverInfo\": {…}}";
    MCP_TOOLS = "player.mcp.tools", Recommended, 3: "tools/list names the tools for the invitation and for the choice.",
        "list handle_game_invitation and choose_parity, at least";
    MCP_SCHEMAS = "player.mcp.schemas", Recommended, 3: "Every tool has an inputSchema that describes an object.",
        "give each tool \"inputSchema\": {\"type\": \"object\", …}";
    MCP_PING = "player.mcp.ping", Quirk, 3: "ping is answered with a result.",
        "answer ping with an empty result";
}
