/** What MLflow answers, as far as it is used here. */
export interface MLflowExperiment {
  experiment_id: string;
  name: string;
  artifact_location: string;
  lifecycle_stage: string;
}

export interface MLflowPair {
  key: string;
  value?: string;
}

export interface MLflowRun {
  info: {
    run_id: string;
    run_name: string;
    experiment_id: string;
    status: string;
    artifact_uri: string;
    lifecycle_stage: string;
    start_time?: number;
    end_time?: number;
  };
  data: { tags?: MLflowPair[]; params?: MLflowPair[] };
}

export function tagsOf(run: MLflowRun): Map<string, string> {
  return new Map((run.data.tags ?? []).map(({ key, value }) => [key, value ?? ""]));
}

export function paramsOf(run: MLflowRun): Map<string, string> {
  return new Map((run.data.params ?? []).map(({ key, value }) => [key, value ?? ""]));
}
