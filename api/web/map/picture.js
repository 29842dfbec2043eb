// A map as a picture to keep: its title and figures above it, the meaning of lines and colours below.

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const EDGE = 12;
const LINE = 18;
export const PART = "  ·  "; // separates the parts of a line, where it may be broken

// `heads`: lines of text. `legend`: pairs of a class of the style sheet (`line bound`, `k3`) and its meaning.
export function framed(map, scale, heads, legend, colours) {
  const width = map.width / scale;
  const measure = map.getContext("2d");
  measure.save();
  measure.font = `12px ${FONT}`;
  const room = width - 2 * EDGE;
  const measured = (text) => measure.measureText(text).width;
  const rows = laidOut(legend, room, measured);
  const [title, ...rest] = heads;
  const lines = [title, ...rest.flatMap((text) => broken(text, room, measured))];
  measure.restore();
  const above = EDGE + lines.length * LINE + 6;
  const canvas = document.createElement("canvas");
  canvas.width = map.width;
  canvas.height = Math.round(map.height + (above + rows.length * LINE + EDGE) * scale);
  const context = canvas.getContext("2d");
  context.fillStyle = colours.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(map, 0, Math.round(above * scale));
  context.scale(scale, scale);
  context.textBaseline = "middle";
  lines.forEach((text, i) => {
    context.font = i ? `12px ${FONT}` : `600 15px ${FONT}`;
    context.fillStyle = i ? colours.soft : colours.ink;
    context.fillText(text, EDGE, EDGE + (i + 0.5) * LINE, room);
  });
  context.font = `12px ${FONT}`;
  rows.forEach((row, i) => {
    const y = above + map.height / scale + (i + 0.5) * LINE;
    for (const { x, mark, text } of row) {
      drawMark(context, mark, EDGE + x, y, colours);
      context.fillStyle = colours.soft;
      context.fillText(text, EDGE + x + 20, y);
    }
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Breaks the line between its parts if it is too long.
function broken(text, room, measured) {
  const lines = [];
  for (const part of text.split(PART)) {
    const longer = lines.length ? lines.at(-1) + PART + part : part;
    if (lines.length && measured(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

function laidOut(legend, room, measured) {
  const rows = [[]];
  let x = 0;
  for (const [mark, text] of legend) {
    const width = 36 + measured(text);
    if (x && x + width > room) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1).push({ x, mark, text });
    x += width;
  }
  return rows;
}

function drawMark(context, mark, x, y, colours) {
  const kind = /^k([0-9]+)$/.exec(mark);
  if (kind) {
    context.fillStyle = colours.kinds[Number(kind[1])];
    context.fillRect(x, y - 5, 14, 10);
    return;
  }
  if (mark === "used") {
    context.globalAlpha = 0.4;
    context.fillStyle = colours.ink;
    context.fillRect(x, y - 5, 14, 10);
    context.globalAlpha = 1;
  }
  const line = /^line (live|bound|end|moved|wrong)$/.exec(mark);
  if (!line) return;
  context.strokeStyle = colours[line[1]];
  context.lineWidth = 2;
  context.setLineDash({ live: [], moved: [], wrong: [], bound: [5, 3], end: [2, 2] }[line[1]]);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 14, y);
  context.stroke();
  context.setLineDash([]);
}
