"""The style of an exported page: dark and light, on paper, on a phone."""

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#1c1e21;--dim:#5c6370;--line:#d9dce1;--box:#f5f6f8;--user:#e8f0fe;
--link:#0b57d0;--failed:#b3261e;--add:#e2f5e5;--del:#fbe4e2}
@media (prefers-color-scheme:dark){:root{--ground:#15171a;--text:#e4e6ea;--dim:#9aa1ad;--line:#353a42;--box:#1e2126;
--user:#1d2b45;--link:#8ab4f8;--failed:#ff8a80;--add:#17371f;--del:#47201e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:54rem;padding:1rem;background:var(--ground);color:var(--text);
font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.25rem}
article h1,article h2,article h3,article h4{font-size:1.05rem;margin:.8em 0 .3em}
a{color:var(--link)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:0;font-size:.875rem}
dt{color:var(--dim)}dd{margin:0}
pre,code{font:.84rem/1.45 ui-monospace,Menlo,Consolas,monospace}
pre{margin:.4rem 0;padding:.6rem;background:var(--box);border-radius:6px;white-space:pre-wrap;tab-size:4}
code{background:var(--box);border-radius:4px;padding:.1em .25em}
article{margin:1rem 0;padding:.1rem .9rem;border-left:3px solid var(--line)}
article.user{background:var(--user);border-color:var(--link);border-radius:0 6px 6px 0}
.who{margin:.4rem 0;font-size:.8rem;color:var(--dim)}.who b{color:var(--text)}.who a{color:inherit;text-decoration:none}
details{margin:.25rem 0;border:1px solid var(--line);border-radius:6px;padding:.2rem .6rem;font-size:.9rem}
summary{cursor:pointer}summary code{background:none;padding:0}summary a,summary small{color:var(--dim)}
.failed{border-color:var(--failed)}.failed>summary b,.who em{color:var(--failed);font-style:normal}
.abandoned{opacity:.65}
ins,del{display:block;text-decoration:none}ins{background:var(--add)}del{background:var(--del)}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid var(--line);color:var(--dim)}
.wide{overflow-x:auto}table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.2rem .5rem}
.sub{margin:.3rem 0 .3rem 1rem}section{margin-top:2rem;border-top:2px solid var(--line)}
:target{outline:2px solid var(--link);outline-offset:3px}
@media (max-width:34rem){body{padding:.6rem}article{padding:.1rem .5rem}dl{grid-template-columns:1fr}}
@media print{body{max-width:none}}
""".strip()
