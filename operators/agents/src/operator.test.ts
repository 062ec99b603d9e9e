import { agentsSuite } from "./agents.suite.js";
import { virtualPlace } from "./place.testing.js";
import { toolServersSuite } from "./tool-servers.suite.js";

agentsSuite(virtualPlace);
toolServersSuite(virtualPlace);
