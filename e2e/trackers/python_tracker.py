"""Writes with, or reads through, the Python tracker of Cairn; what it read is printed as JSON. argv: config, "write" or "read"."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "sdk" / "python"))

from cairn.result_tracker import CairnResultTracker  # noqa: E402
from cairn.torchx_tracker import create_tracker  # noqa: E402

config, action = sys.argv[1:]
tracker = create_tracker(config)
results = CairnResultTracker(f"{config}/results-of-both")
names = ["model", "/absolute", "..", "a//b", "C:\\model", "new\nline", "", "é" * 600]
long_id = "l" * 1500

if action == "write":
    tracker.add_metadata("by python", whole=1.0, integer=1, big=2**60, text="1", nothing=None, nested={"a": [True]})
    tracker.add_metadata(long_id, x=1)
    for name in names:
        tracker.add_artifact("by python", name, f"path of {name[:9]!r}", {"of": name})
    tracker.add_artifact("by python", "empty", "", {})
    tracker.add_source("by python", "base", "weights")
    tracker.add_source("by python", "s3://corpus")
    tracker.add_source(long_id, "by python")
    results.put("0", wer=0.25, n=3)
    results.put_file("curve.txt", b"from python", "text/plain")
    tracker.close()
    results.close()
else:
    lineage = tracker.lineage("by typescript")
    found = results.get_file("curve.txt")
    print(
        json.dumps(
            {
                "ids": sorted(tracker.run_ids()),
                "metadata": tracker.metadata("by typescript"),
                "long": tracker.metadata(long_id),
                "artifacts": sorted([a.name, a.path, a.metadata] for a in tracker.artifacts("by typescript").values()),
                "sources": [[s.source_run_id, s.artifact_name] for s in tracker.sources("by typescript")],
                "children": list(tracker.run_ids(parent_run_id="by typescript")),
                "ancestors": [run.run_id for run in lineage.ancestors],
                "record": results.get("0"),
                "file": found and [found.content.decode(), found.media_type],
            }
        )
    )
