//! The checker's HTTP client.
//!
//! Every exchange uses its own connection, because a server may take only one connection at a time. Requests that no
//! HTTP library sends are written byte by byte.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use league_protocol::dialect::PeerDialect;
use league_protocol::table::Method;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::net::{Connector, Stream, Tcp};
use league_wire::peer_client::PeerClient;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use crate::messages::{TestMessage, rpc};
use crate::response::{NoResponse, Response, ResponseBody, out_of_stream};

const MAX_RAW: usize = 256 * 1024;

/// The time for an agent to notice that its client is gone.
const MOMENT: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
pub(crate) struct AgentClient {
    pub(crate) endpoint: Endpoint,
    client: Client,
    /// Finds the dialect that the agent understands, as the league does.
    pub(crate) peer_client: PeerClient,
}

impl AgentClient {
    pub(crate) fn to(endpoint: Endpoint) -> Self {
        let tls = endpoint.is_secure().then(|| league_wire::tls::client_config(None).ok()).flatten();
        let client = Client::new(ClientSettings { idle_per_host: 0, tls, ..ClientSettings::default() });
        let peer_client = PeerClient::new(client.clone());
        Self { endpoint, client, peer_client }
    }

    pub(crate) fn at(&self, endpoint: Endpoint) -> Self {
        Self { endpoint, ..self.clone() }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.client.next_id()
    }

    pub(crate) async fn post(&self, headers: &HeaderMap, body: impl Into<Bytes>, limit: Duration) -> Response {
        let sent = body.into();
        let result = self.client.post(&self.endpoint, headers, sent.clone(), limit).await;
        Response::of(sent, result)
    }

    pub(crate) fn headers(&self, dialect: &PeerDialect, method: Method) -> HeaderMap {
        self.peer_client.headers_of(&self.endpoint, dialect, method)
    }

    pub(crate) async fn send(&self, dialect: &PeerDialect, message: &TestMessage, limit: Duration) -> Response {
        let request = message.written(dialect, self.next_id());
        self.post(&self.headers(dialect, message.method), request.to_string(), limit).await
    }

    pub(crate) async fn tools(&self, headers: &HeaderMap, limit: Duration) -> (Response, Vec<Value>) {
        let listed = self.post(headers, rpc("tools/list", &json!({}), self.next_id()).to_string(), limit).await;
        let tools = listed.json().and_then(|answer| answer.get("result")?.get("tools")?.as_array().cloned());
        (listed, tools.unwrap_or_default())
    }

    /// False under TLS, where raw connections are impossible.
    pub(crate) fn is_plain(&self) -> bool {
        !self.endpoint.is_secure()
    }

    pub(crate) async fn connect(&self) -> Result<Box<dyn Stream>, NoResponse> {
        let connecting = Tcp.connect(self.endpoint.host(), self.endpoint.port());
        Ok(connecting.await?)
    }

    pub(crate) fn head(&self, method: &str, path: &str, content_type: &str, length: Option<usize>) -> String {
        let uri = self.endpoint.uri();
        let host = uri.authority().map_or("localhost", http::uri::Authority::as_str);
        let length = length.map(|length| format!("content-type: {content_type}\r\ncontent-length: {length}\r\n"));
        let accept = "accept: application/json, text/event-stream\r\n";
        format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n{accept}{}\r\n", length.unwrap_or_default())
    }

    pub(crate) fn path(&self) -> String {
        self.endpoint.uri().path_and_query().map_or_else(|| String::from("/"), ToString::to_string)
    }

    pub(crate) async fn get(&self, path: &str, limit: Duration) -> Response {
        self.by_hand(&[self.head("GET", path, "", None).into_bytes()], Duration::ZERO, limit).await
    }

    /// Pauses between the pieces.
    pub(crate) async fn by_hand(&self, pieces: &[Vec<u8>], pause: Duration, limit: Duration) -> Response {
        let sent = Bytes::from(pieces.concat());
        let exchange = async {
            let mut stream = self.connect().await?;
            let began = Instant::now();
            for (number, piece) in pieces.iter().enumerate() {
                if number > 0 {
                    tokio::time::sleep(pause).await;
                }
                stream.write_all(piece).await?;
                stream.flush().await?;
            }
            read_answer(&mut stream, began).await
        };
        let result = timeout(limit, exchange).await.unwrap_or(Err(NoResponse::TimedOut(limit)));
        Response { sent, result }
    }

    /// Sends the second request after the answer to the first.
    pub(crate) async fn twice(&self, request: &[u8], limit: Duration) -> (Response, Option<Response>) {
        let sent = Bytes::copy_from_slice(request);
        let mut connection = None;
        let first = async {
            let mut stream = self.connect().await?;
            stream.write_all(request).await?;
            let result = read_answer(&mut stream, Instant::now()).await?;
            connection = Some(stream);
            Ok(result)
        };
        let first = timeout(limit, first).await.unwrap_or(Err(NoResponse::TimedOut(limit)));
        let first = Response { sent: sent.clone(), result: first };
        let Some(mut stream) = connection.filter(|_| !closes(&first)) else { return (first, None) };
        let second = async {
            stream.write_all(request).await?;
            read_answer(&mut stream, Instant::now()).await
        };
        let result = timeout(limit, second).await.unwrap_or(Err(NoResponse::TimedOut(limit)));
        (first, Some(Response { sent, result }))
    }

    /// Closes the connection in the middle of a request, and gives the agent a moment to notice.
    pub(crate) async fn hang_up(&self, beginning: &[u8]) -> Response {
        let sending = async {
            let mut stream = self.connect().await?;
            stream.write_all(beginning).await?;
            stream.shutdown().await?;
            // Only the agent's next answer counts.
            drop(timeout(MOMENT, stream.read_to_end(&mut Vec::new())).await);
            Ok(())
        };
        let result = sending.await.and_then(|()| Err(NoResponse::Broken(String::from("the checker hung up"))));
        Response { sent: Bytes::copy_from_slice(beginning), result }
    }
}

impl From<std::io::Error> for NoResponse {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// HTTP/1.0 closes by default.
fn closes(response: &Response) -> bool {
    let Ok(result) = &response.result else { return true };
    let says = result.headers.get(http::header::CONNECTION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    says.eq_ignore_ascii_case("close") || result.headers.contains_key("x-http-1-0")
}

async fn read_answer(stream: &mut Box<dyn Stream>, began: Instant) -> Result<ResponseBody, NoResponse> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break (parse_head(&bytes[..end])?, end + 4);
        }
        more(stream, &mut bytes).await?;
    };
    let (status, headers) = head;
    let mut body = bytes.split_off(length);
    let announced = headers.get(http::header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let chunked = headers.contains_key(http::header::TRANSFER_ENCODING);
    let bodiless = matches!(status.as_u16(), 100..=199 | 204 | 304);
    match announced {
        Some(announced) => {
            while body.len() < announced {
                more(stream, &mut body).await?;
            }
            body.truncate(announced);
        }
        None if bodiless => body.clear(),
        None if chunked => {
            while find(&body, b"0\r\n\r\n").is_none() {
                more(stream, &mut body).await?;
            }
            body = unchunked(&body);
        }
        None => while more(stream, &mut body).await.is_ok() {},
    }
    let body = out_of_stream(&headers, &Bytes::from(body));
    Ok(ResponseBody { status, headers, body, took: began.elapsed() })
}

async fn more(stream: &mut Box<dyn Stream>, bytes: &mut Vec<u8>) -> Result<(), NoResponse> {
    if bytes.len() > MAX_RAW {
        return Err(NoResponse::TooLong);
    }
    match stream.read_buf(bytes).await? {
        0 => Err(NoResponse::Broken(String::from("the connection was closed"))),
        _ => Ok(()),
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

fn parse_head(head: &[u8]) -> Result<(http::StatusCode, HeaderMap), NoResponse> {
    let not_http = || NoResponse::Broken(String::from("the answer is not HTTP"));
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let version = first.next().filter(|version| version.starts_with("HTTP/1.")).ok_or_else(not_http)?;
    let status = first.next().and_then(|status| status.parse().ok()).ok_or_else(not_http)?;
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if let (Ok(name), Ok(value)) = (name.trim().parse::<HeaderName>(), HeaderValue::from_str(value.trim())) {
            headers.append(name, value);
        }
    }
    if version == "HTTP/1.0" {
        headers.insert("x-http-1-0", HeaderValue::from_static("1"));
    }
    Ok((status, headers))
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(rest.len());
    while let Some(end) = find(rest, b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let Some(size) = size.filter(|size| *size > 0 && end + 2 + size <= rest.len()) else { break };
        whole.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    whole
}
