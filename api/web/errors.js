// What went wrong, in words: the sentence, the places in the input, the code to look up.

import { element, plural, visible } from "./text.js";

// Fills the place for errors, or empties it for null.
export function showError(place, error) {
  place.hidden = error === null;
  if (error === null) {
    place.replaceChildren();
    return;
  }
  const found = error.errors ?? [];
  const lines = found.slice(0, 8).map((each) => {
    const where = each.pointer ? element("code", {}, visible(each.pointer)) : null;
    return element("li", {}, where, where ? " " : "", visible(each.message));
  });
  const more = found.length - lines.length + (error.more ?? 0);
  if (more > 0) lines.push(element("li", { className: "soft" }, `and ${more} more`));
  const said = found.length > 1 ? `${plural(found.length + (error.more ?? 0), "thing")} must be put right` : visible(error.message);
  const code = error.code ? element("code", { className: "soft" }, visible(error.code)) : null;
  place.replaceChildren(element("p", {}, said, " ", code ?? ""), ...(found.length > 1 ? [element("ul", {}, ...lines)] : []));
}
