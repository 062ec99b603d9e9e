// Starts a real Apache Druid 33 on loopback, for tests: ZooKeeper, coordinator with overlord, router, broker, historical;
// with `kafka: true` a broker of Kafka besides.
//
//   import { startDruid } from "…/tools/druid/start.mjs";
//   await using druid = await startDruid();
//   druid.url   // the router's
//
// From a shell: `node tools/druid/start.mjs [--kafka] [--dir DIR]` runs one until it is interrupted.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../ports/free-port.mjs";
import { druidJars, kafkaJars } from "./install.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** JVM flags that Druid needs on Java 17. */
const OPENINGS = [
  "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
  "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
  ...["java.lang", "java.io", "java.nio", "jdk.internal.ref", "sun.nio.ch"].map(
    (name) => `--add-opens=java.base/${name}=ALL-UNNAMED`,
  ),
];
/** The processes are short-lived: the second compiler costs more than it gains. */
const LIGHT = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"];

/** The properties of each process, besides the common ones. */
const PROCESSES = {
  coordinator: {
    heap: "300m",
    "druid.service": "druid/coordinator",
    "druid.coordinator.asOverlord.enabled": true,
    "druid.coordinator.asOverlord.overlordService": "druid/overlord",
    "druid.coordinator.startDelay": "PT2S",
    "druid.coordinator.period": "PT2S",
    "druid.coordinator.period.indexingPeriod": "PT10S",
    "druid.manager.segments.pollDuration": "PT1S",
    "druid.indexer.queue.startDelay": "PT1S",
    "druid.indexer.runner.type": "local",
    "druid.indexer.storage.type": "metadata",
    "druid.worker.capacity": 2,
  },
  router: {
    heap: "96m",
    "druid.service": "druid/router",
    "druid.router.managementProxy.enabled": true,
    "druid.router.http.numConnections": 10,
  },
  broker: { heap: "200m", "druid.service": "druid/broker", "druid.sql.enable": true },
  historical: { heap: "128m", "druid.service": "druid/historical" },
};

/** @param {{ kafka?: boolean, dir?: string }} [options] */
export async function startDruid(options = {}) {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "setpoint-druid-"));
  mkdirSync(dir, { recursive: true });
  const classPath = `${druidJars()}/*`;
  const processes = [];
  const run = (name, args) => {
    const cwd = join(dir, name);
    mkdirSync(join(cwd, "tmp"), { recursive: true });
    const log = openSync(join(dir, `${name}.log`), "a");
    // Its own process group: tasks are children of the overlord, and end with it.
    const child = spawn("java", [`-Djava.io.tmpdir=${join(cwd, "tmp")}`, ...LIGHT, ...args], {
      cwd,
      detached: true,
      stdio: ["ignore", log, log],
    });
    processes.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of processes.reverse()) {
      const isOver = child.exitCode !== null || child.signalCode !== null;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        continue;
      }
      if (!isOver) await new Promise((resolve) => child.once("exit", resolve));
    }
    if (!options.dir) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  /** Fails with the end of the log if the process ends, or is not ready in time. */
  const until = async (name, child, isReady) => {
    for (let tries = 0; !(await isReady()); tries++) {
      if (child.exitCode === null && child.signalCode === null && tries < 1800) {
        await pause(200);
        continue;
      }
      const log = readFileSync(join(dir, `${name}.log`), "utf8").slice(-3000);
      await stop();
      throw new Error(`${name} did not become ready:\n${log}`);
    }
  };

  const ports = new Set();
  while (ports.size < 8) ports.add(await freePort());
  const [zookeeperPort, kafkaPort, controllerPort, derbyPort, ...serverPorts] = ports;
  const zookeeperArgs = ["-Dzookeeper.admin.enableServer=false", "-Dzookeeper.clientPortAddress=127.0.0.1"];
  const zookeeper = run("zookeeper", [
    "-Xmx96m",
    ...zookeeperArgs,
    ...["-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", zookeeperConfig(dir, zookeeperPort)],
  ]);
  await until("zookeeper", zookeeper, () => isOpen(zookeeperPort));
  const common = {
    "druid.host": "127.0.0.1",
    "druid.bindOnHost": true,
    "druid.extensions.loadList": "[]",
    "druid.zk.service.host": `127.0.0.1:${zookeeperPort}`,
    "druid.metadata.storage.type": "derby",
    "druid.metadata.storage.connector.connectURI": `jdbc:derby://127.0.0.1:${derbyPort}/${join(dir, "metadata")};create=true`,
    "druid.metadata.storage.connector.host": "127.0.0.1",
    "druid.metadata.storage.connector.port": derbyPort,
    "druid.storage.type": "local",
    "druid.storage.storageDirectory": join(dir, "segments"),
    "druid.indexer.logs.type": "file",
    "druid.indexer.logs.directory": join(dir, "task-logs"),
    "druid.indexer.task.baseTaskDir": join(dir, "tasks"),
    "druid.segmentCache.locations": JSON.stringify([{ path: join(dir, "segment-cache"), maxSize: 1_000_000_000 }]),
    "druid.selectors.indexing.serviceName": "druid/overlord",
    "druid.selectors.coordinator.serviceName": "druid/coordinator",
    "druid.processing.buffer.sizeBytes": 5_000_000,
    "druid.processing.numThreads": 1,
    "druid.processing.numMergeBuffers": 1,
    "druid.indexer.fork.property.druid.processing.buffer.sizeBytes": 5_000_000,
    "druid.indexer.fork.property.druid.processing.numThreads": 1,
    "druid.indexer.fork.property.druid.processing.numMergeBuffers": 1,
    "druid.indexer.runner.javaOptsArray": JSON.stringify([
      "-Xmx200m",
      "-XX:MaxDirectMemorySize=100m",
      ...LIGHT,
      ...OPENINGS,
    ]),
    "druid.server.http.numThreads": 12,
    "druid.lookup.enableLookupSyncOnStartup": false,
    "druid.monitoring.monitors": "[]",
    "druid.emitter": "noop",
    "user.timezone": "UTC",
    "file.encoding": "UTF-8",
  };
  const servers = Object.entries(PROCESSES).map(([name, { heap, ...own }], at) => {
    const port = serverPorts[at];
    const properties = Object.entries({ ...common, ...own, "druid.plaintextPort": port }).map(
      ([key, value]) => `-D${key}=${value}`,
    );
    const child = run(name, [
      `-Xmx${heap}`,
      "-XX:MaxDirectMemorySize=100m",
      ...OPENINGS,
      ...properties,
      ...["-cp", classPath, "org.apache.druid.cli.Main", "server", name],
    ]);
    return { name, child, url: `http://127.0.0.1:${port}` };
  });
  const kafka = options.kafka ? startKafka(dir, kafkaPort, controllerPort, run) : undefined;
  for (const { name, child, url } of servers) await until(name, child, () => isHealthy(url));
  const { url } = servers.find(({ name }) => name === "router");
  const router = servers.find(({ name }) => name === "router").child;
  await until("router", router, () => answers(`${url}/druid/coordinator/v1/config`));
  await until("router", router, () => answers(`${url}/druid/indexer/v1/worker`));
  if (kafka) await until("kafka", kafka, () => isOpen(kafkaPort));
  return {
    url,
    kafka: `127.0.0.1:${kafkaPort}`,
    dir,
    pids: processes.map(({ pid }) => pid),
    /** Writes lines of text to a topic, and creates the topic. */
    produce(topic, lines) {
      const tool = ["-cp", `${kafkaJars()}/*`, "kafka.tools.ConsoleProducer"];
      const to = ["--bootstrap-server", `127.0.0.1:${kafkaPort}`, "--topic", topic];
      execFileSync("java", ["-Xmx96m", ...LIGHT, ...tool, ...to], { input: `${lines.join("\n")}\n`, stdio: "pipe" });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function zookeeperConfig(dir, port) {
  const file = join(dir, "zoo.cfg");
  const lines = [`dataDir=${join(dir, "zookeeper-data")}`, "clientPortAddress=127.0.0.1", `clientPort=${port}`];
  writeFileSync(file, [...lines, "tickTime=2000", "admin.enableServer=false", ""].join("\n"));
  return file;
}

function startKafka(dir, port, controllerPort, run) {
  const file = join(dir, "kafka.properties");
  const listeners = `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`;
  const properties = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    listeners,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.dirs": join(dir, "kafka-logs"),
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
  };
  writeFileSync(
    file,
    Object.entries(properties)
      .map((each) => `${each.join("=")}\n`)
      .join(""),
  );
  const classPath = ["-cp", `${kafkaJars()}/*`];
  const id = "setpointdruidtests0000";
  execFileSync("java", [...LIGHT, ...classPath, "kafka.tools.StorageTool", "format", "-t", id, "-c", file], {
    stdio: "pipe",
  });
  return run("kafka", ["-Xmx256m", ...classPath, "kafka.Kafka", file]);
}

function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function isHealthy(url) {
  return answers(`${url}/status/health`);
}

async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf("--dir");
  const dir = at < 0 ? undefined : process.argv[at + 1];
  const druid = await startDruid({ kafka: process.argv.includes("--kafka"), ...(dir ? { dir } : {}) });
  console.log(JSON.stringify({ url: druid.url, kafka: druid.kafka, dir: druid.dir }));
  const end = () => void druid.stop().then(() => process.exit(0));
  process.once("SIGINT", end).once("SIGTERM", end);
}
