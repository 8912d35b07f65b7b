"""TorchX's own MLflowTracker beside ours, for mlflow.test.ts. Each line of standard input is a question in JSON, each line of
standard output its answer:

    ["write", URL, EXPERIMENT, RUN, FILE]    writes metadata, an artifact with metadata, params
    ["read", URL, EXPERIMENT, RUN]           what it sees of a run
    ["name"]                                 the default name of an experiment
"""

import contextlib
import json
import os
import sys
import types

# It needs PyTorch only to wait for rank 0, and there is only one process here.
distributed = types.ModuleType("torchx.distributed")
distributed.on_rank0_first = contextlib.nullcontext
sys.modules["torchx.distributed"] = distributed

os.environ.pop("TORCHX_JOB_ID", None)

# MLflow prints where a run can be looked at.
answer, sys.stdout = sys.stdout, sys.stderr

from torchx.tracker.mlflow import MLflowTracker  # noqa: E402


def write(url, experiment, run, file):
    tracker = MLflowTracker(experiment_name=experiment, tracking_uri=url)
    tracker.add_metadata(run, lr=0.01, steps=25, name="adam")
    tracker.add_artifact(run, "nested/model", file, {"acc": 0.5, "note": "x"})
    tracker.log_params_flat(run, {"optim": {"lr": 0.1}, "layers": [64, 32]})
    tracker.close()


def read(url, experiment, run):
    tracker = MLflowTracker(experiment_name=experiment, tracking_uri=url)
    found = {
        "id": tracker.get_run_id(run),
        "metadata": dict(tracker.metadata(run)),
        "artifacts": {
            name: {"path": artifact.path, "metadata": artifact.metadata}
            for name, artifact in tracker.artifacts(run).items()
        },
        "runs": list(tracker.run_ids()),
    }
    tracker.close()
    return found


def name():
    return MLflowTracker.default_experiment_name()


# One process for all questions: loading MLflow takes longer than any of them.
for line in sys.stdin:
    action, *words = json.loads(line)
    print(json.dumps({"write": write, "read": read, "name": name}[action](*words)), file=answer, flush=True)
