//! The HTTP server of an agent: its [`HttpHandler`] answers, and every request is logged.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_server::{HttpReply, HttpRequest, HttpServer, ReservedPort, ServerFaults, Then};
use crate::request_log::{LoggedRequest, RequestLog};

#[derive(Clone, Debug)]
pub(crate) struct AgentRequest {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl AgentRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HttpResponse {
    /// 0 closes the connection without an answer.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
    pub(crate) then: Then,
    pub(crate) kind: String,
    pub(crate) message: Value,
    pub(crate) refused: Option<String>,
}

impl HttpResponse {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", String::from("application/json"))];
        Self { status, headers, body: body.to_string(), ..Self::default() }
    }

    pub(crate) fn about(self, kind: &str, message: &Value) -> Self {
        Self { kind: kind.to_owned(), message: message.clone(), ..self }
    }

    pub(crate) fn refusing(self, why: impl Into<String>) -> Self {
        Self { refused: Some(why.into()), ..self }
    }

    pub(crate) fn plainly(status: u16, why: &str) -> Self {
        Self { status, body: why.to_owned(), ..Self::default() }.refusing(why)
    }
}

pub(crate) trait HttpHandler: Send + Sync + 'static {
    fn log(&self) -> &RequestLog;

    fn answer(&self, request: AgentRequest) -> impl Future<Output = HttpResponse> + Send;

    fn keeps_connections(&self) -> bool {
        true
    }
}

/// Refuses connections until `delay` has passed.
pub(crate) fn open<H: HttpHandler>(port: ReservedPort, delay: Duration, handler: Arc<H>) -> io::Result<HttpServer> {
    port.serve_after(delay, ServerFaults::default(), move |request| {
        let handler = Arc::clone(&handler);
        async move { serve(&*handler, request).await }
    })
}

async fn serve(handler: &impl HttpHandler, request: HttpRequest) -> HttpReply {
    let body = request.json();
    let HttpRequest { method, path, headers, .. } = request;
    let response = match (method.as_str(), body.is_null()) {
        ("POST", false) => {
            handler.answer(AgentRequest { path: path.clone(), headers: headers.clone(), body: body.clone() }).await
        }
        ("POST", true) => {
            let error = json!({"code": -32700, "message": "Parse error"});
            HttpResponse::json(400, &json!({"jsonrpc": "2.0", "error": error, "id": null})).refusing("not JSON")
        }
        (_, _) => HttpResponse::plainly(405, "Method Not Allowed"),
    };
    let HttpResponse { status, headers: back, body: answer, then, kind, message, refused } = response;
    let logged = LoggedRequest { path, headers, body, kind, message, refused, status, answer: answer.clone() };
    handler.log().note(logged);
    let closes = then == Then::KeepOpen && !handler.keeps_connections();
    HttpReply { status, headers: back, body: answer.into_bytes(), then: if closes { Then::Close } else { then } }
}
