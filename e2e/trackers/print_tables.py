"""Prints tables given as JSON, one per line of standard input, as TorchX does; answers in JSON."""

import json
import sys

from tabulate import tabulate

for line in sys.stdin:
    titles, rows = json.loads(line)
    print(json.dumps(tabulate(rows, headers=titles)))
