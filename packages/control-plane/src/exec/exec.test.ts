import { seededRandom, systemClock } from "setpoint/clock";
import { ClusterRole, ClusterRoleBinding } from "setpoint/kinds/rbac.authorization.k8s.io/v1";
import { ConfigMap, Pod, Secret, ServiceAccount } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../control-plane.js";
import type { WebSocketConnection } from "../websocket/websocket.js";
import { openWebSocket } from "../websocket/websocket-client.testing.js";

const random = seededRandom(1);
const ADMIN = { authorization: "Bearer admin" };

let plane: ControlPlane;

beforeAll(async () => {
  plane = await controlPlane({
    listen: {},
    workloads: true,
    tokens: new Map([
      ["admin", { name: "admin", groups: ["system:masters"] }],
      ["reader", { name: "reader", groups: [] }],
    ]),
    exec: ({ command }) => {
      if (command[0] === "broken") throw new Error("out of order");
      return command[0] === "version" ? { stdout: "16.1\n", exitCode: 0 } : undefined;
    },
  });
  const { client } = plane;
  const metadata = { namespace: "default" };
  // A pod is admitted once its namespace has an account, and controllers start a moment after the server.
  while (!(await client.find(ServiceAccount, "default", metadata))) await systemClock.sleep(20);
  await client.create(ConfigMap, { metadata: { ...metadata, name: "settings" }, data: { mode: "fast", size: "3" } });
  await client.create(Secret, { metadata: { ...metadata, name: "login" }, stringData: { password: "hunter2" } });
  const script = "- { command: pg_isready, stdout: ready }\n- { command: psql *, stderr: no such table, exitCode: 3 }";
  await client.create(Pod, {
    metadata: {
      ...metadata,
      name: "web",
      labels: { app: "web" },
      annotations: { "simulation.setpoint.dev/exec": script, "simulation.setpoint.dev/start-after": "0s" },
    },
    spec: {
      containers: [
        {
          name: "main",
          image: "web:1",
          env: [
            { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } },
            { name: "GREETING", value: "hello $(PASSWORD)" },
            { name: "APP", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
          ],
          envFrom: [{ prefix: "SET_", configMapRef: { name: "settings" } }],
          volumeMounts: [{ name: "settings", mountPath: "/etc/settings" }],
        },
      ],
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
    },
  });
  await client.create(Pod, {
    metadata: { ...metadata, name: "stuck", annotations: { "simulation.setpoint.dev/failure": "image-pull" } },
    spec: { containers: [{ name: "main", image: "none" }] },
  });
  for (;;) {
    const { status } = await client.get(Pod, "web", metadata);
    if (status?.phase === "Running") break;
    await systemClock.sleep(20);
  }
}, 60_000);
afterAll(() => plane?.stop());

interface Session {
  readonly stdout: string;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: a Status of any kind.
  readonly status: any;
}

const query = (command: readonly string[], more = ""): string =>
  `${command.map((word) => `command=${encodeURIComponent(word)}`).join("&")}&stdout=true&stderr=true${more}`;

async function open(pod: string, search: string, headers: Readonly<Record<string, string>> = {}) {
  const path = `/api/v1/namespaces/default/pods/${pod}/exec?${search}`;
  const protocol = { "sec-websocket-protocol": "v5.channel.k8s.io" };
  return openWebSocket({ url: plane.url!, path, headers: { ...ADMIN, ...protocol, ...headers }, random });
}

/** The complete output of a command, by stream. */
async function session(connection: WebSocketConnection): Promise<Session> {
  const streams = ["", "", "", ""];
  for await (const message of connection.messages()) {
    if (message.type === "binary") streams[message.bytes[0]!] += message.bytes.toString("utf8", 1);
    else streams[Number(message.text[0])] += Buffer.from(message.text.slice(1), "base64").toString("utf8");
  }
  return { stdout: streams[1]!, stderr: streams[2]!, status: JSON.parse(streams[3]!) };
}

async function exec(pod: string, ...command: readonly string[]): Promise<Session> {
  const { connection } = await open(pod, query(command));
  return session(connection!);
}

const SUCCESS = { metadata: {}, status: "Success" };

describe("exec in a simulated pod", () => {
  it("gives the container its environment and its files", async () => {
    const { stdout, status } = await exec("web", "env");
    expect(status).toEqual(SUCCESS);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        "HOSTNAME=web",
        "PASSWORD=hunter2",
        "GREETING=hello hunter2",
        "APP=web",
        "SET_mode=fast",
      ]),
    );
    expect((await exec("web", "cat", "/etc/settings/mode")).stdout).toBe("fast");
    expect((await exec("web", "ls", "/etc//x/../settings/")).stdout).toBe("mode\nsize\n");
    expect((await exec("web", "cat", "/etc/none")).stderr).toBe("cat: /etc/none: No such file or directory\n");
  });

  it("reports exit codes as the kubelet does", async () => {
    const { stdout, stderr, status } = await exec("web", "sh", "-c", "echo $SET_size && nope; exit 7");
    expect({ stdout, stderr }).toEqual({ stdout: "3\n", stderr: "sh: nope: not found\n" });
    expect(status).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "7" }] },
    });
  });

  it("answers according to its annotation and the plane's handler", async () => {
    expect(await exec("web", "pg_isready")).toEqual({ stdout: "ready", stderr: "", status: SUCCESS });
    const failed = await exec("web", "psql", "-c", "select 1");
    expect(failed.stderr).toBe("no such table");
    expect(failed.status.details.causes).toEqual([{ reason: "ExitCode", message: "3" }]);
    expect((await exec("web", "version")).stdout).toBe("16.1\n");
    expect((await exec("web", "broken")).status).toMatchObject({
      reason: "InternalError",
      message: "Internal error occurred: error executing command in container: out of order",
    });
  });

  it("reports a missing program, and a container that does not run", async () => {
    expect((await exec("web", "psql")).status.message).toBe(
      "Internal error occurred: error executing command in container: OCI runtime exec failed: exec failed: unable to " +
        'start container process: exec: "psql": executable file not found in $PATH: unknown',
    );
    expect((await exec("web", "constructor")).status.reason).toBe("InternalError");
    expect((await exec("stuck", "true")).status.message).toBe(
      'Internal error occurred: unable to upgrade connection: container not found ("main")',
    );
  });

  it("reads standard input until it is closed, in either encoding", async () => {
    const { connection } = await open("web", query(["cat"], "&stdin=true"));
    await connection!.send(Buffer.from("\0one "));
    await connection!.send(Buffer.from("\0two"));
    await connection!.send(Buffer.of(255, 0));
    expect((await session(connection!)).stdout).toBe("one two");
    const base64 = await open("web", query(["sh"], "&stdin=true"), {
      "sec-websocket-protocol": "v4.base64.channel.k8s.io",
    });
    await base64.connection!.send(`0${Buffer.from("echo a\nexit 2\n").toString("base64")}`);
    const { stdout, status } = await session(base64.connection!);
    expect(stdout).toBe("a\n");
    expect(status.details.causes[0].message).toBe("2");
  });

  it("echoes at a terminal, and handles erased characters", async () => {
    const { connection } = await open("web", query(["sh"], "&stdin=true&tty=true"));
    await connection!.send(Buffer.from("\0echp\x7fo hi\r\x04"));
    expect((await session(connection!)).stdout).toBe("/ # echp\b \bo hi\r\nhi\n/ # ");
  });

  it("ends a command whose caller has gone", async () => {
    const { connection, socket } = await open("web", query(["sleep", "3600"]));
    const ended = session(connection!).catch(() => undefined);
    socket.destroy();
    await ended;
    expect((await exec("web", "true")).status).toEqual(SUCCESS);
  });

  it("requires an existing container, a bound pod, and a known protocol", async () => {
    const refused = async (pod: string, search: string, headers = {}) => (await open(pod, search, headers)).status;
    expect(await refused("web", query(["true"], "&container=none"))).toBe(400);
    expect(await refused("absent", query(["true"]))).toBe(404);
    expect(await refused("web", query(["true"]), { "sec-websocket-protocol": "v9" })).toBe(400);
    expect(await refused("web", query(["true"]), { upgrade: "SPDY/3.1" })).toBe(403);
    expect(await refused("web", query(["true"]), { upgrade: "h2c" })).toBe(400);
  });

  it("requires permission to create pods/exec", async () => {
    const reader = { authorization: "Bearer reader" };
    expect((await open("web", query(["true"]), reader)).status).toBe(403);
    const rules = [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }];
    await plane.client.create(ClusterRole, { metadata: { name: "looks" }, rules });
    const apiGroup = "rbac.authorization.k8s.io";
    await plane.client.create(ClusterRoleBinding, {
      metadata: { name: "looks" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "looks" },
      subjects: [{ apiGroup, kind: "User", name: "reader" }],
    });
    expect((await open("web", query(["true"]), reader)).status).toBe(403);
    await plane.client.patch(ClusterRole, "looks", {
      type: "merge",
      body: { rules: [{ ...rules[0]!, verbs: ["get", "create"] }] },
    });
    expect((await open("web", query(["true"]), reader)).status).toBe(101);
  });

  it("attaches to the output of the container until it ends", async () => {
    const path = "/api/v1/namespaces/default/pods/web/attach?stdout=true&stderr=true";
    const protocol = { "sec-websocket-protocol": "v4.channel.k8s.io" };
    const { connection } = await openWebSocket({ url: plane.url!, path, headers: { ...ADMIN, ...protocol }, random });
    const said = session(connection!);
    await plane.client.delete(Pod, "web", { namespace: "default" });
    expect((await said).status).toEqual(SUCCESS);
  });
});
