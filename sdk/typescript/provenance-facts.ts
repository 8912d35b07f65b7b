import type { ProvenanceList, ProvenanceText } from "#lang/query/provenance-fields.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";

/** The values of a field that queries know of the provenance; none where it is not recorded. */
export function provenanceValues({ provenance }: Run, name: ProvenanceText | ProvenanceList): string[] {
  if (provenance === undefined) return [];
  switch (name) {
    case "training_data":
      return provenance.trainingData;
    case "test_data":
      return provenance.testData;
    case "host":
      return present(provenance.environment["host"]);
    case "initial_state":
      return present(provenance.initialState);
    case "feature_pipeline":
      return present(provenance.featurePipeline);
    case "logs_location":
      return present(provenance.logsLocation);
    case "repository":
    case "commit":
    case "branch":
      return present(provenance.code?.[name]);
    case "study":
    case "user":
      return present(provenance[name]);
  }
}

function present(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : [text];
}
