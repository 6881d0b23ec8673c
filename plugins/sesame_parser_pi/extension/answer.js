/**
 * What a pi that Sesame asks for one answer is given to load: it tells what the answer took, in the last line of standard
 * error, and ends when the model fails.  Trying again is Sesame's, and pi would, with long pauses.
 *
 * Written by `sesame integrate pi`, which writes it anew: edits are lost.
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
