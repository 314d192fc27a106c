"""Searching by meaning: text and vectors together, and text alone when the endpoint is down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .access import owner_of
from .chunks import Chunk, chunks_of
from .disk import Stamp
from .errors import WorkspaceError
from .index_db import Row
from .names import Parts, parse, text_of
from .paths import INDEX_DIR
from .search import Hits, finish
from .text import decode
from .vector_db import Damaged, InUse, Near, VectorDb

if TYPE_CHECKING:
    from .view import View
    from .workspace import Workspace

type Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]

VECTOR_SHARE = 0.7
TEXT_SHARE = 0.3
_BATCH = 32
_CANDIDATES = 50
DOWN = "[Searched by words only: the embeddings endpoint does not answer.]"


class _Read(NamedTuple):
    """One file on its way to its vectors."""

    parts: Parts
    stamp: Stamp
    chunks: list[Chunk]


class SemanticSearch:
    """Searches a workspace by words and by meaning.

    embed: turns texts into vectors, one each; any exception means that it is down.
    model: names the vectors, so that another model's are not mixed with them.
    deadline_s: how long one call of ``embed`` may take.
    """

    def __init__(
        self, workspace: Workspace, embed: Embed, model: str, deadline_s: float = 10.0
    ) -> None:
        self._workspace = workspace
        self._embed = embed
        self._deadline_s = deadline_s
        self._db = VectorDb(workspace.root / INDEX_DIR, model)
        self._told = False

    async def update(self, most: int | None = None) -> int:
        """Make the vectors of new and changed files, at most ``most``; return how many are left.

        Raises what ``embed`` raises, TimeoutError included.
        """
        todo, gone = await asyncio.to_thread(self._compare)
        if gone:
            await asyncio.to_thread(self._guarded, self._db.drop, gone)
        wanted = todo if most is None else todo[:most]
        batch: list[_Read] = []
        for path in wanted:
            read = await asyncio.to_thread(self._read, path)
            if read is not None:
                batch.append(read)
            if sum(len(one.chunks) for one in batch) >= _BATCH:
                await self._store(batch)
                batch = []
        await self._store(batch)
        return len(todo) - len(wanted)

    async def search(
        self, view: View, query: str, path: str | None = None, limit: int = 8
    ) -> Hits:
        """Return the places that fit a question best, by 0.7 x meaning and 0.3 x words."""
        if path and parse(path, self._workspace.limits)[:1] == ("sessions",):
            return await asyncio.to_thread(view.search, query, path, limit)
        try:
            vector = (await self._vectors([query]))[0]
        except Exception:  # noqa: BLE001  whatever the endpoint does, words still find
            hits = await asyncio.to_thread(view.search, query, path, limit)
            if not self._told:
                self._told = True
                hits.notice = DOWN
            return hits
        self._told = False
        return await asyncio.to_thread(self._search, view, query, path, limit, vector)

    def close(self) -> None:
        """Close the vectors' file."""
        self._db.close()

    async def _vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        async with asyncio.timeout(self._deadline_s):
            vectors = await self._embed(texts)
        if len(vectors) != len(texts):
            raise ValueError("the endpoint answered with another number of vectors")
        return vectors

    async def _store(self, batch: Sequence[_Read]) -> None:
        """Make and keep the vectors of some files, in as few calls as their sizes allow."""
        texts = [chunk.text for read in batch for chunk in read.chunks]
        vectors: list[Sequence[float]] = []
        for at in range(0, len(texts), _BATCH):
            vectors += await self._vectors(texts[at : at + _BATCH])
        at = 0
        for read in batch:
            count = len(read.chunks)
            values = (
                text_of(read.parts),
                owner_of(read.parts),
                read.stamp,
                read.chunks,
                vectors[at : at + count],
            )
            await asyncio.to_thread(self._guarded, self._db.put, *values)
            at += count

    def _read(self, path: str) -> _Read | None:
        """Read a file; the pieces after the first are told which file they are of."""
        workspace = self._workspace
        try:
            parts = parse(path, workspace.limits)
            data, stamp = workspace.tree.read(parts, workspace.limits.document_bytes)
            chunks = chunks_of(decode(data, path))
        except WorkspaceError:
            return None
        name = parts[-1].rsplit(".", 1)[0].replace("-", " ").replace("_", " ")
        named = chunks[:1] + [
            replace(chunk, text=f"{name}\n{chunk.text}") for chunk in chunks[1:]
        ]
        return _Read(parts, stamp, named)

    def _compare(self) -> tuple[list[str], list[str]]:
        """Return the files that need vectors, and those that are gone."""
        self._workspace.index.refresh(5.0)
        known = self._workspace.index.stamps()
        try:
            have = self._db.stamps()
        except Damaged:
            self._db.remove()
            have = {}
        except InUse:
            return [], []
        todo = [path for path, stamp in known.items() if have.get(path) != stamp]
        return todo, [path for path in have if path not in known]

    def _search(
        self,
        view: View,
        query: str,
        path: str | None,
        limit: int,
        vector: Sequence[float],
    ) -> Hits:
        """Put both results together and show them as any search does."""
        parts = view.place(path) if path else ()
        rows, pending = self._workspace.index.find(
            query, view.speaker.person, parts, limit
        )
        owners = [""] if view.speaker.person is None else ["", view.speaker.person]
        near: list[Near] = []
        without: set[str] = set()
        try:
            without = self._db.missing({row.path for row in rows})
            near = self._db.nearest(
                vector, owners, text_of(parts) if parts else "", _CANDIDATES
            )
        except Damaged:
            self._db.remove()
        except InUse:
            pass
        hits = finish(
            self._workspace,
            view.speaker,
            combined(rows, near, without),
            query,
            parts,
            limit,
        )
        hits.pending = pending
        return hits

    def _guarded(self, action: Callable[..., None], *values: object) -> None:
        try:
            action(*values)
        except Damaged:
            self._db.remove()
        except InUse:
            return


def combined(
    rows: Sequence[Row], near: Sequence[Near], without: Collection[str] = ()
) -> list[Row]:
    """Return the best place of each file, scored by 0.7 x vector + 0.3 x text, best first.

    Both are brought to 0..1 within this answer: cosines of different models lie differently.
    without: files that have no vectors yet; of those only the words are known, and count wholly.
    """
    best_text = max((row.score for row in rows), default=0.0)
    high = max((one.cosine for one in near), default=0.0)
    low = min((one.cosine for one in near), default=0.0)
    places: dict[str, Row] = {}
    text: dict[str, float] = {}
    meaning: dict[str, float] = {}
    for row in rows:
        places.setdefault(row.path, row)
        share = max(0.0, row.score / best_text) if best_text > 0 else 0.0
        text[row.path] = max(text.get(row.path, 0.0), share)
    for one in near:
        places.setdefault(
            one.path,
            Row(one.path, "", one.start, one.stop, "", 0.0, one.mtime_ns, one.size),
        )
        share = (one.cosine - low) / (high - low) if high > low else 1.0
        meaning[one.path] = max(meaning.get(one.path, 0.0), share)
    for path in without:
        meaning[path] = text.get(path, 0.0)
    found = [
        row._replace(
            score=VECTOR_SHARE * meaning.get(path, 0.0)
            + TEXT_SHARE * text.get(path, 0.0)
        )
        for path, row in places.items()
    ]
    return sorted(found, key=lambda row: -row.score)
