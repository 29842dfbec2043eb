// Files for people to keep.

export function save(data, title, ending) {
  const address = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName(title, ending);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Letters and digits of any problem's name; it cannot lead to another folder or disguise the kind of file.
function fileName(title, ending) {
  const plain = title.normalize("NFKD").replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 60);
  return `${plain || "memplan"}.${ending}`;
}
