"""Many machines: sampling and running code spread over the workers of a `dask.distributed` cluster.

What is asked, recorded, retried and limited is decided in the process that was started, as without a cluster; a
worker sends a request from where it is, with its own key, or runs code in its own sandbox.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsqa.cluster.connect import Cluster, open_cluster
    from dsqa.cluster.execute import ClusterExecutor
    from dsqa.cluster.sampling import ClusterOpener

__all__ = ["Cluster", "ClusterExecutor", "ClusterOpener", "open_cluster"]

# A worker imports one module of this room, and should not load the chief's side with it.
_WHERE = {"Cluster": "connect", "open_cluster": "connect", "ClusterExecutor": "execute", "ClusterOpener": "sampling"}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"dsqa.cluster.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'dsqa.cluster' has no attribute '{name}'")
