// Elements by script: text only ever becomes text, and no style attribute is written (the page's policy forbids it).

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; an attribute that is a function is a listener, null leaves it out. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  fill(element, ...children);
  return element;
}

/** The element with an id; a missing one is a mistake of the page. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element '${id}'`);
  return found;
}

export function show(element, visible = true) {
  element.hidden = !visible;
}

/** Hides the elements with these ids. */
export function hide(...ids) {
  ids.forEach((id) => show(byId(id), false));
}

/** Puts new children in the place of the old ones. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
}

/** Puts names and their values, a pair each, into a list of facts. */
export function fillFacts(list, facts) {
  fill(
    list,
    facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** Lets the skip link move the focus only: what stands behind the # is the page's own. */
export function guardSkipLink() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
}

/** Offers a text as a file. */
export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
