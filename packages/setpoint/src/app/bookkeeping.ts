import type { Clock } from "../clock/clock.js";
import { systemClock } from "../clock/system-clock.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject, NewObject } from "../kinds/object.js";
import { isSameJson } from "../kinds/same-json.js";
import { formatTime } from "../kinds/time.js";
import { type Mutator, mutating } from "./admission.js";

export interface BookkeepingOptions {
  /** The prefix of the annotations. Defaults to `setpoint.dev/`. */
  readonly prefix?: string;
  readonly clock?: Clock;
}

/**
 * Records in annotations who created an object (`createdBy`) and who changed it last and when (`updatedBy`,
 * `updateTimestamp`), and overwrites what clients write there. An update without a change leaves them.
 */
export function bookkeeping<T extends KubeObject>(kind: Kind<T>, options: BookkeepingOptions = {}): Mutator {
  const { prefix = "setpoint.dev/", clock = systemClock } = options;
  const names = ["createdBy", "updatedBy", "updateTimestamp"].map((name) => `${prefix}${name}`);
  const [createdBy = "", updatedBy = "", updateTimestamp = ""] = names;

  const own = (object: KubeObject): Record<string, string> => {
    const annotations = Object.entries(object.metadata.annotations ?? {});
    return Object.fromEntries(annotations.filter(([name]) => names.includes(name)));
  };
  const withOwn = (object: KubeObject, values: Readonly<Record<string, string>>): NewObject<T> => {
    const others = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !names.includes(name));
    const annotations = { ...Object.fromEntries(others), ...values };
    return { ...object, metadata: { ...object.metadata, annotations } } as unknown as NewObject<T>;
  };
  /** What a client can change, without our own annotations. */
  const content = (object: KubeObject): unknown => {
    const {
      managedFields: _fields,
      resourceVersion: _version,
      generation: _generation,
      ...metadata
    } = withOwn(object, {}).metadata;
    return { ...object, metadata };
  };

  return mutating(kind, {
    create: (object, { user }) => withOwn(object, { [createdBy]: user.username }),
    update(object, old, { user }) {
      if (isSameJson(content(object), content(old))) return withOwn(object, own(old));
      const created = own(old)[createdBy];
      return withOwn(object, {
        ...(created === undefined ? {} : { [createdBy]: created }),
        [updatedBy]: user.username,
        [updateTimestamp]: formatTime(clock.now()),
      });
    },
  });
}
