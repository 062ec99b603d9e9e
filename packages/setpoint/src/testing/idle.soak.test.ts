import { idleSuite } from "./idle.suite.js";

idleSuite(Number(process.env.IDLE_OBJECTS ?? 10_000));
