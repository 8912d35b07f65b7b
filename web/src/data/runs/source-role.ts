import { SourceRole } from "#proto/cairn/v1/lineage_pb.ts";

/** What something was to the run that used it; "" for a link that says no more. */
export function roleWords(role: SourceRole): string {
  switch (role) {
    case SourceRole.INITIAL_STATE:
      return "initial state";
    case SourceRole.TRAINING_DATA:
      return "training data";
    case SourceRole.TEST_DATA:
      return "test data";
    case SourceRole.FEATURE_PIPELINE:
      return "features";
    default:
      return "";
  }
}
