"""Prints which trackers the real TorchX finds configured, as JSON."""

import json

from torchx.runner.api import get_configured_trackers

print(json.dumps(list(get_configured_trackers().items())))
