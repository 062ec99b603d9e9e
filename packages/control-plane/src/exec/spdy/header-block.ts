import type { Transform } from "node:stream";
import { constants, createDeflate, createInflate } from "node:zlib";
import { SetpointError } from "setpoint";

const NAMES = `options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
 authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5
 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
 if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after
 server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1
 url public set-cookie keep-alive origin`;
const VALUES = `100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative
 Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server
 Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu,
 Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.`;

/** The initial compression dictionary (SPDY draft 3.1, 2.6.10.1): length-prefixed names, then concatenated values. */
function dictionary(): Buffer {
  const names = NAMES.split(/\s+/).map((name) => lengthAndText(name.replace("_", " ")));
  return Buffer.concat([...names, Buffer.from(VALUES.replaceAll(/\n\s*/g, " "))]);
}

/** Names and values; several values of one name are joined. Blocks share compression state, so order matters. */
export type HeaderBlock = ReadonlyMap<string, string>;

/** The maximum size of one decompressed block. */
const MAX_BYTES = 64 * 1024;

/** Reads the header blocks of a connection, in order. */
export class HeaderReader {
  readonly #inflate = createInflate({ dictionary: dictionary() });

  /** Rejects if the block is damaged or too large. */
  async read(compressed: Buffer): Promise<HeaderBlock> {
    const bytes = await passed(this.#inflate, compressed);
    const headers = new Map<string, string>();
    let at = 4;
    const text = (): string => {
      const start = at + 4;
      at = start + bytes.readUInt32BE(at);
      return bytes.toString("latin1", start, at);
    };
    for (let left = bytes.readUInt32BE(0); left > 0; left--) headers.set(text(), text().replaceAll("\0", ","));
    return headers;
  }
}

/** Writes the header blocks of a connection, in order. */
export class HeaderWriter {
  readonly #deflate = createDeflate({ dictionary: dictionary(), flush: constants.Z_SYNC_FLUSH });

  write(headers: HeaderBlock): Promise<Buffer> {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(headers.size);
    return passed(this.#deflate, Buffer.concat([count, ...[...headers].flat().map(lengthAndText)]));
  }
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeUInt32BE(text.length);
  bytes.write(text, 4, "latin1");
  return bytes;
}

function passed(transform: Transform, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      transform.off("readable", onReadable);
      transform.off("error", onError);
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    const onReadable = (): void => {
      for (let chunk = transform.read(); chunk !== null; chunk = transform.read()) {
        chunks.push(chunk as Buffer);
        size += (chunk as Buffer).length;
        if (size <= MAX_BYTES) continue;
        // Stop now, not at the end: a block of a megabyte can decompress to a gigabyte.
        onError(new SetpointError("SPDY_INVALID", "a header block is too large"));
        transform.on("error", () => {});
        transform.destroy();
        return;
      }
    };
    transform.once("error", onError);
    // Read continuously: unread data stalls the rest of the block.
    transform.on("readable", onReadable);
    transform.write(bytes, () => {
      onReadable();
      settle();
      resolve(Buffer.concat(chunks));
    });
  });
}
