import { idleSuite } from "./idle.suite.js";

idleSuite(50);
