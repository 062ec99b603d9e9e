import { testAdBids, testScale } from "./scale.suite.js";

testAdBids();
testScale(100);
