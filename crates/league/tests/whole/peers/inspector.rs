//! The Inspector's command line.

use std::process::Command;

use serde_json::Value;

use super::{Server, Servers, node, peers, printed};

fn inspect(home: &str, server: &Server, method: &str, tool: Option<&str>) -> Command {
    let launcher = "node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let mut command = node();
    command.arg(peers().join(launcher)).args(["--cli", &server.url, "--method", method]);
    command.args(tool.iter().flat_map(|tool| ["--tool-name", *tool]));
    // It writes to the user's home.
    command.env("HOME", home);
    command
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the Inspector"]
fn the_inspector_lists_and_calls_the_tools_of_each_server() {
    let cast = Servers::start();
    let inspect = |server: &Server, method: &str, tool: Option<&str>| inspect(cast.home.path(), server, method, tool);
    for server in &cast.servers {
        let listed: Value = serde_json::from_str(&printed(&mut inspect(server, "tools/list", None))).unwrap();
        let tools = listed["tools"].as_array().unwrap();
        assert!(tools.iter().any(|tool| tool["name"] == server.good), "{listed}");
        let good = printed(&mut inspect(server, "tools/call", Some(server.good)));
        let good: Value = serde_json::from_str(&good).unwrap();
        assert_eq!(good["isError"], false, "{good}");
        let bad = inspect(server, "tools/call", Some(server.bad)).output().unwrap();
        assert!(!bad.status.success());
        assert!(String::from_utf8_lossy(&bad.stderr).contains("isError:true"), "{bad:?}");
    }
}
