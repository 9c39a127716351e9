//! A solver's session that answers many questions, and begins again when it has grown too large for them.

use foretrace_solve::{Answer, Session};

/// A session begins again when its cone has this many times the events that its first question needed.
const GROWTH: usize = 4;

/// A session, which is made when it is first needed.
#[derive(Default)]
pub(crate) struct KeptSession<'a> {
    session: Option<Session<'a>>,
    /// The events that its first question needed.
    begun_with: usize,
}

impl<'a> KeptSession<'a> {
    /// Has the session decide something; `make` makes one where there is none.
    pub(crate) fn ask(
        &mut self,
        make: impl FnOnce() -> Session<'a>,
        decide: impl FnOnce(&mut Session<'a>) -> Answer,
    ) -> Answer {
        let session = self.session.get_or_insert_with(make);
        let answer = decide(session);
        let (size, usable) = (session.encoder().cone_size(), session.is_usable());
        if self.begun_with == 0 {
            self.begun_with = size;
        }
        if !usable || size > GROWTH * self.begun_with {
            *self = KeptSession::default();
        }
        answer
    }

    /// The session, if there is one now.
    pub(crate) fn current(&mut self) -> Option<&mut Session<'a>> {
        self.session.as_mut()
    }
}
