// Calls tools through the TypeScript SDK, and prints what a program that uses it gets of each answer.
// node calls.mjs CLIENT_MODULE STDIO_MODULE < {"command": …, "args": […], "env": {…}, "calls": [[name, arguments], …]}
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [client, stdio] = process.argv.slice(2).map((path) => pathToFileURL(path).href);
const { Client } = await import(client);
const { StdioClientTransport } = await import(stdio);
const { command, args, env, calls } = JSON.parse(readFileSync(0, "utf8"));
const connected = new Client({ name: "test", version: "1" });
await connected.connect(new StdioClientTransport({ command, args, env }));
const { tools } = await connected.listTools();
const answers = [];
for (const [name, given] of calls) {
  // It checks the structured content against the tool's schema.
  const result = await connected.callTool({ name, arguments: given });
  const { text } = result.content[0];
  const isSame = !result.structuredContent || JSON.stringify(JSON.parse(text)) === JSON.stringify(result.structuredContent);
  answers.push({ characters: text.length, bytes: Buffer.byteLength(text), isError: Boolean(result.isError), isSame });
}
await connected.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
