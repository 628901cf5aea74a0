//! A small HTTP client: one connection for each request, as most of these agents have.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

const LIMIT: Duration = Duration::from_secs(40);

#[derive(Clone, Debug)]
pub struct Posted {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl Posted {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, or the last event of a stream; null if it is neither.
    pub fn json(&self) -> Value {
        let mut events = self.text.lines().filter_map(|line| line.strip_prefix("data:"));
        let text = events.next_back().unwrap_or(&self.text);
        serde_json::from_str(text.trim()).unwrap_or_default()
    }
}

pub async fn post(url: &str, headers: &[(&str, &str)], body: &Value) -> io::Result<Posted> {
    tokio::time::timeout(LIMIT, exchange(url, headers, body.to_string())).await.map_err(io::Error::from)?
}

async fn exchange(url: &str, headers: &[(&str, &str)], body: String) -> io::Result<Posted> {
    let odd = || io::Error::new(io::ErrorKind::InvalidInput, format!("{url} is no http URL"));
    let rest = url.strip_prefix("http://").ok_or_else(odd)?;
    let (host, path) = rest.find('/').map_or((rest, "/"), |slash| rest.split_at(slash));
    let stream = TcpStream::connect(host).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let driver = tokio::spawn(connection);
    let mut request = Request::post(path).header("host", host).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(io::Error::other)?;
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = answer.status().as_u16();
    let named = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = answer.headers().iter().map(named).collect();
    let body = answer.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    driver.abort();
    Ok(Posted { status, headers, text: String::from_utf8_lossy(&body).into_owned() })
}
