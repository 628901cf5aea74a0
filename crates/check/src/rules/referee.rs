//! The rules for a referee.

use crate::rule::rules;

rules! {
    REACHABLE = "referee.http.reachable", Required, 1: "A referee answers POST requests at its endpoint.",
        "listen at this address before you are checked; the endpoint is usually http://HOST:PORT/mcp";
    REGISTERS = "referee.registration.canonical", Recommended, 4:
        "A referee registers with register_referee, with its name, version, games and endpoint in referee_meta.",
        "send REFEREE_REGISTER_REQUEST with a complete envelope and referee_meta";
    ACCEPTS = "referee.start.accepts", Required, 7: "START_MATCH is accepted.",
        "answer start_match with \"status\": \"ACCEPTED\" when you can run the match";
    AT_ONCE = "referee.start.at-once", Required, 7: "START_MATCH is answered at once, and not when the match is over.",
        "answer start_match first and run the match in the background";
    START_AGAIN = "referee.start.again", Required, 7:
        "START_MATCH that comes twice is answered twice, and the match is played once.",
        "keep running matches by match_id and attempt, and answer the second order like the first";
    START_MALFORMED = "referee.start.malformed", Recommended, 7:
        "START_MATCH without players is refused with an error.",
        "check that both players and their endpoints are there before you accept";
    INVITES_BOTH = "referee.invitation.both", Required, 7: "Both players are invited.",
        "send GAME_INVITATION to both endpoints of start_match";
    INVITES_TOGETHER = "referee.invitation.together", Required, 7: "Both players are invited at the same time.",
        "send the two invitations concurrently: a slow player must not delay the other one";
    INVITATION_FIELDS = "referee.invitation.fields", Required, 7:
        "An invitation names the match, the game, the side and the opponent.",
        "send match_id, game_type, role_in_match (PLAYER_A or PLAYER_B) and opponent_id";
    SIDES = "referee.invitation.sides", Required, 7: "The first player is PLAYER_A and the second is PLAYER_B.",
        "keep the order of start_match";
    COMMITMENT = "referee.invitation.commitment", Recommended, 8:
        "Invitations carry the same draw_commitment, 64 hexadecimal digits.",
        "make a secret of 32 bytes before inviting and send its SHA-256";
    CONVERSATION = "referee.conversation.one", Recommended, 2:
        "All messages of a match to one player have the same conversation_id.",
        "make a conversation_id for each player when the match starts, and keep it";
    SHOWS_PASS = "referee.pass.shown", Recommended, 5:
        "Each player is shown the referee_pass that START_MATCH has for it.",
        "send players[i].referee_pass as auth_token to that player, and never your own token";
    TOKEN_KEPT = "referee.pass.token-kept", Required, 5: "The referee's own token is shown to no player.",
        "send your token to the manager only";
    ASKS_TOGETHER = "referee.choice.together", Required, 7: "Both players are asked at the same time.",
        "send the two CHOOSE_PARITY_CALLs concurrently";
    CHOICE_HIDDEN = "referee.choice.hidden", Required, 7:
        "No player is told the other's choice before both have chosen.",
        "leave choices out of CHOOSE_PARITY_CALL";
    NUMBER = "referee.draw.number", Required, 1: "The number is from 1 to 10, and its parity is right.",
        "draw from 1 to 10 inclusive; number_parity follows from it";
    PROVABLE = "referee.draw.provable", Recommended, 8:
        "The draw is what commitment, secret, match, attempt and nonces give.",
        "compute the number as section 8 says, and reveal the secret in GAME_OVER";
    WINNER = "referee.result.winner", Required, 1:
        "The player that alone named the parity wins; otherwise it is a draw.",
        "compare each choice with number_parity";
    OVER_BOTH = "referee.over.both", Required, 7: "Both players get GAME_OVER.",
        "send notify_match_result to both, also after a forfeit";
    OVER_ALIKE = "referee.over.alike", Required, 7: "Both players are told the same number and the same winner.",
        "make one result and send it to both";
    REPORTS = "referee.report.sent", Required, 7: "The manager gets MATCH_RESULT_REPORT.",
        "send report_match_result to the manager when the match is over";
    REPORT_TOKEN = "referee.report.token", Required, 5: "The report shows the referee's token.",
        "send the token of your registration as auth_token";
    REPORT_AGREES = "referee.report.agrees", Required, 7: "The report says what the players were told.",
        "make one result and send it to both players and the manager";
    REPORT_SCORE = "referee.report.score", Required, 9:
        "The report's score follows from the result: 3 for a win, 1 for a draw, 0 for a loss.",
        "use the points of start_match's scoring";
    RETRY_ERROR = "referee.retry.told", Required, 7:
        "After an invalid choice the player gets GAME_ERROR with E004 before it is asked again.",
        "send notify_game_error before the next attempt";
    RETRY_THREE = "referee.retry.three", Required, 7: "A player whose choices are invalid is asked three times in all.",
        "stop after max_retries attempts";
    RETRY_LOSS = "referee.retry.loss", Required, 7:
        "After the last attempt the player has lost technically, and the other one has won.",
        "report TECHNICAL_LOSS, three points for the opponent";
    TIMEOUT = "referee.timeout.retried", Recommended, 7:
        "A player that does not answer in time gets GAME_ERROR with E001 and is asked again.",
        "wait for move_timeout_sec of start_match's timeouts, tell the player, and ask again";
    DECLINE = "referee.decline.loss", Required, 7:
        "A player that declines has lost technically at once, and no player is asked for a choice.",
        "end the match on accept: false";
    UNKNOWN_MATCH = "referee.state.unknown-match", Recommended, 7:
        "The state of a match that does not exist is refused.",
        "answer get_match_state for an unknown match with an error such as E007";
    UNKNOWN_METHOD = "referee.rpc.unknown-method", Recommended, 10:
        "A method that does not exist is answered with the JSON-RPC error −32601.",
        "answer unknown methods with {\"error\": {\"code\": -32601, \"message\": \"…\"}}";
    NOT_JSON = "referee.bounds.not-json", Required, 10: "A body that is not JSON harms nothing.",
        "catch the parser's error and answer with −32700";
}
