//! The league's join key, which referees need to register if other machines can reach the manager.
//!
//! A referee decides results, so not every machine may provide one. If the operator gives no key, the manager generates
//! one, prints it once on stderr and does not store it: a restart generates another one. Registered players stay
//! registered without it; a referee that registers again needs the new key.

use std::net::IpAddr;

use data_encoding::BASE64URL_NOPAD;
use league_protocol::token::Credential;
use league_wire::environment::Environment;

#[derive(Debug)]
pub(crate) struct JoinKey {
    key: Option<Credential>,
    generated: bool,
    players: bool,
}

impl JoinKey {
    /// The `chosen` key, or a generated one if `host` is reachable from other machines.
    pub(crate) fn choose(chosen: Option<&Credential>, players: bool, host: IpAddr, environment: &Environment) -> Self {
        match given(chosen) {
            Some(key) => Self { key: Some(key.clone()), generated: false, players },
            None if players || !host.is_loopback() => {
                Self { key: Some(generate(environment)), generated: true, players }
            }
            None => Self { key: None, generated: false, players },
        }
    }

    pub(crate) fn of_referees(&self) -> Option<Credential> {
        self.key.clone()
    }

    pub(crate) fn of_players(&self) -> Option<Credential> {
        self.key.clone().filter(|_| self.players)
    }

    pub(crate) fn generated(&self) -> Option<&str> {
        Some(self.key.as_ref().filter(|_| self.generated)?.reveal())
    }

    pub(crate) fn announcement(&self) -> Option<String> {
        let key = self.generated()?;
        let roles = if self.players { "Referees and players" } else { "Referees" };
        Some(format!(
            "{roles} need this league's join key: {key}\n\
             They take it from --join-key or LEAGUE_JOIN_KEY. It is shown now and kept nowhere, and after a restart newcomers \
             need another one; give the manager one of your own with --join-key to keep it."
        ))
    }
}

/// An empty secret counts as none: compose files and shells set an empty variable in order to leave it out.
pub(crate) fn given(secret: Option<&Credential>) -> Option<&Credential> {
    secret.filter(|secret| !secret.reveal().trim().is_empty())
}

/// 144 bits, in characters that need no quotes.
fn generate(environment: &Environment) -> Credential {
    Credential::new(&format!("key-{}", BASE64URL_NOPAD.encode(&environment.random()[..18])))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const HERE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    const ANYWHERE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))];

    fn choose(chosen: &str, players: bool, host: IpAddr) -> JoinKey {
        JoinKey::choose(Some(&Credential::new(chosen)), players, host, &Environment::real())
    }

    fn shown(key: &JoinKey) -> [Option<String>; 3] {
        let text = |key: Option<Credential>| key.map(|key| key.reveal().to_owned());
        [text(key.of_referees()), text(key.of_players()), key.announcement()]
    }

    #[test]
    fn on_loopback_a_key_is_needed_only_if_one_is_set() {
        for host in HERE {
            assert_eq!(shown(&choose(" ", false, host)), [None, None, None]);
            assert_eq!(shown(&choose("sesame", false, host)), [Some("sesame".to_owned()), None, None]);
        }
    }

    #[test]
    fn off_loopback_a_key_is_generated_for_referees_and_printed_once() {
        for host in ANYWHERE {
            let [generated, players, announcement] = shown(&choose("", false, host));
            let generated = generated.unwrap();
            assert!(players.is_none() && generated.len() == 28 && announcement.unwrap().contains(&generated));
            assert_ne!(shown(&choose("", false, host))[0].as_ref(), Some(&generated), "another one each time");
            assert_eq!(choose("sesame", false, host).announcement(), None, "the operator who chose it knows it");
        }
    }

    #[test]
    fn players_need_the_key_if_the_operator_says_so() {
        for host in [HERE[0], ANYWHERE[0]] {
            let [referees, players, announcement] = shown(&choose("", true, host));
            assert!(referees.is_some() && referees == players);
            assert!(announcement.unwrap().starts_with("Referees and players"));
        }
    }
}
