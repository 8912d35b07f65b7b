import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { FieldKind, type GetFrontierResponse } from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { printField } from "#lang/query/field-text.ts";
import { listFields } from "#sdk/pages.ts";
import { cairn } from "../../../data/server.ts";
import type { Goal } from "../search.ts";

/**
 * What the server says about the runs of a page: all of them, however many the page has read to draw. All answers are under one key, so that they are asked for
 * again together. The last answer stays while the next is on its way.
 */
export const answersKey = (namespace: string) => ["explored", namespace] as const;

/** Those that are kept may be older than the runs of the page. */
const ANSWER = { staleTime: 0, placeholderData: keepPreviousData } as const;

/** A param as the server counts it. */
export interface ParamFact {
  readonly key: string;
  /** The field as text. */
  readonly text: string;
  readonly varies: boolean;
  /** How much there is to see in it; 0 for seeds and names. */
  readonly variety: number;
}

/** The params and tags of the runs that a query selects. */
export interface RunFields {
  readonly query: string;
  /** Those that vary first, most telling first. */
  readonly params: readonly ParamFact[];
  readonly tags: readonly string[];
}

export const fieldsOfRuns = (namespace: string, query: string) =>
  queryOptions({
    ...ANSWER,
    queryKey: [...answersKey(namespace), "fields", query],
    queryFn: async ({ signal }): Promise<RunFields> => {
      const { fields } = await listFields(
        cairn,
        { runs: { namespace, query }, kinds: [FieldKind.PARAM, FieldKind.TAG], valuesMax: -1 },
        { signal },
      );
      return {
        query,
        params: fields
          .filter(({ kind }) => kind === FieldKind.PARAM)
          .map(({ key, varies, variety }) => ({
            key,
            text: printField({ of: "param", key }),
            varies,
            variety,
          })),
        tags: fields.filter(({ kind }) => kind === FieldKind.TAG).map(({ key }) => key),
      };
    },
  });

/** Which params go along with the objective; nothing is asked without a query. */
export const importanceOfParams = (namespace: string, query: string | undefined, objective: string) =>
  queryOptions({
    ...ANSWER,
    queryKey: [...answersKey(namespace), "importance", query, objective],
    enabled: query !== undefined,
    queryFn: ({ signal }) =>
      cairn.explore.getImportance({ runs: { namespace, query: query! }, objective }, { signal }),
  });

/** One of two numbers that should be small, or large. */
export interface FrontierGoal {
  /** The field as text. */
  readonly text: string;
  readonly label: string;
  readonly goal: Goal;
}

export interface Frontier extends Pick<GetFrontierResponse, "runs" | "totalCount"> {
  /** What was asked for: while another answer is on its way it is not what is chosen. */
  readonly goals: readonly [FrontierGoal, FrontierGoal];
}

/** The runs that no other beats; nothing is asked without a query or without goals. */
export const frontierOfRuns = (
  namespace: string,
  query: string | undefined,
  goals: Frontier["goals"] | undefined,
) =>
  queryOptions({
    ...ANSWER,
    queryKey: [...answersKey(namespace), "frontier", query, goals],
    enabled: query !== undefined && goals !== undefined,
    queryFn: async ({ signal }): Promise<Frontier> => {
      const { runs, totalCount } = await cairn.explore.getFrontier(
        {
          runs: { namespace, query: query! },
          goals: goals!.map(({ text, goal }) => ({
            field: text,
            direction: goal === "min" ? Direction.MINIMIZE : Direction.MAXIMIZE,
          })),
        },
        { signal },
      );
      return { goals: goals!, runs, totalCount };
    },
  });
