//! The official conformance suite. The list of expected failures must be exact: an unlisted failure and a listed
//! success both fail.

use league_test_agents::suite_proxy;

use super::{Servers, beside, node, peers, printed};
use crate::support::http;

fn holds(package: &str, revision: &str) {
    for server in &Servers::start().servers {
        // The suite calls its own tools, which a proxy adds.
        let address = http::authority(&server.url).0;
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
fn the_suites_hold_with_and_without_a_handshake() {
    holds("@modelcontextprotocol/conformance", "2025-11-25");
    holds("conformance-next", "2025-11-25");
    holds("conformance-next", "2026-07-28");
}
