import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { FieldKind, type GetFrontierResponse } from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { printField } from "#lang/query/field-text.ts";
import { listFields } from "#sdk/pages.ts";
import { cairn } from "../../../data/server.ts";
import type { Goal } from "../search.ts";

/**
 * Queries about all runs of a page, however many the page has read to draw. All answers are under one key, so that they
 * are refreshed together. The last answer stays while the next is loading.
 */
export const answersKey = (namespace: string) => ["explored", namespace] as const;

/** Cached answers may be older than the runs of the page. */
const ANSWER = { staleTime: 0, placeholderData: keepPreviousData } as const;

/** Statistics of a param. */
export interface ParamFact {
  readonly key: string;
  /** The field as text. */
  readonly text: string;
  readonly varies: boolean;
  /** How informative it is; 0 for seeds and names. */
  readonly variety: number;
}

/** The params and tags of the runs that a query selects. */
export interface RunFields {
  readonly query: string;
  /** Those that vary first, most informative first. */
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

/** Which params correlate with the objective; disabled without a query. */
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
  /** The goals of this answer, which differ from the chosen ones while the next answer is loading. */
  readonly goals: readonly [FrontierGoal, FrontierGoal];
}

/** The Pareto frontier; disabled without a query or without goals. */
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
