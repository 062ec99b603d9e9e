export { type DruidAnswer, type DruidCall, type DruidRequest, httpCall } from "./api/druid-api.js";
export { ROLLOUT_ORDERS, type RolloutOrder } from "./cluster/order.js";
export { type ClusterSettings, DEFAULT_SETTINGS, readSetting } from "./cluster/settings.js";
export { type Problem, validate } from "./cluster/validation.js";
export { Druid, type DruidNode, type DruidStatus, type NodeType } from "./druid.js";
export { DruidIngestion } from "./druid-ingestion.js";
export { type DruidOperatorOptions, druidApp, druidControllers } from "./druid-operator.js";
export { druidErrors } from "./errors.js";
export {
  type Child,
  childrenOf,
  type NodeGroup,
  type RenderedCluster,
  render,
  type WorkloadChild,
} from "./rendering/render.js";
