/** The file that the guide tells readers to save. */
export { Greeting, greetings } from "../01-minimal.js";
