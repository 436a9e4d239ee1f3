"""The Files and Batch APIs of an endpoint, through the official client; every failure is one line for a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import openai
from openai._types import Headers

from dsqa.endpoints.classify import ErrorContext, classify_response
from dsqa.endpoints.client import Address, blocking_client
from dsqa.endpoints.failures import Failure, PassingFailure
from dsqa.endpoints.open import address_of
from dsqa.endpoints.secrets import Secret, read_key, without_credentials
from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig

__all__ = ["BatchRefusedError", "BatchService", "RemoteBatch"]

RETRIES = 4
_TAG = "dsqa_job"


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as its endpoint describes it."""

    id: str
    status: str
    created_at: int
    completed: int
    failed: int
    output_file_id: str | None
    error_file_id: str | None
    errors: tuple[tuple[str, str], ...]
    """(code, message) of why it failed whole."""


class BatchRefusedError(EndpointError):
    """The endpoint has said no: it has done nothing."""


class BatchService:
    """One endpoint's batches; use it as a context manager.

    Parameters
    ----------
    name
        The endpoint's name in the study.
    config
        Its settings.
    timeout
        Seconds that one request may take.

    Raises
    ------
    EndpointError
        The key is not set, or the address is none.
    """

    def __init__(self, name: str, config: EndpointConfig, timeout: float) -> None:
        self.name = name
        base_url = address_of(name, config)
        self.versions = {"openai": openai.__version__}
        self._key: Secret = read_key(name, config, base_url)
        self._key_variable = config.api_key_env if config.auth != "none" else None
        address = Address.of(base_url, config)
        self.base_url = without_credentials(address.recorded)
        # On Azure files and batches lie beside the deployments, not below one.
        address = Address(address.base_url.partition("/deployments/")[0], address.query)
        # The client wants to hear with every request that one goes out unsigned on purpose.
        signed = config.auth == "bearer" and self._key.reveal()
        self._extra: Headers | None = None if signed else {"Authorization": openai.Omit()}
        self._client = blocking_client(address, self._key, config, timeout, retries=RETRIES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def upload(self, path: Path) -> str:
        """Upload an input file; return its id."""
        with self._named("cannot take the file of a batch"), path.open("rb") as handle:
            return self._client.files.create(file=(path.name, handle), purpose="batch", extra_headers=self._extra).id

    def create(self, file_id: str, url: str, tag: str) -> RemoteBatch:
        """Make a batch of an uploaded file, once: whether a lost answer made one, `find` tells."""
        with self._named("does not make a batch"):
            made = self._client.with_options(max_retries=0).batches.create(
                completion_window="24h",
                endpoint=url,  # type: ignore[arg-type]  # Azure's has no /v1
                input_file_id=file_id,
                metadata={_TAG: tag},
                extra_headers=self._extra,
            )
        return _remote(made)

    def find(self, file_id: str, tag: str) -> RemoteBatch | None:
        """Return the batch that was made of a file, if one was."""
        with self._named("does not list its batches"):
            for batch in self._client.batches.list(limit=100, extra_headers=self._extra):
                known = (batch.metadata or {}).get(_TAG)
                # Some endpoints keep no metadata; one file makes one batch, but for those that failed.
                if known == tag or (known is None and batch.input_file_id == file_id and batch.status != "failed"):
                    return _remote(batch)
        return None

    def look(self, batch_id: str) -> RemoteBatch:
        """Return how far a batch is."""
        with self._named(f"does not say how far batch {batch_id} is"):
            return _remote(self._client.batches.retrieve(batch_id, extra_headers=self._extra))

    def cancel(self, batch_id: str) -> RemoteBatch:
        """Ask for no more of its requests; those under way may still be answered."""
        with self._named(f"does not cancel batch {batch_id}"):
            return _remote(self._client.batches.cancel(batch_id, extra_headers=self._extra))

    def download(self, file_id: str, path: Path) -> None:
        """Fetch a result file, with the key struck out of it, in one step that no kill can halve."""
        part = path.with_name(path.name + ".part")
        with (
            self._named(f"does not give file {file_id}"),
            self._client.files.with_streaming_response.content(file_id, extra_headers=self._extra) as response,
            part.open("wb") as handle,
        ):
            for line in _lines(response.iter_bytes()):
                handle.write(
                    self._key.strike(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                )
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(path)

    def failure(self, status: int, body: str, model: str) -> Failure:
        """Name the error that a request of a batch got."""
        about = ErrorContext(self.base_url, model, self._key_variable)
        return classify_response(status, {}, self._key.strike_message(body), about)

    @contextmanager
    def _named(self, what: str) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            body = self._key.strike_message(error.response.text)
            about = ErrorContext(self.base_url, "", self._key_variable, asked_for="Batch API")
            failure = classify_response(error.status_code, error.response.headers, body, about)
            hint = getattr(failure, "hint", None) or "nothing is lost; run the same command again to go on"
            kind = EndpointError if isinstance(failure, PassingFailure) else BatchRefusedError
            raise kind(f"endpoint '{self.name}' {what}: {failure.message}", hint=hint) from None
        except openai.APIError as error:
            cause = error.__cause__ or error
            said = self._key.strike_message(" ".join(str(cause).split()) or type(cause).__name__)
            raise EndpointError(
                f"endpoint '{self.name}' ({self.base_url}) {what}: {said}",
                hint="nothing is lost; run the same command again to go on",
            ) from None


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest + b"\n"


def _remote(batch: Any) -> RemoteBatch:
    counts = batch.request_counts
    errors = (batch.errors.data if batch.errors is not None else None) or ()
    return RemoteBatch(
        id=batch.id,
        status=batch.status,
        created_at=int(batch.created_at or 0),
        completed=counts.completed if counts else 0,
        failed=counts.failed if counts else 0,
        output_file_id=batch.output_file_id,
        error_file_id=batch.error_file_id,
        errors=tuple((str(error.code), str(error.message)) for error in errors),
    )
