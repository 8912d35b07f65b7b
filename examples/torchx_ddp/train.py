"""A small distributed job that tracks with TorchX's own API, and its curves with Cairn.

Nothing here names a server: `.torchxconfig` does. Run it as README.md says.
"""

import argparse
import math
import os
import random

import cairn
from torchx.tracker import app_run_from_env


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    rank = int(os.environ.get("RANK", "0"))

    tracked = app_run_from_env()
    if rank == 0:
        tracked.add_metadata(lr=args.lr, epochs=args.epochs, optimizer={"name": "sgd", "momentum": 0.9})

    # The same run: its alias is the job id, which TorchX gives to every rank.
    with cairn.init(capture=["console", "code"]) as run:
        generator = random.Random(rank)
        for epoch in range(args.epochs):
            loss = math.exp(-args.lr * epoch) + 0.01 * generator.random()
            run.log({"train/loss": loss}, step=epoch)
        print(f"rank {rank}: loss {loss:.4f}")

    if rank == 0:
        tracked.add_artifact("checkpoint", f"s3://models/{tracked.job_id().rsplit('/', 1)[-1]}/last.pt", {"loss": loss})


if __name__ == "__main__":
    main()
