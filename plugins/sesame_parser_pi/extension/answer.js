/**
 * The extension of a pi that Sesame calls for one answer: it reports the usage of the answer, in the last line of
 * standard error, and ends when the model fails.  Sesame retries; pi would, too, with long pauses.
 *
 * Written by `sesame integrate pi`, which overwrites it: edits are lost.
 */

import { writeSync } from "node:fs";

const STANDARD_ERROR = 2;

export default function answer(pi) {
  pi.on("agent_end", ({ messages }) => {
    const { provider, model, usage, stopReason, errorMessage } = messages.at(-1);
    const hasFailed = stopReason === "error" || stopReason === "aborted";
    if (hasFailed) writeSync(STANDARD_ERROR, `${errorMessage}\n`);
    const took = {
      model: `${provider}/${model}`,
      inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
      outputTokens: usage.output,
      // pi says 0 where it knows no prices.
      cost: usage.cost.total || null,
    };
    writeSync(STANDARD_ERROR, `${JSON.stringify(took)}\n`);
    if (hasFailed) process.exit(1);
  });
}
