//! The keys that agents show to register: one for referees, one for players.
//!
//! A referee decides results, so not every machine may provide one. If the operator gives no key, the manager generates
//! one, prints it once on stderr and does not store it: a restart generates another one. Registered players stay
//! registered without it; a referee that registers again needs the new key. A store that several managers share keeps the
//! digests, so that a key counts at each of them and after a restart.

use std::net::IpAddr;

use anyhow::{Result, bail};
use league_manager::generate_key;
use league_protocol::sender::Role;
use league_protocol::token::{Credential, MIN_SECRET, TokenDigest};
use league_store::log::StoredDigests;
use league_wire::environment::Environment;

#[derive(Debug)]
pub(crate) struct Keys {
    referee: Option<Key>,
    player: Option<Key>,
    /// The store keeps the digests.
    kept: bool,
}

#[derive(Debug)]
struct Key {
    digest: TokenDigest,
    /// Shown once.
    generated: Option<Credential>,
}

impl Key {
    fn given(secret: &Credential) -> Self {
        Self { digest: secret.digest(), generated: None }
    }

    fn generate(environment: &Environment) -> Self {
        let secret = generate_key(environment);
        Self { digest: secret.digest(), generated: Some(secret) }
    }
}

/// The keys as the operator gave them.
#[derive(Debug, Default)]
pub(crate) struct GivenKeys<'a> {
    pub(crate) referee: Option<&'a Credential>,
    pub(crate) player: Option<&'a Credential>,
    pub(crate) players_need_key: bool,
    pub(crate) stored: Option<KeptKeys>,
}

/// The digests in a store that several managers share.
#[derive(Clone, Debug)]
pub(crate) struct KeptKeys {
    pub(crate) digests: StoredDigests,
    /// A standby takes the league over as it is: the keys of its leader may have been replaced since the standby started.
    pub(crate) come_first: bool,
}

impl KeptKeys {
    /// The digest that counts: of `given`, or the stored one.
    pub(crate) fn choose(
        kept: Option<&Self>,
        of: fn(&StoredDigests) -> &Option<TokenDigest>,
        given: Option<TokenDigest>,
        flag: &str,
    ) -> Option<TokenDigest> {
        let Some(Self { digests, come_first }) = kept else { return given };
        let stored = of(digests).clone();
        if *come_first && stored.as_ref().zip(given.as_ref()).is_some_and(|(stored, given)| !stored.same(given)) {
            eprintln!("The value of {flag} does not count: the league has another one, which its store keeps.");
        }
        if *come_first { stored.or(given) } else { given.or(stored) }
    }
}

impl Keys {
    /// Generates missing keys: the referees' if `host` is reachable from other machines or players need one, the players' if they
    /// need one.
    pub(crate) fn choose(chosen: &GivenKeys<'_>, host: IpAddr, environment: &Environment) -> Result<Self> {
        type StoredKey = fn(&StoredDigests) -> &Option<TokenDigest>;
        let key = |secret: Option<&Credential>, flag: &str, stored: StoredKey, needed: bool| -> Result<Option<Key>> {
            let given = strong(secret, flag)?.map(Key::given);
            let digest = KeptKeys::choose(chosen.stored.as_ref(), stored, given.map(|given| given.digest), flag);
            let known = digest.map(|digest| Key { digest, generated: None });
            Ok(known.or_else(|| needed.then(|| Key::generate(environment))))
        };
        let player = key(chosen.player, "--player-key", |stored| &stored.player, chosen.players_need_key)?;
        let needed = player.is_some() || !host.is_loopback();
        let referee = key(chosen.referee, "--referee-key", |stored| &stored.referee, needed)?;
        if referee.as_ref().zip(player.as_ref()).is_some_and(|(a, b)| a.digest.same(&b.digest)) {
            bail!(
                "--referee-key and --player-key are equal, so every player could be a referee; give two different keys"
            );
        }
        Ok(Self { referee, player, kept: chosen.stored.is_some() })
    }

    fn of(&self, role: Role) -> Option<&Key> {
        if role == Role::Referee { self.referee.as_ref() } else { self.player.as_ref() }
    }

    pub(crate) fn digest(&self, role: Role) -> Option<TokenDigest> {
        self.of(role).map(|key| key.digest.clone())
    }

    pub(crate) fn is_needed(&self, role: Role) -> bool {
        self.of(role).is_some()
    }

    /// A key that the operator gave is not shown.
    pub(crate) fn generated(&self, role: Role) -> Option<&str> {
        self.of(role)?.generated.as_ref().map(Credential::reveal)
    }

    pub(crate) fn explanation(&self) -> Option<String> {
        let line = |role: Role, plural: &str| Some(format!("{plural} need the {role} key: {}", self.generated(role)?));
        let mut lines: Vec<String> =
            [line(Role::Referee, "Referees"), line(Role::Player, "Players")].into_iter().flatten().collect();
        if lines.is_empty() {
            return None;
        }
        let kept = if self.kept {
            "A key is shown now only. The store keeps its digest, so that it counts at every manager and after a restart"
        } else {
            "A key is shown now and kept nowhere, and a restart makes a new one"
        };
        lines.push(format!(
            "An agent takes its key from --join-key or LEAGUE_JOIN_KEY. {kept}; give the manager your own with --referee-key and \
             --player-key. `league keys rotate` replaces a key.",
        ));
        Some(lines.join("\n"))
    }
}

/// An empty secret counts as none: compose files and shells set an empty variable in order to leave it out.
pub(crate) fn given(secret: Option<&Credential>) -> Option<&Credential> {
    secret.filter(|secret| !secret.reveal().trim().is_empty())
}

/// Refuses a secret that could be guessed. The error does not repeat it.
pub(crate) fn strong<'a>(secret: Option<&'a Credential>, flag: &str) -> Result<Option<&'a Credential>> {
    let secret = given(secret);
    if let Some(length) = secret.map(|secret| secret.reveal().chars().count()).filter(|length| *length < MIN_SECRET) {
        let better = generate_key(&Environment::real());
        bail!(
            "the value of {flag} has {length} characters and could be guessed; give at least {MIN_SECRET}, for example {}",
            better.reveal()
        );
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const HERE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    const ANYWHERE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))];
    const CHOSEN: &str = "the-class-of-2026";

    fn choose(referee: &str, players_need_key: bool, host: IpAddr) -> Keys {
        let referee = Credential::new(referee);
        let chosen = GivenKeys { referee: Some(&referee), players_need_key, ..GivenKeys::default() };
        Keys::choose(&chosen, host, &Environment::real()).unwrap()
    }

    #[test]
    fn on_loopback_a_key_is_needed_only_if_one_is_set() {
        for host in HERE {
            let none = choose(" ", false, host);
            assert!(!none.is_needed(Role::Referee) && !none.is_needed(Role::Player) && none.explanation().is_none());
            let chosen = choose(CHOSEN, false, host);
            assert!(chosen.is_needed(Role::Referee) && !chosen.is_needed(Role::Player));
            assert_eq!(chosen.explanation(), None, "the operator knows it");
        }
    }

    #[test]
    fn off_loopback_a_referee_key_is_generated_and_shown_once() {
        for host in ANYWHERE {
            let keys = choose("", false, host);
            let key = keys.generated(Role::Referee).unwrap();
            assert!(!keys.is_needed(Role::Player) && key.len() == 28 && keys.explanation().unwrap().contains(key));
            assert_ne!(choose("", false, host).generated(Role::Referee), Some(key), "another one each time");
        }
    }

    #[test]
    fn the_key_of_players_does_not_open_the_league_to_referees() {
        for host in [HERE[0], ANYWHERE[0]] {
            let keys = choose("", true, host);
            assert_ne!(keys.generated(Role::Referee).unwrap(), keys.generated(Role::Player).unwrap());
        }
        let same = Credential::new(CHOSEN);
        let chosen = GivenKeys { referee: Some(&same), player: Some(&same), ..GivenKeys::default() };
        let refused = Keys::choose(&chosen, HERE[0], &Environment::real()).unwrap_err().to_string();
        assert!(refused.contains("give two different keys"), "{refused}");
    }

    #[test]
    fn a_stored_key_counts_unless_the_operator_gives_another_one_to_a_manager_that_is_no_standby() {
        let (old, new) = (Credential::new("the-key-in-the-store"), Credential::new("the-key-of-the-flag"));
        let digests = StoredDigests { referee: Some(old.digest()), ..StoredDigests::default() };
        for (referee, come_first, expected) in
            [(None, false, &old), (None, true, &old), (Some(&new), false, &new), (Some(&new), true, &old)]
        {
            let stored = Some(KeptKeys { digests: digests.clone(), come_first });
            let keys =
                Keys::choose(&GivenKeys { referee, stored, ..GivenKeys::default() }, ANYWHERE[0], &Environment::real());
            let keys = keys.unwrap();
            assert!(keys.digest(Role::Referee).unwrap().same(&expected.digest()), "{referee:?} {come_first}");
            assert_eq!((keys.generated(Role::Referee), keys.explanation()), (None, None));
        }
    }

    #[test]
    fn a_secret_that_could_be_guessed_is_refused_with_a_better_one() {
        let weak = Credential::new("chalk");
        let refused = strong(Some(&weak), "--operator-token").unwrap_err().to_string();
        let expected =
            "the value of --operator-token has 5 characters and could be guessed; give at least 16, for example key-";
        assert!(refused.starts_with(expected) && !refused.contains("chalk"), "{refused}");
        assert!(strong(Some(&Credential::new(" ")), "--operator-token").unwrap().is_none());
    }
}
