//! What tells two agents apart: a name that a person would not confuse, and a place that can be called.

use std::net::IpAddr;

use http::Uri;
use league_protocol::display::is_invisible;
use smol_str::{SmolStr, format_smolstr};
use unicode_security::confusable_detection::skeleton;

use super::agent::AgentProfile;

/// Computed once per registration, because each registration is compared with all others.
#[derive(Clone, Debug)]
pub struct AgentIdentity {
    pub name: SmolStr,
    /// The place that can be called. A referee that pulls has none, so its name stands for it.
    pub address: SmolStr,
    /// The host of the agent; `None` for an agent on the manager's machine, by a loopback address.
    remote_host: Option<SmolStr>,
}

/// A referee that pulls stays the same agent when its machine gets another address.
impl PartialEq for AgentIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.address == other.address
    }
}

impl Eq for AgentIdentity {}

impl AgentIdentity {
    pub fn of(profile: &AgentProfile) -> Self {
        if let Some(host) = profile.pull_host() {
            let name = name_skeleton(&profile.name);
            let remote_host = Some(host).filter(|host| *host != "localhost").map(SmolStr::new);
            return Self { address: format_smolstr!("pull/{name}"), name, remote_host };
        }
        let address = Self::address(&profile.endpoint);
        let host = address.split('/').next().and_then(|place| Some(place.rsplit_once(':')?.0));
        let remote_host = host.filter(|host| *host != "localhost").map(SmolStr::new);
        Self { name: name_skeleton(&profile.name), remote_host, address }
    }

    /// Whether one of the two would be taken for the other.
    pub fn clashes_with(&self, other: &Self) -> bool {
        self.name == other.name || self.address == other.address
    }

    /// Whether both agents are on the same machine, other than by loopback.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.remote_host.is_some() && self.remote_host == other.remote_host
    }

    /// Equal for spellings of one place: the loopback addresses are one machine, ports and `/mcp` may be left out, a final slash,
    /// dots in the path, the query and the case of the host do not count. A text that is no URL stands for itself; the season refuses it.
    pub fn address(endpoint: &str) -> SmolStr {
        let Ok(uri) = endpoint.trim().parse::<Uri>() else { return SmolStr::new(endpoint) };
        let Some(host) = uri.host() else { return SmolStr::new(endpoint) };
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
        let host = match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(address) if address.is_loopback() => String::from("localhost"),
            Ok(address) => address.to_string(),
            Err(_) => host,
        };
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let path = normalised(uri.path());
        let path = if path.is_empty() { "/mcp" } else { &path };
        format_smolstr!("{host}:{port}{path}")
    }
}

/// Without empty segments and dots, and with unreserved characters in the clear (RFC 3986, section 6).
fn normalised(path: &str) -> String {
    let mut clear = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        clear.push_str(before);
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => {
                clear.push(char::from(byte));
                rest = &after[2..];
            }
            None => {
                clear.push('%');
                rest = after;
            }
        }
    }
    clear.push_str(rest);
    let mut segments: Vec<&str> = Vec::new();
    for segment in clear.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments.iter().flat_map(|segment| ["/", segment]).collect()
}

/// Equal for names that look alike: case, invisible characters and confusable letters of other scripts do not count
/// (Unicode Technical Standard 39).
fn name_skeleton(name: &str) -> SmolStr {
    let visible: String = name.chars().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).collect();
    skeleton(visible.trim()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(endpoint: &str) -> SmolStr {
        AgentIdentity::address(endpoint)
    }

    #[test]
    fn names_that_look_alike_are_one_name() {
        let victim = name_skeleton("Victim");
        for alike in [
            "victim",
            " VICTIM ",
            "Vic\u{200b}tim",
            "\u{202e}Victim",
            "Vict\u{ad}im\u{feff}",
            "V\u{456}ctim",
            "\u{ff36}ictim",
            "V\u{2066}ictim",
        ] {
            assert_eq!(name_skeleton(alike), victim, "{alike:?}");
        }
        for other in ["Victim 2", "Victor", "Vic-tim", "Opfer"] {
            assert_ne!(name_skeleton(other), victim, "{other}");
        }
        assert_ne!(name_skeleton("random 1"), name_skeleton("random 11"));
        assert_ne!(name_skeleton("José"), name_skeleton("Jose"), "an accent can be seen");
    }

    #[test]
    fn spellings_of_one_place_are_one_address() {
        for same in [
            "http://localhost:8101/mcp",
            "http://LOCALHOST:8101",
            "http://localhost.:8101/",
            "http://127.0.0.1:8101/mcp/",
            "http://127.9.9.9:8101/mcp",
            "http://[::1]:8101/mcp",
            "http://[::ffff:127.0.0.1]:8101/mcp",
            "https://localhost:8101/mcp",
            "http://localhost:8101/./mcp",
            "http://localhost:8101//mcp",
            "http://localhost:8101/x/../mcp",
            "http://localhost:8101/%6Dcp",
            "http://localhost:8101/mcp?player=2",
        ] {
            assert_eq!(address(same), "localhost:8101/mcp", "{same}");
        }
        assert_eq!(address("http://Example.org"), "example.org:80/mcp");
        assert_eq!(address("https://example.org/"), "example.org:443/mcp");
        assert_eq!(address("http://[FD00:0::1]:8101/play%2f%"), "fd00::1:8101/play%2f%");
        assert_ne!(address("http://localhost:8101/a"), address("http://localhost:8101/b"));
    }
}
