// Shows the token of the address, which no request has had, once; the cookie is all that stays.
const token = location.hash.slice(1);
const here = location.pathname + location.search;
if (/^[\w-]{22,}$/.test(token)) {
  history.replaceState(null, "", here);
  const answer = await fetch("/enter", { method: "POST", body: new URLSearchParams({ secret: token }) });
  if (answer.ok) {
    location.replace(here);
  } else {
    document.getElementById("problem").textContent =
      "That token is not valid, or it was used already: a token opens one browser.";
  }
} else if ((await fetch("/api/openapi.json")).ok) {
  // A link on another page led here, without the cookie; from this page it is sent.
  location.replace(here + location.hash);
}
