"""An endpoint that speaks OpenAI's protocol over HTTP: one request per call, every answer named for what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import aiohttp
import openai

from dsqa.endpoints.adapt import Adapter
from dsqa.endpoints.classify import ErrorContext, classify_response, status_of_error
from dsqa.endpoints.client import Address, request_headers
from dsqa.endpoints.dialect import DIALECTS, Dialect
from dsqa.endpoints.failures import Failure, PassingFailure, PermanentFailure
from dsqa.endpoints.headers import rate_limit_headers
from dsqa.endpoints.reply import MalformedReplyError, Reply
from dsqa.endpoints.secrets import Secret
from dsqa.endpoints.streaming import StreamedAnswer, streamed
from dsqa.endpoints.transport import Answer, Transport
from dsqa.errors import EndpointError
from dsqa.foreign import read_json
from dsqa.records.lines import json_bytes

__all__ = ["HttpEndpoint"]

REACH_SECONDS = 10.0
_LISTED = 12
_LONGEST_NAME = 100


class HttpEndpoint:
    """An endpoint that speaks OpenAI's protocol; `dsqa.endpoints.open_endpoint` makes one.

    Parameters
    ----------
    name
        Its name in the study.
    address
        Where it is.
    client
        The official client for it, which knows how to sign.
    key
        The key, or an empty `Secret`: struck out of whatever comes back.
    api
        chat or responses.
    key_variable
        Where the key came from, for messages.
    timeout
        Seconds that one request may take from sending to the last byte.
    concurrency_limit
        Requests that it can work on at once, where that is known.
    recorded_url
        What records and messages call it.
    versions
        Of whatever answers, for the record.
    stream
        Let answers come in pieces; chat completions only.
    """

    def __init__(
        self,
        name: str,
        address: Address,
        client: openai.AsyncOpenAI,
        key: Secret,
        *,
        api: str,
        key_variable: str | None,
        timeout: float,
        recorded_url: str,
        concurrency_limit: int | None = None,
        versions: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        self.name = name
        self.base_url = recorded_url
        self.concurrency_limit = concurrency_limit
        self.versions = {"aiohttp": aiohttp.__version__, "openai": openai.__version__, **(versions or {})}
        self.models: tuple[str, ...] = ()
        self.pieces = 0
        """Of answers that are under way: about the tokens that were written so far; 0 where nothing is streamed."""
        self._stream = stream and api == "chat"
        self._key = key
        self._key_variable = key_variable
        self._dialect: Dialect = DIALECTS[api]
        self._adapter = Adapter(name)
        self._reach_seconds = min(REACH_SECONDS, timeout)
        self._transport = Transport(address.base_url, address.query, request_headers(client), timeout)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def reach(self) -> None:
        """Make sure that something answers at the address, and learn which models it lists.

        Whether it accepts the key and the model only a real request tells: some endpoints have no list, and
        some keys may not read it.

        Raises
        ------
        EndpointError
            No connection can be made.
        """
        try:
            answer = await self._transport.get("/models", timeout=self._reach_seconds)
        except PassingFailure as failure:
            if failure.unreachable:
                raise EndpointError(
                    f"endpoint '{self.name}' cannot be reached at {self.base_url}: "
                    f"{self._key.strike_message(failure.message)}",
                    hint="check base_url and the network",
                ) from None
            return
        except PermanentFailure:
            return
        if answer.status == 200:
            self.models = tuple(map(self._key.strike, _model_names(answer.text)))

    async def ask(self, request: Mapping[str, Any], *, run: int = 0) -> Reply:
        """Send one request for one answer, once; see `ask_many`."""
        return (await self.ask_many(request, run=run))[0]

    async def ask_many(self, request: Mapping[str, Any], *, run: int = 0) -> tuple[Reply, ...]:
        """Send one request, once.

        A request that the model refuses for a parameter it has under another name, or for a temperature, goes out
        a second time at once, adapted (see `Adapter`); later ones are adapted before.

        Parameters
        ----------
        request
            As for chat completions. What was sent, where that differs, is in `Reply.request`.
        run
            Not looked at.

        Raises
        ------
        PassingFailure
            No answer, but another try may bring one.
        PermanentFailure
            No answer, and no use in trying again.
        """
        written = self._dialect.write(request)
        while True:
            changed, notes = self._adapter.apply(written or request)
            sent = changed or written
            try:
                answer = await self._post(sent or request)
                if answer.status >= 400 and self._adapter.learn(
                    answer.status, self._key.strike_message(answer.text), sent or request
                ):
                    continue
                replies = self._read(answer, str(request.get("model")))
            except Failure as failure:
                failure.message = self._key.strike_message(failure.message)
                failure.request, failure.adapted = sent, notes
                raise
            if sent is None:
                return replies
            return tuple(reply.as_sent(sent, notes) for reply in replies)

    async def _post(self, request: Mapping[str, Any]) -> Answer:
        if not self._stream:
            return await self._transport.post(self._dialect.path, json_bytes(request))
        whole = StreamedAnswer()
        counted = 0

        def take(part: bytes) -> None:
            nonlocal counted
            whole.feed(part)
            self.pieces += whole.pieces - counted
            counted = whole.pieces

        try:
            answer = await self._transport.stream(self._dialect.path, json_bytes(streamed(dict(request))), take)
            # A server that does not stream sends the answer whole.
            return answer if answer.content else replace(answer, content=json_bytes(whole.body()))
        except MalformedReplyError as malformed:
            kind = "dropped" if whole.pieces else "malformed body"
            raise PassingFailure(kind, str(malformed), status=200) from None
        finally:
            self.pieces -= counted

    def _read(self, answer: Answer, model: str) -> tuple[Reply, ...]:
        limits = rate_limit_headers(answer.headers)
        if not 200 <= answer.status < 300:
            raise self._failure(answer.status, answer.headers, answer.text, model, limits)
        try:
            # Decoded before the key is struck out: a text in JSON has many forms.
            body = self._key.strike_value(read_json(answer.content))
        except ValueError:
            self._raise_malformed("the body is not JSON", answer.status)
        upstream = body.get("error") if isinstance(body, dict) else None
        if upstream and not body.get("choices"):
            raise self._failure(status_of_error(upstream), answer.headers, json.dumps(body), model, limits)
        try:
            return self._dialect.read(body, answer.seconds, limits)
        except MalformedReplyError as malformed:
            self._raise_malformed(str(malformed), answer.status)

    def _failure(
        self, status: int, headers: Mapping[str, str], text: str, model: str, limits: Mapping[str, str]
    ) -> Failure:
        about = ErrorContext(
            url=self.base_url,
            model=model,
            key_variable=self._key_variable,
            models=self.models,
            asked_for=self._dialect.asked_for,
        )
        failure = classify_response(status, headers, self._key.strike_message(text), about)
        failure.headers = limits
        return failure

    def _raise_malformed(self, what: str, status: int) -> NoReturn:
        raise PassingFailure("malformed body", what, status=status) from None


def _model_names(text: str) -> list[str]:
    try:
        names = [str(row["id"])[:_LONGEST_NAME] for row in read_json(text)["data"]]
    except (ValueError, KeyError, TypeError):
        return []
    return [*names[:_LISTED], f"… {len(names) - _LISTED} more"] if len(names) > _LISTED else names
