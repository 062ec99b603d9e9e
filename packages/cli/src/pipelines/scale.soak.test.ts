import { testScale } from "./scale.suite.js";

testScale(Number(process.env.PIPELINES_MODELS ?? 2_000));
