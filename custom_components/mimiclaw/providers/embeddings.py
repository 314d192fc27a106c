"""Vectors for the search by meaning, from any server that speaks OpenAI's API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .factory import tidy_url

if TYPE_CHECKING:
    import openai

#: A batch of chunks on a small machine in the house takes a while.
_DEADLINE_S: Final = 30.0
_NO_KEY: Final = "none"


@dataclass(frozen=True, slots=True)
class EmbeddingsConfig:
    """Where the vectors come from; model and address belong together."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)


class Embeddings:
    """Asks one server for vectors. Raises what the SDK raises."""

    def __init__(self, client: openai.AsyncOpenAI, model: str) -> None:
        """Take a client that was made off the event loop."""
        self._client = client
        self.model = model

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text, in order."""
        answer = await self._client.embeddings.create(
            model=self.model, input=list(texts), encoding_format="float"
        )
        ordered = sorted(answer.data, key=lambda one: one.index)
        return [list(one.embedding) for one in ordered]

    async def aclose(self) -> None:
        """Give up connections."""
        await self._client.close()


async def create_embeddings(config: EmbeddingsConfig) -> Embeddings:
    """Return the client of a configuration; nothing is asked yet."""

    def build() -> Any:
        import openai

        return openai.AsyncOpenAI(
            api_key=config.api_key or _NO_KEY,
            base_url=tidy_url("openai", config.base_url),
            max_retries=0,
            timeout=_DEADLINE_S,
        )

    # Importing an SDK and reading the machine's certificates takes a second.
    return Embeddings(await asyncio.to_thread(build), config.model)
