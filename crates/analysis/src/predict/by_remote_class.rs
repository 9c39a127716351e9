//! Decides the candidates of a whole set, where possible all those together that differ only in the remote access: those that orders and
//! locks refute, and those of a class that is done.

use super::{Chunk, Judge, Run, Slot, SolverWorkers};
use crate::candidates::{AccessLocation, Candidates, Class, Pair};
use crate::filters::{Filters, RemoteClass, RemoteClasses, SCREENS, ScreenedAccesses};
use crate::options::Per;
use crate::predict::Refuted;
use foretrace_trace::Triple;

/// What is not allocated again for each pair.
#[derive(Default)]
struct Scratch<'b, 'f> {
    /// Filters of the trace with open tries, where it has some.
    on_every_path: Option<&'f Filters<'f>>,
    wanted: Vec<&'b RemoteClass>,
    parts: Vec<ScreenedAccesses<'b>>,
    pieces: Vec<ScreenedAccesses<'b>>,
}

impl<'r> Run<'r, '_> {
    /// All candidates of the set that the options name.
    pub(super) fn by_remote_class(
        &mut self,
        candidates: &Candidates<'_>,
        workers: &mut SolverWorkers<'_, '_, '_>,
    ) -> anyhow::Result<()> {
        // Where tries are open, what locks and orders forbid is not yet impossible.
        let apart = workers.apart.filter(|_| self.context.view.trace_index.has_tries);
        let on_every_path = apart.map(|apart| apart.free_filters());
        let remote_classes = on_every_path.unwrap_or(&self.filters).remote_classes();
        let size = self.chunk_size();
        let (mut chunk, mut scratch) = (Chunk::default(), Scratch { on_every_path, ..Scratch::default() });
        let mut pairs = candidates.all_pairs(self.context.options.candidates);
        while self.context.limits().reached().is_none() {
            let Some(pair) = pairs.next() else { break };
            self.pair(pair, &remote_classes, &mut scratch, &mut chunk);
            if chunk.slots.len() >= size {
                self.settle(&mut chunk, workers, None)?;
            }
        }
        self.settle(&mut chunk, workers, None)?;
        self.totals.unreached = self.progress.candidates.saturating_sub(self.progress.done);
        Ok(())
    }

    /// Takes the candidates of a pair through the filters, up to where the run is to stop.
    fn pair<'b>(
        &mut self,
        pair: Pair,
        remote_classes: &'b RemoteClasses,
        scratch: &mut Scratch<'b, '_>,
        chunk: &mut Chunk<'b>,
    ) {
        let Scratch { on_every_path, wanted, parts, pieces } = scratch;
        let judge = if on_every_path.is_some() { Filters::judge } else { Filters::judge_left };
        wanted.clear();
        for remote_class in remote_classes.paired_with(pair) {
            if self.is_remote_class_done(pair, remote_class) {
                self.skip(remote_class.accesses().len());
            } else {
                wanted.push(remote_class);
            }
        }
        let times = on_every_path.unwrap_or(&self.filters).judge_remote_classes(pair, wanted.iter().copied(), parts);
        for (decider, time) in SCREENS.into_iter().zip(times) {
            if parts.iter().any(|part| part.refuted_by == Some(decider)) {
                self.counted.tally(decider).time += time;
            }
        }
        self.pieces(parts, pieces);
        for piece in pieces {
            if self.context.limits().reached().is_some() {
                return;
            }
            self.piece(pair, piece, judge, chunk);
        }
    }

    fn is_remote_class_done(&self, pair: Pair, remote_class: &RemoteClass) -> bool {
        let Some(place) = remote_class.place().filter(|_| self.context.options.per == Per::Location) else {
            return false;
        };
        let remote = AccessLocation::Loc(place);
        let trace = self.context.view.trace;
        let [first, second] = [pair.first, pair.second].map(|event| AccessLocation::of_event(trace, event));
        let triple = Triple { first: pair.first, remote: pair.first, second: pair.second };
        let block = self.context.class(triple).block;
        self.classes.get(&Class { first, remote, second, block }) == Some(&true)
    }

    fn skip(&mut self, count: usize) {
        self.totals.skipped += count as u64;
        self.tick(count as u64);
    }

    /// Parts as they go on: what is open one by one, and all that a sink wants to hear of by itself; in the order of the
    /// first candidate of each.
    fn pieces<'b>(&self, parts: &[ScreenedAccesses<'b>], pieces: &mut Vec<ScreenedAccesses<'b>>) {
        pieces.clear();
        let together = self.sink.takes_refuted();
        for part in parts {
            if together && part.refuted_by.is_some() && part.remote_class.place().is_some() {
                pieces.push(*part);
            } else {
                pieces.extend(
                    part.accesses.iter().map(|one| ScreenedAccesses { accesses: std::slice::from_ref(one), ..*part }),
                );
            }
        }
        pieces.sort_unstable_by_key(|piece| piece.accesses[0]);
    }

    fn piece<'b>(&mut self, pair: Pair, piece: &ScreenedAccesses<'b>, judge: Judge<'r>, chunk: &mut Chunk<'b>) {
        let Pair { first, second, .. } = pair;
        let triple = Triple { first, remote: piece.accesses[0], second };
        let slot = match piece.refuted_by {
            None => self.filter(triple, judge),
            Some(_) if self.is_done(self.context.class(triple)) => {
                return self.skip(piece.accesses.len());
            }
            Some(by) => Slot::Refuted(Refuted { first, second, remotes: piece.accesses, by }),
        };
        chunk.push(triple, slot);
        self.tick(piece.accesses.len() as u64);
    }

    /// Counts what was refuted together, and hands it on.
    pub(super) fn hand_on(&mut self, refuted: &Refuted<'_>) -> anyhow::Result<()> {
        self.counted.count_refuted(refuted.by, refuted.remotes.len() as u64);
        if self.sink.takes_refuted() {
            self.sink.refuted(refuted);
            return Ok(());
        }
        self.sink.decision(&refuted.decision(self.context.view.trace))
    }
}
