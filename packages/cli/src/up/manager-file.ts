/** Where other commands find the process of `up`, below its data directory: its URL and process id. */
export const MANAGER_FILE = "manager.json";
