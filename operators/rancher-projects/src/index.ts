export {
  ASSIGNED_ANNOTATION,
  type AssignmentOptions,
  DEFAULT_OPTIONS,
  type Decision,
  decide,
  OWNER_LABEL,
  type Refusal,
} from "./assignment.js";
export { formatProjectId, Project, type ProjectId, projectId } from "./project.js";
export { projectCrd, sampleProjects } from "./project-crd.js";
export { type Match, type MatchOptions, matchProject } from "./project-match.js";
export { type RancherProjectsOptions, rancherProjects } from "./rancher-projects.js";
