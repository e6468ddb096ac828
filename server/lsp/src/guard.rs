//! What tower-lsp 0.20 has to be guarded against.
//!
//! * Order: a handler is polled once in the order of the wire, so that what it posts before its first await is in order.
//! * `exit` while standard input stays open: the framework would wait for ever.
//! * A panic in a handler would end the process: it becomes an error answer.
//! * `params: null` where a method takes none is refused: they are left out.
//! * Handlers that wait for the client would fill the framework's few places, `$/cancelRequest` included: none does, see
//!   [`crate::transport`], where requests to the client are detached.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt as _;
use tower_lsp::jsonrpc::{Error, Request, Response};
use tower_service::Service;

use crate::mail::{Mail, Mailbox};

/// The framework's service, made safe.
pub struct Guard<S> {
    pub inner: S,
    pub mailbox: Mailbox,
}

type Answer<E> = Pin<Box<dyn Future<Output = Result<Option<Response>, E>> + Send>>;

impl<S> Service<Request> for Guard<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + Unpin + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let request = without_null(request);
        let id = request.id().cloned();
        if request.method() == "exit" {
            self.mailbox.post(Mail::Exit);
            return Box::pin(async { Ok(None) });
        }
        let failed = move |panic: Box<dyn Any + Send>| {
            drop(panic);
            Ok(id.map(|id| Response::from_error(id, Error::internal_error())))
        };
        let mut answer = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
        // The first poll happens here, in the order of the wire. A later one brings the waker that counts.
        let first = catch_unwind(AssertUnwindSafe(|| answer.poll_unpin(&mut Context::from_waker(Waker::noop()))));
        match first {
            Ok(Poll::Ready(Ok(answer))) => Box::pin(async { answer }),
            Ok(Poll::Ready(Err(panic))) | Err(panic) => Box::pin(async { failed(panic) }),
            Ok(Poll::Pending) => Box::pin(async move { answer.await.unwrap_or_else(failed) }),
        }
    }
}

/// Clients write `"params": null` where a method has none; the framework refuses that, `shutdown` included.
fn without_null(request: Request) -> Request {
    if request.params().is_none_or(|params| !params.is_null()) {
        return request;
    }
    let (method, id, _) = request.into_parts();
    let plain = Request::build(method);
    match id {
        Some(id) => plain.id(id).finish(),
        None => plain.finish(),
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// Answers what the test says, and tells in which order it was polled.
    struct Inner {
        polled: std::sync::mpsc::Sender<String>,
    }

    impl Service<Request> for Inner {
        type Response = Option<Response>;
        type Error = ();
        type Future = Answer<()>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Answer<()> {
            let polled = self.polled.clone();
            Box::pin(async move {
                polled.send(request.method().to_owned()).unwrap();
                match request.method() {
                    "panics" => panic!("a handler"),
                    "waits and panics" => {
                        tokio::task::yield_now().await;
                        panic!("a handler, later")
                    }
                    _ => ready(Ok(request.id().map(|id| Response::from_ok(id.clone(), 1.into())))).await,
                }
            })
        }
    }

    fn guard() -> (Guard<Inner>, Receiver<String>, Receiver<Mail>) {
        let (polled, order) = channel();
        let (mailbox, mail) = Mailbox::new();
        (Guard { inner: Inner { polled }, mailbox }, order, mail)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn handlers_begin_in_the_order_of_the_wire_even_when_nobody_polls_them() {
        let (mut guard, order, _mail) = guard();
        let names: Vec<String> = (0..50).map(|number| format!("n{number}")).collect();
        let answers: Vec<_> = names.iter().map(|name| guard.call(Request::build(name.clone()).finish())).collect();
        assert_eq!(order.try_iter().collect::<Vec<_>>(), names);
        drop(answers);
    }

    #[test]
    fn a_panic_at_once_or_later_is_an_error_answer() {
        let (mut guard, _order, _mail) = guard();
        for name in ["panics", "waits and panics"] {
            let answer = block_on(guard.call(Request::build(name).id(7).finish())).unwrap().unwrap();
            assert_eq!(answer.error(), Some(&Error::internal_error()), "{name}");
        }
        let answer = block_on(guard.call(Request::build("fine").id(8).finish())).unwrap().unwrap();
        assert!(answer.is_ok());
    }

    #[test]
    fn null_is_no_parameter() {
        let request = without_null(Request::build("shutdown").id(1).params(serde_json::Value::Null).finish());
        assert_eq!((request.method(), request.id(), request.params()), ("shutdown", Some(&1.into()), None));
    }

    #[test]
    fn exit_is_a_mail_and_never_reaches_the_framework() {
        let (mut guard, order, mail) = guard();
        assert_eq!(block_on(guard.call(Request::build("exit").finish())), Ok(None));
        assert!(matches!(mail.try_recv(), Ok(Mail::Exit)));
        assert!(order.try_recv().is_err());
    }
}
