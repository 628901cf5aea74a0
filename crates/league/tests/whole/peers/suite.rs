//! The official conformance suite. The list of expected failures must be exact: an unlisted failure and a listed
//! success both fail.

use league_test_agents::suite_proxy;

use super::{Servers, beside, node, peers, printed};

fn holds(package: &str, revision: &str) {
    for server in &Servers::start().servers {
        // The suite calls its own tools, which a proxy adds.
        let address = server.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
        let proxy = suite_proxy::start(address.parse().unwrap()).unwrap();
        let mut suite = node();
        suite.arg(peers().join("node/node_modules").join(package).join("dist/index.js"));
        suite.args(["server", "--url", &proxy.endpoint(), "--suite", "all", "--spec-version", revision]);
        suite.arg("--expected-failures").arg(beside(&format!("expected-{revision}.yaml")));
        let report = printed(&mut suite);
        let total = report.lines().find(|line| line.starts_with("Total:")).unwrap_or_default();
        println!("{package} {revision} {}: {total}", server.role);
        // A suite that ran no test would report no failure either.
        assert!(report.contains("✓ dns-rebinding-protection: 2 passed"), "{report}");
        assert!(report.contains("✓ tools-call-simple-text"), "{report}");
    }
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the suite"]
fn the_stable_suite_holds_for_the_newest_revision_with_a_handshake() {
    holds("@modelcontextprotocol/conformance", "2025-11-25");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the suite"]
fn the_next_suite_holds_for_the_newest_revision_with_a_handshake() {
    holds("conformance-next", "2025-11-25");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the suite"]
fn the_next_suite_holds_for_the_revision_without_a_handshake() {
    holds("conformance-next", "2026-07-28");
}
