"""Group commit: many participants' answers in one database transaction.

An answer is acknowledged when it is on the disk, so that a participant who sees the next page never
loses the last one. A database reaches the disk at every commit, and a commit takes milliseconds,
however little it writes. One commit per answer therefore limits a server to some hundreds of
answers per second, and fewer on a slow disk. Group commit lets the answers that arrive during one
commit share the next.

How a submitted page passes through:

1. `write_queue.WriteQueue` puts the work into a queue and returns a future. The first piece of work
   in an empty queue makes a thread its leader; the leader takes up to 64 pieces, at most one per
   participant, does them in one transaction, commits, and resolves their futures. It goes on until
   the queue is empty.
2. `batches.Batch` is that transaction. The rows of all its participants are read by two statements
   before the first of them is served, and what they change is written by a few statements at the
   end, because a statement costs more than a row. Work that needs the database itself gets the
   connection with all changes written.
3. `current_places` gives a batch the places of a study once. A claim of a place sees the claims
   before it in the same batch, because each of them adds its own to what is known.
4. `waiting.Waiting` lets requests wait in the event loop instead of a thread each. All requests of
   a batch are woken by one call, because waking the loop costs a system call.
5. `web.pages.NextPages` keeps the page that the transaction found to come next, for the request
   that follows within seconds, so that it does not read the database again.

What keeps it correct:

- A piece of work that fails does not fail the others: the batch is rolled back and done again
  without it, and the failed piece is done alone, so that its error is its own.
- SQLite has one writer, so there is one queue. On PostgreSQL there are two: work that locks the
  study (claims of places) and work that locks only its participant's row. The first takes the
  study's lock before any other, and participants are locked in one order, so that no two
  transactions wait for each other.
- Work may be done more than once before it is committed, so it must not have effects outside the
  transaction. `Saved` is returned after the commit.
- Several server processes each have their own queue; the database's locks order them.

`bench/study.py` measures what it gains.
"""
