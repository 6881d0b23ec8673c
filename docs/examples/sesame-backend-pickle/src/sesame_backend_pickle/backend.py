"""The write half, and the backend, which opens both halves."""

from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime

from sesame_core import StoredSession
from sesame_core.sdk import ingest

from .reader import Reader
from .storage import Entry, Index, Storage
from .words import stems


class Writer:
    """Changes an index, which is saved later.  Arguments and results belong to the callers, so they are copied."""

    def __init__(self, index):
        self._index = index

    def files(self):
        return deepcopy(self._index.files)

    def file(self, path):
        return deepcopy(self._index.files.get(path))

    def file_sessions(self, path):
        return [deepcopy(entry.stored.session) for entry in self._index.of_file(path)]

    def replace(self, file, content):
        return self._store(file, content, kept=[])

    def append(self, file, content):
        return self._store(file, content, kept=self._index.of_file(file.path))

    def _store(self, file, content, kept):
        index, added = self._index, []
        targets = {e.stored.session.id: ingest.Target(e.stored.number, len(e.chunks), is_stored=True) for e in kept}

        def made(session):
            is_forgotten = not index.forgotten.isdisjoint(ingest.lineage(session.id))
            index.last_number += 1
            return ingest.Target(None if is_forgotten else index.last_number)

        positions = ingest.place(content, targets, made, lambda target, *chunk: added.append((target.number, *chunk)))
        # The content has ended without an error, and nothing has changed so far.
        for entry in index.of_file(file.path):
            if entry not in kept:
                del index.entries[entry.stored.number]
        for target in targets.values():
            if target.number is not None and target.session is not None:
                stored = StoredSession(number=target.number, session=deepcopy(target.session), path=file.path)
                index.entries.setdefault(target.number, Entry(stored)).stored = stored
        for number, chunk, seq in added:
            index.entries[number].chunks.append(replace(chunk, seq=seq))
            # The empty stem ends each phrase: none spans the text and its subwords.
            index.entries[number].documents.append((*stems(chunk.text), "", *stems(chunk.subwords)))
        self._set_file(ingest.as_stored(file, targets.values()))
        return positions

    def update_files(self, files):
        for file in files:
            known = self._index.files.get(file.path)
            keeps = known is not None and file.checkpoint is None
            self._set_file(replace(file, checkpoint=known.checkpoint) if keeps else file)

    def _set_file(self, file):
        self._index.files[file.path] = deepcopy(file)
        for entry in self._index.of_file(file.path):
            entry.stored.missing_since = file.missing_since
            entry.stored.chunk_count = len(entry.chunks)

    def delete_file(self, path):
        self._index.files.pop(path, None)
        return self._delete(self._index.of_file(path))

    def forget(self, number):
        if number not in self._index.entries:
            return 0
        id = self._index.entries[number].stored.session.id
        self._index.forgotten.add(id)
        family = [e for e in self._index.entries.values() if id in ingest.lineage(e.stored.session.id)]
        for entry in family:
            self._index.files[entry.stored.path].drop_content()
        return self._delete(family)

    def _delete(self, entries):
        return sum(len(self._index.entries.pop(entry.stored.number).chunks) for entry in entries)

    def finish(self, *, synced_at):
        self._index.last_sync = synced_at or self._index.last_sync


class PickleBackend:
    def __init__(self, path):
        self._storage = Storage(path)

    def reader(self):
        return Reader(self._storage)

    @contextmanager
    def writer(self):
        with self._storage.lock():
            index = self._storage.load()
            try:
                yield Writer(index)
            finally:  # a run that fails keeps the files that it has finished
                self._storage.save(index)

    @contextmanager
    def rebuild(self, wrap=None):
        with self._storage.lock():
            old = self._storage.load()
            new = Index(forgotten=old.forgotten)
            writer = wrap(Writer(new)) if wrap else Writer(new)
            yield writer
            for path, file in old.files.items():
                failed = new.files.get(path)
                if ingest.is_carried_over(path, failed):
                    gone = replace(file, missing_since=file.missing_since or datetime.now(UTC))
                    writer.replace(file, (item for e in old.of_file(path) for item in (e.stored.session, *e.chunks)))
                    writer.update_files([failed or gone])
            self._storage.save(new)

    def close(self):
        pass
