"""Several providers in order: who answers, and who takes over when one fails.

What a listener hears: as long as nothing was said, the next provider answers and the
reply says so. A reply that breaks off in the middle is begun anew by the next one,
after a notice: half a sentence is worth less than a whole one twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import logging
import time
from typing import TYPE_CHECKING, Final

from .protocol import (
    FAILOVER_KINDS,
    ErrorKind,
    Event,
    Provider,
    ProviderConfig,
    ProviderError,
    Request,
    Switched,
    TextDelta,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

_LOGGER = logging.getLogger(__name__)

#: Failures in a row after which a provider is left alone for a while.
_FAILURES_TO_OPEN: Final = 2

#: Seconds it is left alone at first; doubled with every failed trial, up to the last.
_FIRST_REST_S: Final = 30.0
_LONGEST_REST_S: Final = 600.0


@dataclass(slots=True)
class Breaker:
    """Keeps a failing provider from being asked at every turn.

    Closed: it is asked. Open: it is not, until `until`. Then one request is let
    through on trial, and closes the breaker or opens it for twice as long.
    """

    failures: int = 0
    until: float = 0.0
    rest_s: float = _FIRST_REST_S
    on_trial: bool = False
    error: ProviderError | None = None
    announced: bool = False

    def lets_through(self, now: float) -> bool:
        """Return whether the provider may be asked at `now`."""
        return now >= self.until and not self.on_trial

    def begin(self) -> None:
        """Note that the provider is asked."""
        self.on_trial = self.until > 0.0

    def succeed(self) -> None:
        """Note that it answered."""
        self.failures = 0
        self.until = 0.0
        self.rest_s = _FIRST_REST_S
        self.on_trial = False
        self.error = None
        self.announced = False

    def fail(self, now: float, error: ProviderError) -> None:
        """Note that it failed."""
        trial = self.on_trial
        self.on_trial = False
        self.failures += 1
        self.error = error
        if error.retry_after_s is not None:
            self.until = now + min(error.retry_after_s, _LONGEST_REST_S)
        elif error.kind is ErrorKind.QUOTA:
            # Nothing mends a quota within a minute.
            self.until = now + _LONGEST_REST_S
        elif trial or self.failures >= _FAILURES_TO_OPEN:
            if trial:
                self.rest_s = min(self.rest_s * 2, _LONGEST_REST_S)
            self.until = now + self.rest_s


class ProviderChain:
    """An ordered list of providers that is itself a provider.

    `clock` returns seconds that never run backwards.
    """

    def __init__(
        self, providers: Sequence[Provider], clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not providers:
            raise ValueError("a chain needs a provider")
        self._providers = list(providers)
        self._breakers = {id(provider): Breaker() for provider in providers}
        self._active = self._providers[0]
        self._clock = clock

    @property
    def config(self) -> ProviderConfig:
        """The configuration of the provider that is asked first."""
        return self._active.config

    @property
    def names(self) -> list[str]:
        """The providers' names, in order."""
        return [provider.config.name for provider in self._providers]

    @property
    def active(self) -> str:
        """The name of the provider that is asked first."""
        return self._active.config.name

    def config_of(self, name: str) -> ProviderConfig:
        """Return the configuration of a provider by name; the active one's if unknown."""
        for provider in self._providers:
            if provider.config.name == name:
                return provider.config
        return self.config

    def switch(self, name: str) -> None:
        """Ask this provider first from the next request on. Raises KeyError."""
        for provider in self._providers:
            if provider.config.name == name:
                self._active = provider
                # Somebody chose it: what it did before is no reason to pass it over.
                self._breakers[id(provider)].succeed()
                return
        raise KeyError(name)

    def resting(self) -> list[str]:
        """Return the names of those who are passed over for now."""
        now = self._clock()
        return [
            provider.config.name
            for provider in self._providers
            if not self._breakers[id(provider)].lets_through(now)
        ]

    async def stream(self, request: Request) -> AsyncGenerator[Event]:
        """Yield the events of one answer, whoever gives it.

        `Switched` comes before the first event of anybody but the active provider.
        Raises ProviderError, the first one's if all fail.
        """
        order = self._order()
        errors: list[ProviderError] = []
        said = False
        for provider in order:
            if provider is not self._active:
                yield self._switched(provider, errors, restarted=said)
                said = False
            last = provider is order[-1]
            breaker = self._breakers[id(provider)]
            breaker.begin()
            answer = provider.stream(request if last else replace(request, retries=0))
            failure: ProviderError | None = None
            try:
                async for event in answer:
                    said = said or isinstance(event, TextDelta)
                    yield event
                breaker.succeed()
            except ProviderError as err:
                failure = err
                breaker.fail(self._clock(), err)
            finally:
                breaker.on_trial = False
                await answer.aclose()
            if failure is None:
                return
            errors.append(failure)
            mendable = failure.kind in FAILOVER_KINDS or provider is not self._active
            if last or not mendable:
                break
            _LOGGER.warning("%s; another provider is asked", failure)
        raise errors[0]

    def _switched(
        self, provider: Provider, errors: Sequence[ProviderError], *, restarted: bool
    ) -> Switched:
        breaker = self._breakers[id(self._active)]
        error = errors[0] if errors else breaker.error
        if error is None:
            error = ProviderError(ErrorKind.OVERLOAD, self.active)
        announce = not breaker.announced
        breaker.announced = True
        return Switched(
            provider.config.name, provider.config.model, error, restarted, announce
        )

    def _order(self) -> list[Provider]:
        """Return who is asked, in turn: the active one first, without those at rest."""
        everybody = [
            self._active,
            *(provider for provider in self._providers if provider is not self._active),
        ]
        now = self._clock()
        awake = [p for p in everybody if self._breakers[id(p)].lets_through(now)]
        # Better to ask one that may fail than to refuse.
        return awake or [min(everybody, key=lambda p: self._breakers[id(p)].until)]

    async def check(self) -> None:
        """Check the active provider. Raises ProviderError."""
        await self._active.check()

    async def aclose(self) -> None:
        """Give up all connections."""
        for provider in self._providers:
            await provider.aclose()
