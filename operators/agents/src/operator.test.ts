import { agentsSuite } from "./agents.suite.js";
import { modelsSuite } from "./model-providers.suite.js";
import { virtualPlace } from "./place.testing.js";
import { toolServersSuite } from "./tool-servers.suite.js";

agentsSuite(virtualPlace);
modelsSuite(virtualPlace);
toolServersSuite(virtualPlace);
