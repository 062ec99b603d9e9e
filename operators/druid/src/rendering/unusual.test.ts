import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { validate } from "../cluster/validation.js";
import { Druid } from "../druid.js";
import { childrenOf, HASH_ANNOTATION, render } from "./render.js";
import { UNUSUAL } from "./unusual.testing.js";

/** Made with Go: the objects were decoded into the types of k8s.io/api v0.27.7, and hashed as druid-operator does. */
const HASHES = [
  "ConfigMap odd-druid-common-config jVPrSad8O6MAh4TveCWUeHp59uo=",
  "ConfigMap druid-odd-hot-config nrlLo8qbeKoY6ccF5XFoC2JvTm8=",
  "Service hist-druid-odd-hot-svc jUCq6NOZPE/ahpi9DHtwaP8tNd0=",
  "Service druid-odd-hot H8VFzbOIXb646MtJDcwqnqvwp78=",
  "StatefulSet druid-odd-hot leS4tOPLBeZCR9KjNrFNMHUEivk=",
  "PodDisruptionBudget druid-odd-hot krIy5gTGYG/q7ywd3MTjn7xbb2E=",
  "ConfigMap druid-odd-web-config XvGecu5PmtAiWaIUXblFhFgRc0o=",
  "Deployment druid-odd-web w914Cn/gZqnCj8Fmcm5+VSJ4b0Q=",
  "Ingress druid-odd-web mHfKGrt3IL+OrHcXbNufASXoUGI=",
  "HorizontalPodAutoscaler druid-odd-web kO8QM40T3Dw7Ucda7WCHLhSJqOI=",
  "PersistentVolumeClaim extra jmW/3/cQ++bQVM9tmEaysPNhTq0=",
  "ConfigMap vols-druid-common-config ZykJdYOU4ZPM2XdtQV8jWnT+6KE=",
  "ConfigMap druid-vols-brokers-config uub9MA66K5jJqz7bVB99rd64bRw=",
  "Service all-druid-vols-brokers ZpfbbXu5JTgkGSEBRe++Fn/x54E=",
  "StatefulSet druid-vols-brokers vYi8EPMB/LVW+LwGL2Lk7wl9il8=",
  "Ingress druid-vols-brokers +MBPBg/c9Xg7pfnjx2aHi3E7zFo=",
  "PodDisruptionBudget druid-vols-brokers ZWa/Zfq5UL4MMZoa4qw5ezr2Ss4=",
  "HorizontalPodAutoscaler druid-vols-brokers VnLSmhoq5Yz+VGmfzZ+XjDx+ANY=",
  "PersistentVolumeClaim druid-vols-brokers ntLwE8U0zHuI4ZZcOLVFOhix1JA=",
];

it("renders unusual fields with the same hashes as Go", () => {
  const druids = [...parseAllDocuments(UNUSUAL)].map((each) => Druid.withDefaults(each.toJS()) as unknown as Druid);
  expect(druids.flatMap((druid) => validate(druid))).toEqual([]);
  const children = druids.flatMap((druid) => childrenOf(render(druid)));
  expect(
    children.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.annotations?.[HASH_ANNOTATION]}`),
  ).toEqual(HASHES);
});
