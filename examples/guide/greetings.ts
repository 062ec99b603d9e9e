/** What the guide saves under this name. */
export { Greeting, greetings } from "../01-minimal.js";
