"""Many machines: sampling and running code spread over the workers of a `dask.distributed` cluster.

What is asked, recorded, retried and limited is decided in the process that was started, as without a cluster; a
worker sends a request from where it is, with its own key, or runs code in its own sandbox.
"""

from dsqa.cluster.connect import Cluster, open_cluster
from dsqa.cluster.execute import ClusterExecutor
from dsqa.cluster.sampling import ClusterOpener

__all__ = ["Cluster", "ClusterExecutor", "ClusterOpener", "open_cluster"]
