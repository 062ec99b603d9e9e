export type { CustomResourceDefinition } from "./builtin/apiextensions.k8s.io/v1.js";
export type { CrdManifest, CrdOptions } from "./crd/crd.js";
export { type CrdChange, compareCrds } from "./crd/crd-changes.js";
export { type CrdClient, type InstallCrdOptions, type InstallCrdResult, installCrd } from "./crd/install-crd.js";
export type { ColumnOptions, ResourceDeclaration, ScaleOptions, VersionOptions } from "./declaration.js";
export { type DiscoveryClient, discoverKind } from "./discovered-kind.js";
export type { Marker } from "./k8s.js";
export { keyOf, kindId, parseKey, type Scope, type UntypedKind } from "./kind.js";
export { type KindId, parseKindId, pluralOf } from "./kind-id.js";
export { dnsSubdomain, labelValue, qualifiedName } from "./label-rules.js";
export {
  dns1035Label,
  dnsLabel,
  label1035Name,
  labelName,
  type NameRule,
  pathSegmentName,
  subdomainName,
} from "./name-rules.js";
export type { DeepPartial, DeepReadonly, ManagedFieldsEntry, OwnerReference, UntypedObject } from "./object.js";
export { compareResourceVersions } from "./resource-version.js";
export { isSameJson } from "./same-json.js";
export { type IntOrString, scaledValue } from "./schema/int-or-string.js";
export type { InputOf, JsonSchema, OutputOf, Schema, StandardSchema } from "./schema/json-schema.js";
export type { StructuralSchema } from "./schema/structural-schema.js";
export type { FieldProblem } from "./schema/validation.js";
export {
  type FieldRequirement,
  type FieldSelectorLike,
  formatFieldSelector,
  holdsField,
  parseFieldSelector,
} from "./selector/field-selector.js";
export type { LabelRequirement } from "./selector/label-requirement.js";
export {
  formatLabelSelector,
  type LabelMatcher,
  type LabelSelector,
  type LabelSelectorLike,
  type LabelSelectorRequirement,
  labelMatcher,
  matchesLabels,
  parseLabelSelector,
} from "./selector/label-selector.js";
export { type InvalidPart, SelectorError } from "./selector/selector-error.js";
export { formatTime, parseTime } from "./time.js";
export { type KindOptions, untypedKind } from "./untyped-kind.js";
