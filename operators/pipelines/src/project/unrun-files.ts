import { type FileKind, fileKind } from "./file-kind.js";

const unrun = (type: string, kind: string, defaults: string, directories: readonly string[] = []): FileKind =>
  fileKind({ type, kind, defaults, directories });

/** Types of Rill's files that are listed but not run. */
export const unrunFiles: readonly FileKind[] = [
  unrun("migration", "Migration", "migrations", ["init.sql"]),
  unrun("metrics_view", "MetricsView", "metrics_views", ["dashboards", "metrics"]),
  unrun("explore", "Explore", "explores", ["explores"]),
  unrun("canvas", "Canvas", "canvases", ["canvases"]),
  unrun("component", "Component", "components"),
  unrun("alert", "Alert", "alerts"),
  unrun("report", "Report", "reports"),
  unrun("api", "API", "apis"),
  unrun("theme", "Theme", "themes"),
];
