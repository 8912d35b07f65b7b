import { isSecretName } from "./secrets/secret-names.ts";
import { redactText } from "./secrets/secrets.ts";

/** Variables that say how a job was placed and how its libraries are configured. */
const NAMES = new Set(
  `CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_DEVICE_ORDER
   CUDA_LAUNCH_BLOCKING CUBLAS_WORKSPACE_CONFIG WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE MASTER_ADDR
   OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS NODE_ENV NODE_OPTIONS UV_THREADPOOL_SIZE PYTHONHASHSEED TZ LANG
   LC_ALL OMPI_COMM_WORLD_SIZE PMI_SIZE CONDA_DEFAULT_ENV KUBERNETES_SERVICE_HOST`.split(/\s+/),
);
const PREFIXES = /^(?:SLURM_|TORCHX_|TORCHELASTIC_|NCCL_|XLA_|PYTORCH_|TORCH_)/;
/** They differ from process to process, or hold whole configurations of others. */
const NOT_THESE =
  /^(?:SLURM_(?:PROCID|LOCALID|NODEID|TASK_PID|GTIDS|JWT.*|CONF)|TORCHX_(?:TRACKER.*|REPLICA_ID)|TORCHELASTIC_ERROR_FILE)$/;

const VARIABLES_MAX = 200;
const VALUE_CHARACTERS_MAX = 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/** Those of a fixed list that are set, and neither called nor looking like a secret. */
export function chosenVariables(env: Environment): Map<string, string> {
  const chosen = new Map<string, string>();
  for (const name of Object.keys(env).sort()) {
    const value = env[name] ?? "";
    if (!(NAMES.has(name) || PREFIXES.test(name)) || NOT_THESE.test(name)) continue;
    if (value === "" || value.length > VALUE_CHARACTERS_MAX || isSecretName(name)) continue;
    if (redactText(value) !== value || chosen.size >= VARIABLES_MAX) continue;
    chosen.set(name, value);
  }
  return chosen;
}
