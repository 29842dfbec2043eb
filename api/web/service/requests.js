// Requests to this page's service, with the token if there is one; refusals become errors that can be shown. Paths are relative, as the page may be
// behind a proxy that serves it below a folder.

const TOKEN = "memplan-token";

export const notices = new EventTarget(); // "token-needed" when the service wants one

export class Refused extends Error {
  constructor(status, document) {
    super(document.detail);
    this.status = status;
    this.code = document.code;
    this.errors = document.errors ?? [];
    this.more = document.more ?? 0;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => (value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN)),
};

export async function ask(path, { method = "GET", body, type, headers = {}, signal } = {}) {
  const sent = new Headers(headers);
  const used = token.get();
  if (type) sent.set("Content-Type", type);
  try {
    if (used) sent.set("Authorization", `Bearer ${used}`);
  } catch {
    throw new Refused(401, { code: "unauthorised", detail: "a token has letters, digits and signs only" });
  }
  let response;
  try {
    response = await fetch(path, { method, body, headers: sent, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { code: "unreachable", detail: "the service cannot be reached; is it running?" });
  }
  if (response.ok) return response;
  const document = await response.json().catch(() => ({ code: "unknown", detail: `the answer is ${response.status}` }));
  if (response.status === 401 && used === token.get()) notices.dispatchEvent(new Event("token-needed"));
  throw new Refused(response.status, document);
}

export const asJson = async (path, options) => (await ask(path, options)).json();
export const asText = async (path, options) => (await ask(path, options)).text();
export const asBlob = async (path, options) => (await ask(path, options)).blob();

// The media type of sent problems: the service recognises their formats itself.
export const PROBLEM = "application/octet-stream";
