// What a reader of this page, at this width, does not get to see: a list of sentences.
() => {
  const found = [], wide = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + (typeof e.className === "string" && e.className ? "." + e.className.trim().split(/\s+/)[0] : "");
  const say = (what, e) => found.push(`${what}: ${name(e)} “${(e.textContent || e.alt || "").trim().replace(/\s+/g, " ").slice(0, 50)}”`);
  const clips = (e) => !e || e.matches(".bd-article, body") ? null : getComputedStyle(e).overflowX !== "visible" ? e : clips(e.parentElement);
  if (document.documentElement.scrollWidth > wide + 1) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  if (wide > 1000 && document.querySelector(".bd-header")?.offsetHeight > 80) found.push("the navigation bar has two rows");
  for (const e of document.querySelectorAll(document.querySelector(".bd-article") ? ".bd-article *, .prev-next-area *, .bd-header__inner *" : "body *")) {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!box.width || !box.height || style.visibility === "hidden" || e.closest("svg *, .visually-hidden, [aria-hidden]")) continue;
    if (e.matches("math, mjx-math")) { // what is seen of a formula
      const clip = clips(e.parentElement), right = Math.max(...[...e.getClientRects()].map((r) => r.right));
      const edge = clip ? clip.getBoundingClientRect().right : wide;
      if (right > edge + 2 && !(clip && clip.dataset.more)) say("formula cut", e);
    }
    if (e.dataset.more && e.scrollWidth <= e.clientWidth + 2) say("fades, but all is there", e);
    if (wide < 640 && location.pathname.includes("/gallery/") && e.matches(".figure-scroll") && e.scrollWidth > e.clientWidth + 2) say("a figure wider than the phone", e.firstChild);
    if (e.closest("math *, mjx-container *, span.math")) continue;
    if (box.right > wide + 1 && !clips(e.parentElement)) say("sticks out of the page", e);
    if (e.scrollWidth <= e.clientWidth + 2 || !e.clientWidth || e.matches("select, input")) continue;
    if (["hidden", "clip"].includes(style.overflowX)) say("cut", e);
    if (["auto", "scroll"].includes(style.overflowX) && !e.dataset.more) say("scrolls without a cue", e);
  }
  return found;
}
