"""The Batch API as a way of sampling: slower, for half the price, into the same records."""

from dsqa.sampling.batch.collect import Collected, collect_batches
from dsqa.sampling.batch.drive import run_batches
from dsqa.sampling.batch.lines import (
    BatchRequest,
    BatchResult,
    RequestFile,
    encode_request,
    read_requests,
    read_results,
)
from dsqa.sampling.batch.prepare import prepare_batches
from dsqa.sampling.batch.state import BatchFolder, Job
from dsqa.sampling.batch.submit import cancel_batches, check_batches, submit_batches

__all__ = [
    "BatchFolder",
    "BatchRequest",
    "BatchResult",
    "Collected",
    "Job",
    "RequestFile",
    "cancel_batches",
    "check_batches",
    "collect_batches",
    "encode_request",
    "prepare_batches",
    "read_requests",
    "read_results",
    "run_batches",
    "submit_batches",
]
