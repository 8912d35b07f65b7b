import { CopyButton } from "../../widgets/copy-button.tsx";
import styles from "./not-yet.module.css";

/** Actions whose back end this version does not have. They say so, and what does the same by hand. */
export type NotYetAction = "tensorboard" | "retrain" | "inference" | "tests";

const titles: Readonly<Record<NotYetAction, string>> = {
  tensorboard: "Examine in TensorBoard",
  retrain: "Train with new data",
  inference: "Spawn inference cluster",
  tests: "Run tests",
};

interface Explanation {
  needs: string;
  byHand: string;
  command: (runId: string) => string;
}

const EXPLANATIONS: Readonly<Record<NotYetAction, Explanation>> = {
  tensorboard: {
    needs:
      "A place where this server may start TensorBoard, and event files written from the points of the run.",
    byHand:
      "Fetch the files of the run; if the job wrote event files among them, point TensorBoard at the folder.",
    command: (id) =>
      `cairn artifacts get ${id} -o ./${id.slice(0, 16)}\ntensorboard --logdir ./${id.slice(0, 16)}`,
  },
  retrain: {
    needs:
      "A launcher, such as TorchX on Kubernetes or Slurm, that this server may submit jobs to, and a template of the job.",
    byHand: "The Provenance tab has the commands that start the run again; give them the new data.",
    command: (id) => `cairn show ${id}`,
  },
  inference: {
    needs:
      "A cluster that this server may deploy to, an image that serves the model, and the right to spend its accelerators.",
    byHand:
      "Fetch the model of the run, or take the address that its artifact names, and serve it with what you have.",
    command: (id) => `cairn artifacts ls ${id}`,
  },
  tests: {
    needs:
      "A test suite for the namespace, and a launcher, such as TorchX, that this server may run it with.",
    byHand: "The Provenance tab says on what data the run was tested, and with what code.",
    command: (id) => `cairn show ${id}`,
  },
};

function Words({ action, runIds }: { action: NotYetAction; runIds: readonly string[] }) {
  const { needs, byHand, command } = EXPLANATIONS[action];
  const commands = runIds.slice(0, 10).map(command).join("\n");
  return (
    <div className={styles.words}>
      <p className={styles.warning}>This version of Cairn cannot start it yet. Nothing was started.</p>
      <p>
        <b>What it will need:</b> {needs}
      </p>
      <p>
        <b>By hand, today:</b> {byHand}
      </p>
      <div className={styles.command}>
        <pre>{commands}</pre>
        <CopyButton text={commands} label="Copy the commands" />
      </div>
    </div>
  );
}

export const NotYet = { titles, Words };
