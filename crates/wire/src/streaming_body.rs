//! An answer that lasts: its request is being answered as long as its body is, so that a viewer who watches for an hour is not
//! taken for one who went away.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::io_timeout::RequestActivity;
use crate::pages;

/// A body that ends its turn when it ends.
pub(crate) struct StreamingBody {
    body: pages::Body,
    turn: RequestActivity,
}

impl StreamingBody {
    /// `turn` has begun, and ends with `body`.
    pub(crate) fn new(body: pages::Body, turn: RequestActivity) -> Self {
        Self { body, turn }
    }
}

impl Body for StreamingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for StreamingBody {
    fn drop(&mut self) {
        self.turn.begin_or_end();
    }
}
