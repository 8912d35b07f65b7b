"""The metric by which the runs of a namespace are judged."""

from __future__ import annotations

from cairn.client import Client
from cairn.login import find_server
from cairn.namespaces import check_namespace

_NAMES = {"min": "DIRECTION_MINIMIZE", "max": "DIRECTION_MAXIMIZE"}


def set_objective(
    namespace: str, metric: str, direction: str = "max", *, server: str | None = None, token: str | None = None
) -> None:
    """Says which metric counts in a namespace and below it, and whether its "max" or its "min" is best. It takes a maintainer of
    the namespace. Unlike the calls of a run it waits for the server, and raises Failure when that refuses or is away."""
    if direction not in _NAMES:
        raise ValueError(f'cannot set objective "{metric}": direction "{direction}" is not one of {", ".join(_NAMES)}')
    client = Client(find_server(server, token))
    try:
        objective = {"metric": metric, "direction": _NAMES[direction]}
        client.call(
            "NamespaceService/UpdateNamespace", {"path": check_namespace(namespace), "objective": objective}
        )
    finally:
        client.close()
