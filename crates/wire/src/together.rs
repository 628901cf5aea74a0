//! Several futures at once, in one task: the parts of a batch.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Runs all of `futures` together; the results are in their order.
pub(crate) async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Result<F::Output, Pin<Box<F>>>> =
        futures.into_iter().map(|future| Err(Box::pin(future))).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for place in &mut running {
            if let Err(future) = place {
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => *place = Ok(output),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    running.into_iter().filter_map(Result::ok).collect()
}
