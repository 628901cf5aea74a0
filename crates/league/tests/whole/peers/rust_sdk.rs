//! The official Rust client.

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};

use super::seen::{HANDSHAKE, MODERN, Seen};
use super::{Server, Servers};

async fn session(server: &Server, lifecycle: ClientLifecycleMode) -> Seen {
    let transport = StreamableHttpClientTransport::from_uri(server.url.as_str());
    let client = ().serve_with_lifecycle(transport, lifecycle).await.unwrap();
    let call = async |tool: &'static str| client.call_tool(CallToolRequestParams::new(tool)).await;
    let is_error = |result: &CallToolResult| result.is_error.unwrap_or_default();
    let tools = client.list_all_tools().await.unwrap();
    let (good, bad) = (call(server.good).await.unwrap(), call(server.bad).await.unwrap());
    let seen = Seen {
        revision: client.peer_info().map(|info| info.protocol_version.to_string()),
        tools: tools.iter().map(|tool| tool.name.to_string()).collect(),
        answer: good.structured_content.clone().unwrap_or_default(),
        good_is_error: is_error(&good),
        bad_is_error: is_error(&bad),
        bad_says: bad.content.first().and_then(|block| block.as_text()).map(|text| text.text.clone()).unwrap(),
        refusal: call("no_such_tool").await.err().map(|error| error.to_string()),
    };
    client.cancel().await.unwrap();
    seen
}

#[tokio::test]
async fn the_rust_sdk_speaks_either_way() {
    let cast = Servers::start();
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    for (lifecycle, revision) in [
        (ClientLifecycleMode::Initialize, HANDSHAKE),
        (ClientLifecycleMode::Discover { preferred_versions: preferred_versions.clone() }, MODERN),
        (ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }, MODERN),
    ] {
        for server in &cast.servers {
            session(server, lifecycle.clone()).await.check(server, Some(revision));
        }
    }
}
