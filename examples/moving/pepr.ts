/** A Pepr capability in Setpoint: When(a.Pod).IsCreated() with Mutate, Validate and Watch. */
import { app, mutating, RefusedError, validating, watcher } from "setpoint";
import { Pod } from "setpoint/kinds/v1";

export const hello = (log: (line: string) => void) =>
  app({
    name: "hello-pepr",
    kinds: [],
    unmanaged: [Pod],
    mutate: [
      // When(a.Pod).IsCreated().InNamespace("pepr-demo").Mutate(pod => pod.SetLabel("pepr", "was-here"))
      mutating(Pod, {
        create: ({ metadata, ...pod }) => ({
          ...pod,
          metadata: { ...metadata, labels: { ...metadata.labels, pepr: "was-here" } },
        }),
      }),
    ],
    validate: [
      // .Validate(pod => pod.HasLabel("team") ? pod.Approve() : pod.Deny("…"))
      validating(Pod, {
        create({ metadata }) {
          if (!metadata.labels?.team) throw new RefusedError(403, "Forbidden", "pods name their team");
        },
      }),
    ],
    // .Watch((pod, phase) => …): the events of each pod in order, with retries. Each start calls add for existing pods.
    // Deletes while it was down are only seen with a finalizer.
    loops: [watcher(Pod, { add: ({ metadata }) => log(`${metadata.name} is there`) })],
  });
