/** The folders that each folder of a package's sources may import, besides itself. */
export type Layers = Readonly<Record<string, readonly string[]>>;

const BASE = ["clock", "errors"];
const READING = [...BASE, "loop", "kinds", "client", "informer"];
const LOOPS = [...BASE, "loop", "queue"];
const CONTROLLER = [...READING, ...LOOPS, "graph", "controller"];

const setpoint: Layers = {
  errors: [],
  clock: ["errors"],
  loop: BASE,
  queue: [...BASE, "loop"],
  kinds: BASE,
  client: [...BASE, "loop", "kinds"],
  informer: [...BASE, "loop", "kinds", "client"],
  graph: LOOPS,
  controller: [...READING, ...LOOPS, "graph"],
  app: CONTROLLER,
  manager: [...CONTROLLER, "app"],
  command: [...CONTROLLER, "app", "manager"],
  testing: [...CONTROLLER, "app", "manager"],
};

const MODELS = ["api", "facts", "schema"];
const OBJECTS = [...MODELS, "protobuf", "apply", "cel", "storage", "kinds", "builtin"];

const controlPlane: Layers = {
  api: [],
  facts: ["api"],
  schema: ["api", "facts"],
  protobuf: MODELS,
  apply: MODELS,
  cel: [...MODELS, "apply"],
  storage: ["api"],
  kinds: ["api", "facts"],
  builtin: [...MODELS, "cel", "kinds"],
  websocket: ["api"],
  registry: [...OBJECTS, "websocket"],
  auth: [...OBJECTS, "websocket", "registry"],
  admission: [...OBJECTS, "registry", "auth"],
  http: ["api", "websocket", "registry"],
  workloads: ["api", "schema", "cel", "admission"],
  exec: ["api", "storage", "websocket", "registry", "auth", "http", "workloads"],
};

/** Keyed by package name. `docs/architecture.md` shows both tables. */
export const layersOf: Readonly<Record<string, Layers>> = {
  setpoint,
  "@setpoint/control-plane": controlPlane,
};

/** The table in the form of `docs/architecture.md`. */
export function layerTable(layers: Layers): string {
  const rows = Object.entries(layers).map(
    ([folder, below]) => `| ${folder} | ${[...new Set(below)].join(", ") || "nothing"} |`,
  );
  return ["| folder | may import |", "| --- | --- |", ...rows].join("\n");
}
