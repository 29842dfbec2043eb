// A job's events as they happen. EventSource cannot send a token, so the stream is read by hand; it continues where it was cut off.

import { ask, Refused } from "./requests.js";

const PAUSE = 1000;

// Calls `tell(kind, data)` for each event, until the job is done or the signal says stop. Rejects if the service refuses.
export async function follow(id, tell, signal) {
  let last = 0;
  while (!signal.aborted) {
    try {
      const headers = last ? { "Last-Event-ID": String(last) } : {};
      const response = await ask(`v1/jobs/${id}/events`, { headers, signal });
      if (response.status === 204) return;
      for await (const event of events(response.body)) {
        if (event.id) last = event.id;
        if (event.kind === "closing" || event.kind === "error") break; // connect again
        tell(event.kind, event.data);
        if (event.kind === "done") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

async function* events(stream) {
  let rest = "";
  for await (const part of chunks(stream)) {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event) yield event;
    }
  }
}

async function* chunks(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  if (!fields.event) return null; // a comment, which only keeps the line open
  return { id: Number(fields.id ?? 0), kind: fields.event, data: JSON.parse(fields.data ?? "{}") };
}
