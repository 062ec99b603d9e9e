import { graphStoreContract } from "./graph-store.contract.js";
import { memoryStore } from "./memory-store.js";

graphStoreContract("in memory", memoryStore);
