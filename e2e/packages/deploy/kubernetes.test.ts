/** The manifests of deploy/kubernetes, against the schemas of Kubernetes. container.test.ts runs them. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { pythonCommand } from "../../../tools/needs.ts";
import { ROOT } from "../../../tools/sources.ts";

const FOLDER = join(ROOT, "deploy", "kubernetes");
/** `strict` refuses keys that the schema does not have. */
const VALIDATE = `
import glob, json, kubernetes_validate, sys, yaml
manifests = [manifest for path in sorted(glob.glob(sys.argv[1] + "/*.yaml")) for manifest in yaml.safe_load_all(open(path))]
for manifest in manifests:
    for version in "1.29", kubernetes_validate.latest_version():
        kubernetes_validate.validate(manifest, version, strict=True)
print(json.dumps(manifests))
`;

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: object;
}

interface Deployment extends Manifest {
  spec: { strategy: object; replicas: number; selector: { matchLabels: object }; template: Pod };
}

interface Service extends Manifest {
  spec: { selector: object; ports: { port: number; targetPort: string }[] };
}

interface Pod {
  metadata: { labels: Record<string, string> };
  spec: {
    enableServiceLinks: boolean;
    automountServiceAccountToken: boolean;
    terminationGracePeriodSeconds: number;
    securityContext: object;
    containers: [Container];
    volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
  };
}

interface Container {
  name: string;
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  readinessProbe: Probe;
  livenessProbe: Probe;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

interface Probe {
  httpGet: { path: string; port: string };
}

function readManifests(): Map<string, Manifest> {
  const output = execFileSync(pythonCommand(), ["-c", VALIDATE, FOLDER], { encoding: "utf8" });
  const manifests = JSON.parse(output) as Manifest[];
  return new Map(manifests.map((manifest) => [manifest.kind, manifest]));
}

describe("the manifests of deploy/kubernetes", () => {
  const manifests = readManifests();
  const deployment = (manifests.get("Deployment") as Deployment).spec;
  const pod = deployment.template;

  it("B234 follow the schemas of Kubernetes and fit together", () => {
    expect([...manifests.keys()].sort()).toEqual(["Deployment", "PersistentVolumeClaim", "Service"]);
    const service = manifests.get("Service") as Service;
    expect(service.metadata.name).toBe("cairn");
    expect(service.spec.selector).toEqual(pod.metadata.labels);
    expect(deployment.selector.matchLabels).toEqual(pod.metadata.labels);
    const [container] = pod.spec.containers;
    const [port] = container.ports;
    expect(service.spec.ports).toEqual([expect.objectContaining({ port: 4700, targetPort: port!.name })]);
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(probe.httpGet).toEqual({ path: "/readyz", port: port!.name });
    }
    const claims = pod.spec.volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
    expect(claims).toEqual([manifests.get("PersistentVolumeClaim")!.metadata.name]);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.spec.volumes.map(({ name }) => name));
  });

  it("B234 run one server at a time, without rights, and let it finish", () => {
    expect(deployment).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(10);
    // Kubernetes would set CAIRN_PORT for a service named cairn.
    expect(pod.spec.enableServiceLinks).toBe(false);
    expect(pod.spec.automountServiceAccountToken).toBe(false);
    // What the restricted profile of the Pod Security Standards demands.
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod.spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });
});
