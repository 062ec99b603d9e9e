import { ownField } from "../../kinds/own-field.js";

/** Overrides the runtime's decision which values of Secrets to mask. */
export interface SecretOptions {
  /** Keys whose values are always masked. `*` matches any characters: `"licence*"`. Wins over `show`. */
  readonly mask?: readonly string[];
  /** Keys whose values are shown: `["database", "*-user"]`. */
  readonly show?: readonly string[];
}

/** The annotation of a Secret that names its secret keys, separated by commas; values of other keys are shown. */
export const SECRET_KEYS = "setpoint.dev/secret-keys";

/** Parts of keys that say what the value is. The first list wins: `user-password` is a password. */
const SECRET_WORDS = new Set(
  (
    "password passwd passphrase pwd pass secret token key apikey privatekey credential credentials auth " +
    "authorization cookie session signature salt seed pin otp dsn jwt bearer dockerconfigjson dockercfg kubeconfig license licence"
  ).split(" "),
);
const PUBLIC_WORDS = new Set(
  (
    "user username login database dbname db host hostname port namespace name schema server endpoint address region " +
    "zone bucket account email domain cluster role type engine sslmode mode protocol version crt cert certificate"
  ).split(" "),
);
/** Common settings: not secret, and useful in texts. */
const COMMON_VALUES = new Set(
  (
    "default enabled disabled require required prefer preferred verify-ca verify-full optional production staging " +
    "development testing localhost read-only read-write primary replica internal external public private"
  ).split(" "),
);

/** Decides which values of a Secret are secret. Pure. */
export class SecretPolicy {
  readonly #mask: readonly RegExp[];
  readonly #show: readonly RegExp[];

  constructor({ mask = [], show = [] }: SecretOptions = {}) {
    this.#mask = mask.map(patternOf);
    this.#show = show.map(patternOf);
  }

  /** Checks in this order: the options, the Secret's annotation, the key, the value. If in doubt, a value is secret. */
  isSecret(key: string, value: string, annotations: Readonly<Record<string, string>> | undefined): boolean {
    if (this.#mask.some((pattern) => pattern.test(key))) return true;
    if (this.#show.some((pattern) => pattern.test(key))) return false;
    const named = ownField(annotations, SECRET_KEYS);
    if (typeof named === "string") {
      return named
        .split(",")
        .map((each) => each.trim())
        .includes(key);
    }
    const words = wordsOf(key);
    if (words.some((word) => SECRET_WORDS.has(word))) return true;
    // An address may carry a password: postgres://user:password@host.
    if (/:\/\/[^/\s]*:[^/\s]*@/.test(value)) return true;
    if (words.some((word) => PUBLIC_WORDS.has(word))) return false;
    return !COMMON_VALUES.has(value.toLowerCase());
  }
}

/** `dbPassword`, `DB_PASSWORD` and `db-password` are the words db and password. */
function wordsOf(key: string): readonly string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function patternOf(pattern: string): RegExp {
  const escaped = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`);
}
