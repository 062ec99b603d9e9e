// A TLS server of a few lines: reads each request in one piece and answers with its body. Any single-threaded TLS
// server on Node does at least this much. Usage: node bare-server.mjs KEY CERTIFICATE; prints its port.
import { readFileSync } from "node:fs";
import { createServer } from "node:tls";

const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
const HEAD_END = Buffer.from("\r\n\r\n");

const server = createServer({ key, cert }, (socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    const body = chunk.subarray(chunk.indexOf(HEAD_END) + HEAD_END.length);
    const head = `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    const answer = Buffer.allocUnsafe(head.length + body.length);
    answer.write(head, "latin1");
    answer.set(body, head.length);
    socket.write(answer);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
