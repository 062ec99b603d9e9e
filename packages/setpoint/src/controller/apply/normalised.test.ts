import { TestEnvironment } from "../../testing/test-environment.js";
import { normalisedSuite } from "./normalised.suite.js";

normalisedSuite("the embedded control plane", () => TestEnvironment.create());
