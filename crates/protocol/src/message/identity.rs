use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::draw::{IdentityNonce, IdentityProof};

/// `prove_identity`: show that you hold the token of your registration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProveIdentity {
    /// 64 hexadecimal digits, new for each question.
    pub nonce: IdentityNonce,
}

/// The proof of an agent that holds a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProvedIdentity {
    /// HMAC-SHA-256 of "identity" and the nonce, under the SHA-256 of the token.
    pub proof: IdentityProof,
}
