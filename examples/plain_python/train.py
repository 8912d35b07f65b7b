"""A training loop that is tracked: run it with `python train.py`, as often as you like."""

import argparse
import math
import random

import cairn


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--namespace", default="examples/plain_python")
    args = parser.parse_args()

    with cairn.init(namespace=args.namespace, params=vars(args), tags={"example": "plain_python"}) as run:
        noise = random.Random(args.lr)
        for epoch in range(args.epochs):
            loss = math.exp(-args.lr * epoch) * (1 + 0.05 * noise.random())
            run.log({"train/loss": loss, "val/accuracy": 1 - 0.8 * loss}, step=epoch)
        print(f"loss {loss:.4f} after {args.epochs} epochs")
        run.tag(result="good" if loss < 0.2 else "poor")


if __name__ == "__main__":
    main()
