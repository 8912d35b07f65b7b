import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ForbiddenCapture } from "#core/types/capture.ts";
import type { Direction, KeyDescription, NamespaceRef, Objective, Picture } from "#core/types/namespace.ts";
import type { BestRun } from "#core/objective/best-runs.ts";
import { objectiveField, type HeldObjective } from "#core/objective/objectives.ts";
import type { CountedNamespace } from "#core/runs/namespace-tree.ts";
import {
  KeyDescriptionSchema,
  Picture as PictureMessage,
  type KeyDescription as KeyMessage,
} from "#proto/cairn/v1/key_pb.ts";
import {
  type BestRunSchema,
  Direction as DirectionMessage,
  type ForbiddenCaptureSchema,
  type HeldObjective as HeldObjectiveMessage,
  HeldObjectiveSchema,
  NamespaceSchema,
  type Namespace as NamespaceMessage,
  type Objective as ObjectiveMessage,
} from "#proto/cairn/v1/namespace_pb.ts";
import { CairnError } from "#lang/errors.ts";
import { fromMap } from "./map.ts";
import { printField } from "#lang/query/field-text.ts";

const DIRECTIONS: Readonly<Record<Direction, DirectionMessage>> = {
  minimize: DirectionMessage.MINIMIZE,
  maximize: DirectionMessage.MAXIMIZE,
};

const PICTURES: Readonly<Record<Picture, PictureMessage>> = {
  line: PictureMessage.LINE,
  accuracy: PictureMessage.ACCURACY,
  "confusion-matrix": PictureMessage.CONFUSION_MATRIX,
  roc: PictureMessage.ROC,
  pr: PictureMessage.PR,
  histogram: PictureMessage.HISTOGRAM,
};

export function toObjective(message: ObjectiveMessage | undefined): Objective | undefined {
  if (message === undefined) return undefined;
  const direction = directionOf(message.direction);
  if (direction === undefined) {
    throw new CairnError("invalid", "cannot set an objective without a direction", {
      hint: "give DIRECTION_MINIMIZE or DIRECTION_MAXIMIZE",
    });
  }
  return { metric: message.metric, direction };
}

/** undefined where no direction is known. */
export function directionOf(message: DirectionMessage): Direction | undefined {
  return nameOf(DIRECTIONS, message, "direction");
}

export function fromDirection(direction: Direction | undefined): DirectionMessage {
  return direction === undefined ? DirectionMessage.UNSPECIFIED : DIRECTIONS[direction];
}

/** Without an id by the path, also where that is empty. */
export function toNamespaceRef(path: string, id: bigint): NamespaceRef {
  if (id === 0n) return path;
  if (path === "") return Number(id);
  throw new CairnError("invalid", "cannot find a namespace by path and id at once", {
    hint: "give one of them",
  });
}

export function fromHeld(held: HeldObjective): HeldObjectiveMessage {
  const { metric, direction, namespace } = held;
  const field = printField(objectiveField(held));
  return create(HeldObjectiveSchema, { metric, direction: DIRECTIONS[direction], namespace, field });
}

export function fromNamespace(namespace: CountedNamespace): NamespaceMessage {
  const { objective } = namespace;
  const forbiddenCapture = fromForbidden(namespace.forbidden);
  const { forbidsConsole: forbidConsole, forbidsCode: forbidCode } = namespace.capture;
  return create(NamespaceSchema, {
    id: BigInt(namespace.id),
    path: namespace.path,
    description: namespace.description,
    ...(objective !== undefined && {
      objective: { metric: objective.metric, direction: DIRECTIONS[objective.direction] },
    }),
    tags: fromMap(namespace.tags),
    createdUs: BigInt(namespace.createdUs),
    deletedUs: BigInt(namespace.deletedUs ?? 0),
    runCount: BigInt(namespace.runCount),
    subtreeRunCount: BigInt(namespace.subtreeRunCount),
    subtreeRunningCount: BigInt(namespace.subtreeRunningCount),
    lastActivityUs: BigInt(namespace.lastActivityUs),
    ...((forbidConsole || forbidCode) && { capture: { forbidConsole, forbidCode } }),
    ...(forbiddenCapture !== undefined && { forbiddenCapture }),
    ...(namespace.held !== undefined && { heldObjective: fromHeld(namespace.held) }),
    ...(namespace.best !== undefined && { best: fromBest(namespace.best) }),
  });
}

function fromBest({ step, ...best }: BestRun): MessageInitShape<typeof BestRunSchema> {
  return { ...best, ...(step !== undefined && { step: BigInt(step) }) };
}

/** undefined when everything is allowed. */
export function fromForbidden({
  console,
  code,
}: ForbiddenCapture): MessageInitShape<typeof ForbiddenCaptureSchema> | undefined {
  if (console === undefined && code === undefined) return undefined;
  return { console: console ?? "", code: code ?? "" };
}

export function toKey(message: KeyMessage): KeyDescription {
  return {
    namespace: message.namespace,
    key: message.key,
    unit: message.unit,
    direction: directionOf(message.direction),
    description: message.description,
    picture: nameOf(PICTURES, message.picture, "picture"),
    ...(message.min !== undefined && { min: message.min }),
    ...(message.max !== undefined && { max: message.max }),
  };
}

export function fromKey(key: KeyDescription): KeyMessage {
  return create(KeyDescriptionSchema, {
    namespace: key.namespace,
    key: key.key,
    unit: key.unit,
    description: key.description,
    direction: fromDirection(key.direction),
    ...(key.picture !== undefined && { picture: PICTURES[key.picture] }),
    ...(key.min !== undefined && { min: key.min }),
    ...(key.max !== undefined && { max: key.max }),
  });
}

/** 0 is unspecified. */
function nameOf<N extends string>(
  names: Readonly<Record<N, number>>,
  value: number,
  what: string,
): N | undefined {
  if (value === 0) return undefined;
  const found = (Object.keys(names) as N[]).find((name) => names[name] === value);
  if (found === undefined) throw new CairnError("invalid", `cannot accept ${what} ${value}: it is unknown`);
  return found;
}
